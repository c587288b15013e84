// Where the Theano engine's own Python is: a virtual environment with the pinned versions.
#include "find.h"

#include <system_error>

#include "../common/folders.h"
#include "../common/own_folder.h"

namespace horngate::theano {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAdvice =
    " Run `horngate engines install theano`, or set HORNGATE_THEANO to the folder of a virtual "
    "environment with "
    "Theano 1.0.5.";

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

/// Folders that may be a virtual environment. The variable, if set, rules out all others.
std::vector<fs::path> environments() {
  std::vector<fs::path> out;
  const auto add = [&](const fs::path& folder) {
    out.push_back(folder);
    out.push_back(folder / "venv");
  };
  if (const std::string set = engines::environment("HORNGATE_THEANO"); !set.empty()) {
    add(set);
    return out;
  }
  if (const fs::path home = engines::horngate_home(); !home.empty())
    add(home / "engines" / "theano");
  for (const fs::path& site : engines::python_folders())
    if (is_there(site / "theano" / "__init__.py"))
      out.push_back(site.parent_path().parent_path().parent_path());
  return out;
}

std::vector<fs::path> entries(const fs::path& folder, std::string_view prefix) {
  std::vector<fs::path> out;
  std::error_code error;
  for (const auto& e : fs::directory_iterator(folder, error))
    if (e.path().filename().string().rfind(prefix, 0) == 0) out.push_back(e.path());
  return out;
}

/// Why the environment cannot be used; empty if it can.
std::string fault_of(const fs::path& environment) {
  for (const fs::path& python : entries(environment / "lib", "python3")) {
    const fs::path site = python / "site-packages";
    for (const fs::path& info : entries(site, "Theano-")) {
      const std::string name = info.filename().string();
      const std::string version = name.substr(7, name.find(".dist-info") - 7);
      if (version != kVersion)
        return environment.string() + " has Theano " + version + "; this engine drives Theano " +
               kVersion + "." + kAdvice;
      if (!is_there(site / "theano" / "__init__.py") || !is_there(site / "numpy" / "__init__.py"))
        return "the installation in " + environment.string() + " is incomplete." + kAdvice;
      return "";
    }
  }
  return environment.string() + " has a Python but no Theano." + kAdvice;
}

}  // namespace

std::string find_installation(Installation& found) {
  found.worker = engines::own_folder() / "theano_worker" / "worker.py";
  if (!is_there(found.worker))
    return found.worker.string() + " is missing: it belongs to the plug-in.";
  found.cache = engines::environment("HORNGATE_THEANO_CACHE");
  const fs::path home = engines::horngate_home();
  if (found.cache.empty() && !home.empty()) found.cache = home / "cache" / "theano";
  for (const fs::path& environment : environments()) {
    const fs::path python = environment / "bin" / "python3";
    if (!is_there(python)) continue;
    found.python = python;
    return fault_of(environment);
  }
  const std::string set = engines::environment("HORNGATE_THEANO");
  return "Theano is not installed" +
         (set.empty() ? std::string(".") : ": there is no bin/python3 in " + set + ".") + kAdvice;
}

}  // namespace horngate::theano
