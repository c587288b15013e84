// The folder of the file this code is part of: a plug-in, the library, or a program with the library inside.
#pragma once

#include <dlfcn.h>

#include <filesystem>

namespace horngate::engines {
namespace {

/// Empty if unknown. Each file needs its own copy, hence the unnamed namespace.
[[maybe_unused]] std::filesystem::path own_folder() {
  static const char anchor = 0;
  Dl_info info;
  if (!dladdr(&anchor, &info) || !info.dli_fname) return {};
  std::error_code ignored;
  return std::filesystem::weakly_canonical(info.dli_fname, ignored).parent_path();
}

}  // namespace
}  // namespace horngate::engines
