// What the library says by itself. Lines go to set_log_handler's handler if there is one. Otherwise warnings go to the
// binding's (for Python's warnings module) if there is one, all else to standard error.
#pragma once

#include <functional>
#include <string>

#include "horngate/log.h"

namespace horngate {

void warn(const std::string& text);
/// Shows warnings that a binding has postponed; may throw, so call it while the call can still fail.
void tell_warnings();
/// A line for people, which standard error gets as it is.
void inform(const std::string& line);
void set_warning_handler(std::function<void(const std::string&)> handler, void (*tell)() = nullptr);

}  // namespace horngate
