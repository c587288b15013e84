// Warnings go to whoever registered for them (Python's warnings module), otherwise nowhere: the library is
// silent.
#pragma once

#include <functional>
#include <string>

namespace horngate {

void warn(const std::string& text);
void set_warning_handler(std::function<void(const std::string&)> handler);

}  // namespace horngate
