// Settings from the environment, HORNGATE_*: read the same way everywhere, and never misunderstood in silence.
#pragma once

#include <cstdint>
#include <string_view>

namespace horngate {

/// Empty when it is not set.
std::string_view environment_text(const char* name);

/// "1" or "0"; `otherwise` when it is empty or not set. ValueError for anything else.
bool environment_flag(const char* name, bool otherwise = false);

/// A whole number from 1 to `most`; 0 when it is empty or not set. ValueError for anything else.
int64_t environment_count(const char* name, int64_t most = INT64_MAX);

inline constexpr int64_t kMostThreads = 1024;

/// Looks at all that the library reads later, where an error would come too late. For the first plan.
void check_environment();

}  // namespace horngate
