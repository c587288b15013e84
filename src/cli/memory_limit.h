// How much memory the control groups of this process grant.
#pragma once

#include <cstdint>
#include <string>

namespace horngate::cli {

/// Bytes, the smallest of the process's group and of all above it, cgroup version 1 and 2; 0: no limit. `root` is
/// where /proc and /sys are, for tests.
uint64_t memory_limit(const std::string& root = "");

}  // namespace horngate::cli
