// Limits of memory. As with quotas of CPUs (src/ir/cpus.cpp) a process is in one group of each hierarchy, and the limit of
// every group above it counts too.
#include "memory_limit.h"

#include <fstream>
#include <sstream>
#include <vector>

namespace horngate::cli {
namespace {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) parts.push_back(part);
  return parts;
}

bool has_memory(const std::string& controllers) {
  for (const std::string& name : split(controllers, ','))
    if (name == "memory") return true;
  return false;
}

/// mountinfo writes spaces and the like as \040.
std::string unescaped(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_code = text[i] == '\\' && i + 3 < text.size() &&
                         text.find_first_not_of("01234567", i + 1) >= i + 4;
    out += is_code ? static_cast<char>(std::stoi(text.substr(i + 1, 3), nullptr, 8)) : text[i];
    if (is_code) i += 3;
  }
  return out;
}

/// The process's group in a hierarchy, "" if it is in none.
std::string own_group(const std::string& root, bool is_v2) {
  std::ifstream file(root + "/proc/self/cgroup");
  // 4:memory:/path, and for version 2 0::/path
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (is_v2 ? controllers.empty() : has_memory(controllers)) return line.substr(second + 1);
  }
  return "";
}

/// The smallest limit of a group and those above it, 0 without one; `top` is the group that is seen at `point`.
uint64_t least_limit(const std::string& point, const std::string& top, std::string group,
                     const char* name) {
  // In a container the mount may show only the group of the container, by its path outside.
  if (top != "/" && (group + "/").rfind(top + "/", 0) == 0) group.erase(0, top.size());
  while (!group.empty() && group.back() == '/') group.pop_back();
  uint64_t least = 0;
  while (true) {
    std::ifstream file(point + group + "/" + name);
    if (uint64_t bytes = 0; file >> bytes && bytes > 0 && (least == 0 || bytes < least))
      least = bytes;  // "max" is no number
    if (group.empty()) return least;
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
}

}  // namespace

uint64_t memory_limit(const std::string& root) {
  uint64_t least = 0;
  std::ifstream file(root + "/proc/self/mountinfo");
  // 36 35 98:0 /top /point options [more ..] - type source options-of-the-file-system
  for (std::string line; std::getline(file, line);) {
    const size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    const std::vector<std::string> before = split(line.substr(0, dash), ' '),
                                   after = split(line.substr(dash + 3), ' ');
    if (before.size() < 5 || after.empty()) continue;
    const bool is_v2 = after[0] == "cgroup2";
    if (!is_v2 && (after[0] != "cgroup" || after.size() < 3 || !has_memory(after[2]))) continue;
    const uint64_t found =
        least_limit(root + unescaped(before[4]), unescaped(before[3]), own_group(root, is_v2),
                    is_v2 ? "memory.max" : "memory.limit_in_bytes");
    if (found > 0 && (least == 0 || found < least)) least = found;
  }
  return least;
}

}  // namespace horngate::cli
