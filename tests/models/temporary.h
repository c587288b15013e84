// Files of tests.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

namespace horngate::testing {

/// A file that is gone afterwards.
struct Temporary {
  explicit Temporary(const char* name)
      : path(
            (std::filesystem::temp_directory_path() / (std::to_string(getpid()) + name)).string()) {
  }
  ~Temporary() { std::filesystem::remove(path); }
  std::string path;
};

}  // namespace horngate::testing
