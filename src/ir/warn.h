// What the library says by itself: to the handler of set_log_handler; warnings otherwise to that of a binding (Python's
// warnings module); else to standard error.
#pragma once

#include <functional>
#include <string>

#include "horngate/log.h"

namespace horngate {

void warn(const std::string& text);
/// For calls, where they can still fail: a binding that puts warnings off tells them now, and may throw.
void tell_warnings();
/// A line for people, which standard error gets as it is.
void inform(const std::string& line);
void set_warning_handler(std::function<void(const std::string&)> handler, void (*tell)() = nullptr);

}  // namespace horngate
