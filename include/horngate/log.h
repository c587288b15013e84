// What the library has to say besides results and errors.
#pragma once

#include <functional>
#include <string>

#include "horngate/export.h"

namespace horngate {

enum class LogLevel { info, warning };

using LogHandler = std::function<void(LogLevel level, const std::string& text)>;

/// Receives every line that the library would write by itself: warnings and, as info, which engine is used. Without a
/// handler both go to standard error; with set_quiet(true) or HORNGATE_QUIET=1, the latter does not. It is called on
/// the thread that called the library, while locks of variables may be held: it may wait only for what no caller of the
/// library holds. An empty handler brings standard error back.
/// Example: K::set_log_handler([](K::LogLevel, const std::string& text) { syslog(LOG_INFO, "%s", text.c_str()); });
HORNGATE_API void set_log_handler(LogHandler handler);

}  // namespace horngate
