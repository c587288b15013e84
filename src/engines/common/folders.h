// Folders that the environment names, and where an engine may be installed.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace horngate::engines {

namespace fs = std::filesystem;

inline std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// $HORNGATE_HOME, or .horngate in the user's home; empty if there is neither.
inline fs::path horngate_home() {
  if (const std::string set = environment("HORNGATE_HOME"); !set.empty()) return set;
  if (const std::string user = environment("HOME"); !user.empty())
    return fs::path(user) / ".horngate";
  return {};
}

/// The folders that a variable lists, separated by colons.
inline std::vector<fs::path> listed_folders(const char* variable) {
  std::vector<fs::path> out;
  const std::string list = environment(variable);
  for (std::string_view rest = list; !rest.empty();) {
    const size_t colon = rest.find(':');
    if (const auto one = rest.substr(0, colon); !one.empty()) out.emplace_back(one);
    rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
  }
  return out;
}

/// Package folders of the running Python, passed on by the Python module.
inline std::vector<fs::path> python_folders() { return listed_folders("HORNGATE_PYTHON_PATHS"); }

/// In order of preference: the folder that `variable` names (then nothing else counts), the engine's folder
/// under Horngate's home, and those of the running Python.
inline std::vector<fs::path> engine_folders(const char* variable, const char* name) {
  if (const std::string set = environment(variable); !set.empty()) return {set};
  std::vector<fs::path> out;
  if (const fs::path home = horngate_home(); !home.empty()) out.push_back(home / "engines" / name);
  for (const fs::path& p : python_folders()) out.push_back(p);
  return out;
}

}  // namespace horngate::engines
