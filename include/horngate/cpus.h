// The CPUs of this process, and how many threads it uses by default.
#pragma once

#include "horngate/export.h"

namespace horngate {

struct CpuLimits {
  int allowed = 1;   // CPUs that the process may run on (affinity)
  double quota = 0;  // CPUs that its control groups grant it (cgroup version 1 and 2); 0: no limit
  int threads = 1;   // what functions use: HORNGATE_NUM_THREADS, or else what both of these allow
};

/// What limits the threads of this process.
/// Example: const int threads = K::cpu_limits().threads;
[[nodiscard]] HORNGATE_API CpuLimits cpu_limits();

}  // namespace horngate
