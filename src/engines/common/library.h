// For plug-ins: finding an engine's shared library and loading it, with texts that say what is wrong.
#pragma once

#include <dlfcn.h>
#include <elf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace horngate::engines {

namespace fs = std::filesystem;

inline std::vector<fs::path> split_paths(const char* list) {
  std::vector<fs::path> out;
  std::string_view rest = list ? list : "";
  while (!rest.empty()) {
    const size_t colon = rest.find(':');
    if (const auto one = rest.substr(0, colon); !one.empty()) out.emplace_back(one);
    rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
  }
  return out;
}

/// Where an engine may be, first choice first: the folder that `variable` names (nothing else then counts), the
/// engine's folder under $HORNGATE_HOME, and the folders of the running Python (HORNGATE_PYTHON_PATHS).
inline std::vector<fs::path> engine_folders(const char* variable, const char* name) {
  if (const char* set = std::getenv(variable); set && *set) return {set};
  std::vector<fs::path> out;
  if (const char* home = std::getenv("HORNGATE_HOME"); home && *home)
    out.push_back(fs::path(home) / "engines" / name);
  else if (const char* user = std::getenv("HOME"); user && *user)
    out.push_back(fs::path(user) / ".horngate" / "engines" / name);
  for (const fs::path& p : split_paths(std::getenv("HORNGATE_PYTHON_PATHS"))) out.push_back(p);
  return out;
}

/// The first file whose name begins with `prefix` in a folder (or in one of its `subfolders`); the last by name
/// where there are several versions. Empty when there is none.
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

/// Why a file is no whole 64-bit shared library; empty when it is one. A cut file would only be noticed by a
/// crash when its missing pages are touched.
inline std::string fault_of_library(const fs::path& path) {
  std::error_code error;
  const uintmax_t size = fs::file_size(path, error);
  if (error) return "cannot be read: " + error.message();
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr head{};
  file.read(reinterpret_cast<char*>(&head), sizeof head);
  if (!file || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
      head.e_ident[EI_CLASS] != ELFCLASS64)
    return "is not a 64-bit shared library";
  uintmax_t end = head.e_shoff + uintmax_t{head.e_shnum} * head.e_shentsize;
  for (int i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr part{};
    file.seekg(static_cast<std::streamoff>(head.e_phoff + uintmax_t(i) * head.e_phentsize));
    file.read(reinterpret_cast<char*>(&part), sizeof part);
    if (!file) return "is cut off";
    if (part.p_type == PT_LOAD) end = std::max<uintmax_t>(end, part.p_offset + part.p_filesz);
  }
  return end > size ? "is cut off: it has " + std::to_string(size) + " of at least " +
                          std::to_string(end) + " bytes"
                    : "";
}

/// Opens it; NULL and a text when that fails.
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
