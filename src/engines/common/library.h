// For plug-ins: finding an engine's shared library in its folders and loading it, with errors that say what is
// wrong.
#pragma once

#include <dlfcn.h>

#include "elf_check.h"
#include "folders.h"

namespace horngate::engines {

/// The first file whose name begins with `prefix` in a folder (or in one of its `subfolders`); if there are several
/// versions, the last by name. Empty if there is none.
inline fs::path find_library(const std::vector<fs::path>& folders,
                             const std::vector<std::string>& subfolders, std::string_view prefix) {
  for (const fs::path& folder : folders)
    for (const std::string& sub : subfolders) {
      std::vector<fs::path> found;
      std::error_code error;
      for (const auto& e : fs::directory_iterator(folder / sub, error))
        if (e.path().filename().string().rfind(prefix, 0) == 0) found.push_back(e.path());
      if (!found.empty()) return *std::max_element(found.begin(), found.end());
    }
  return {};
}

/// Why a file is not a complete 64-bit shared library; empty if it is one.
inline std::string fault_of_library(const fs::path& path) {
  return measure_library(path.string()).fault;
}

/// Opens it; null and an error text on failure.
inline void* open_library(const fs::path& path, int flags, std::string& why) {
  if (const std::string fault = fault_of_library(path); !fault.empty()) {
    why = path.string() + " " + fault + ". Install it again.";
    return nullptr;
  }
  void* library = dlopen(path.c_str(), flags);
  if (!library) {
    const char* text = dlerror();
    why = "the library could not be loaded: " + std::string(text ? text : path.c_str()) + ".";
  }
  return library;
}

}  // namespace horngate::engines
