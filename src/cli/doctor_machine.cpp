// What doctor finds out about the machine: CPU, threads, memory.
#include <horngate/cpus.h>
#include <horngate/error.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "doctor.h"
#include "memory_limit.h"

namespace horngate::cli {
namespace {

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (const size_t colon = line.find(": ");
        line.rfind("model name", 0) == 0 && colon != std::string::npos)
      return line.substr(colon + 2);
  return "unknown CPU";
}

void look_at_cpu(Findings& findings) {
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool sse4 = __builtin_cpu_supports("sse4.2");
  const char* best = avx512 ? "AVX-512" : avx2 ? "AVX2" : sse4 ? "SSE4" : "SSE2 only";
  findings.push_back({State::ok, "cpu", cpu_model() + ", " + best});
  if (!avx2)
    findings.back() = {State::note, "cpu",
                       findings.back().text + ": several times slower than with AVX2",
                       "In a virtual machine, ask for the CPU of the host (QEMU: -cpu host)."};
  if (const char* set = std::getenv("HORNGATE_SIMD"); set && *set)
    findings.push_back({State::note, "instructions",
                        std::string("HORNGATE_SIMD=") + set + " limits the instructions used",
                        "Unset it unless you want that."});
}

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

void look_at_threads(Findings& findings) {
  try {
    const CpuLimits c = cpu_limits();
    const char* set = std::getenv("HORNGATE_NUM_THREADS");
    const bool is_set = set && *set;
    std::string text = std::to_string(c.threads) + ": " + std::to_string(c.allowed) +
                       (c.allowed == 1 ? " CPU" : " CPUs") + " may be used";
    if (c.quota > 0) text += ", the control group grants " + short_number(c.quota);
    if (is_set) text += "; HORNGATE_NUM_THREADS is set";
    const bool too_many = c.threads > c.allowed || (c.quota > 0 && c.threads > c.quota + 1);
    if (too_many)
      findings.push_back({State::note, "threads", text,
                          "With more threads than CPUs, threads wait for each other: unset "
                          "HORNGATE_NUM_THREADS."});
    else
      findings.push_back({State::ok, "threads", text});
  } catch (const Error& e) {
    findings.push_back({State::wrong, "threads", e.what(), "Unset it, or set it to a number."});
    unsetenv("HORNGATE_NUM_THREADS");  // to look at the rest
  }
}

void look_at_memory(Findings& findings) {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t installed = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * page;
  const uint64_t granted = memory_limit();
  rlimit space{};
  getrlimit(RLIMIT_AS, &space);
  const auto gib = [](uint64_t bytes) {
    return short_number(static_cast<double>(bytes) / (1 << 30)) + " GiB";
  };
  uint64_t least = installed;
  std::string text = gib(installed);
  if (granted > 0 && granted < installed) {
    least = granted;
    text += ", the control group grants " + gib(granted);
  }
  if (space.rlim_cur != RLIM_INFINITY) {
    least = std::min<uint64_t>(least, space.rlim_cur);
    text += ", the address space is limited to " + gib(space.rlim_cur) + " (ulimit -v)";
  }
  if (least < (uint64_t{1} << 30))
    findings.push_back(
        {State::note, "memory", text, "Plans keep up to 1 GiB: set HORNGATE_PLAN_BYTES to less."});
  else
    findings.push_back({State::ok, "memory", text});
}

}  // namespace

void look_at_machine(Findings& findings) {
  look_at_cpu(findings);
  look_at_threads(findings);
  look_at_memory(findings);
}

}  // namespace horngate::cli
