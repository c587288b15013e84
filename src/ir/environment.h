// Settings from the environment, HORNGATE_*: read the same way everywhere, and never silently misread.
#pragma once

#include <cstdint>
#include <string_view>

namespace horngate {

/// Empty when the variable is not set.
std::string_view environment_text(const char* name);

/// "1" or "0"; `otherwise` when it is empty or not set. ValueError for anything else.
bool environment_flag(const char* name, bool otherwise = false);

/// A whole number from 1 to `most`; 0 when it is empty or not set. ValueError for anything else.
int64_t environment_count(const char* name, int64_t most = INT64_MAX);

inline constexpr int64_t kMostThreads = 1024;

/// Checks, for the first plan, every variable that the library reads later, when it would be too late for an
/// error.
void check_environment();

}  // namespace horngate
