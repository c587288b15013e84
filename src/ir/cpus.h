// How many CPUs this process may use: its affinity, and the quotas of its control groups.
#pragma once

#include <string>

namespace horngate {

/// The smallest CPU quota of the process's control groups (version 1 and 2), in CPUs; 0 without one. Files are
/// looked for below `root`: for tests.
double cpu_quota(const std::string& root = "");

/// CPUs that the process may run on.
int allowed_cpus();

/// Threads that keep that many CPUs busy: the allowed ones, or fewer if a quota gives less. At least 1.
int usable_cpus(int allowed, double quota);

/// HORNGATE_NUM_THREADS, or else usable_cpus of what the process has now.
int default_threads();

}  // namespace horngate
