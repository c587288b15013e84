// Whether a CPU is idle: then a process may poll for a message instead of sleeping until it comes.
#include "spare_cpu.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cstdio>

namespace horngate::theano {

SpareCpu::SpareCpu() : file_(open("/proc/loadavg", O_RDONLY | O_CLOEXEC)) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) cpus_ = CPU_COUNT(&set);
}

SpareCpu::~SpareCpu() {
  if (file_ >= 0) close(file_);
}

/// Threads that are running or waiting for a CPU right now, including this one; -1 if unknown.
int SpareCpu::running() const {
  char text[128];
  const ssize_t n = file_ >= 0 ? pread(file_, text, sizeof text - 1, 0) : 0;
  text[n > 0 ? n : 0] = 0;
  int count = -1;
  return std::sscanf(text, "%*s %*s %*s %d/", &count) == 1 ? count : -1;
}

bool SpareCpu::is_there() {
  if (cpus_ < 2) return false;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return answer_;
  next_ = now + std::chrono::milliseconds(10);
  const int count = running();
  // After a yes the worker may be polling too.
  answer_ = count > 0 && count <= (answer_ ? cpus_ : cpus_ - 1);
  return answer_;
}

}  // namespace horngate::theano
