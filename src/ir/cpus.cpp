// Affinity and quotas. A process is in one group of each hierarchy; the quota of every group above it counts too.
#include "ir/cpus.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "horngate/cpus.h"
#include "ir/environment.h"

namespace horngate {
namespace {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) parts.push_back(part);
  return parts;
}

bool has_cpu(const std::string& list) {
  const std::vector<std::string> names = split(list, ',');
  return std::find(names.begin(), names.end(), "cpu") != names.end();
}

/// mountinfo writes spaces and the like as \040.
std::string unescaped(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_code = text[i] == '\\' && i + 3 < text.size() &&
                         text.find_first_not_of("01234567", i + 1) >= i + 4;
    if (!is_code) {
      out += text[i];
      continue;
    }
    out +=
        static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + text[i + 3] - '0');
    i += 3;
  }
  return out;
}

/// A hierarchy of groups: where it is mounted, and which group is seen at the mount point.
struct Mount {
  std::string point, top;
  bool is_v2;
};

std::vector<Mount> mounts(const std::string& root) {
  std::vector<Mount> found;
  std::ifstream file(root + "/proc/self/mountinfo");
  // 36 35 98:0 /top /point options [more ..] - type source options-of-the-file-system
  for (std::string line; std::getline(file, line);) {
    const size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    const std::vector<std::string> before = split(line.substr(0, dash), ' '),
                                   after = split(line.substr(dash + 3), ' ');
    if (before.size() < 5 || after.empty()) continue;
    const bool is_v2 = after[0] == "cgroup2";
    if (is_v2 || (after[0] == "cgroup" && after.size() > 2 && has_cpu(after[2])))
      found.push_back({unescaped(before[4]), unescaped(before[3]), is_v2});
  }
  return found;
}

/// The process's group in a hierarchy, "" if it is in none.
std::string own_group(const std::string& root, bool is_v2) {
  std::ifstream file(root + "/proc/self/cgroup");
  // 4:cpu,cpuacct:/path, and for version 2 0::/path
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (is_v2 ? controllers.empty() : has_cpu(controllers)) return line.substr(second + 1);
  }
  return "";
}

/// CPUs that a single group may use, 0 without a limit.
double quota_of(const std::string& folder, bool is_v2) {
  double quota = 0, period = 0;
  if (is_v2) {
    std::ifstream file(folder + "/cpu.max");  // "200000 100000", or "max 100000"
    if (!(file >> quota >> period)) return 0;
  } else {
    std::ifstream quota_file(folder + "/cpu.cfs_quota_us"),
        period_file(folder + "/cpu.cfs_period_us");
    if (!(quota_file >> quota) || !(period_file >> period)) return 0;
  }
  return quota > 0 && period > 0 ? quota / period : 0;
}

}  // namespace

double cpu_quota(const std::string& root) {
  double least = 0;
  for (const Mount& m : mounts(root)) {
    std::string group = own_group(root, m.is_v2);
    // In a container the mount may show only the group of the container, by its path outside.
    if (m.top != "/" && (group + "/").rfind(m.top + "/", 0) == 0) group.erase(0, m.top.size());
    while (!group.empty() && group.back() == '/') group.pop_back();
    while (true) {
      const double quota = quota_of(root + m.point + group, m.is_v2);
      if (quota > 0 && (least == 0 || quota < least)) least = quota;
      if (group.empty()) break;
      group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
    }
  }
  return least;
}

int allowed_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

// A part of a CPU is worth a thread: less would leave it idle.
int usable_cpus(int allowed, double quota) {
  if (quota <= 0 || quota >= allowed) return std::max(1, allowed);
  return static_cast<int>(std::ceil(quota));
}

int default_threads() {
  if (const int64_t n = environment_count("HORNGATE_NUM_THREADS", kMostThreads))
    return static_cast<int>(n);
  return usable_cpus(allowed_cpus(), cpu_quota());
}

CpuLimits cpu_limits() { return {allowed_cpus(), cpu_quota(), default_threads()}; }

}  // namespace horngate
