// Files to damage, and what reading them says.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "error_of.h"
#include "read_all.h"
#include "sanitizers.h"

namespace horngate::files {

using Contents = std::vector<std::byte>;

inline Contents read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const Bytes bytes = as_bytes(text);
  return Contents(bytes.begin(), bytes.end());
}

inline Contents corpus(const std::string& name) {
  return read_file(HORNGATE_TEST_CORPUS "/" + name);
}

inline size_t find(const Contents& file, std::string_view what, size_t number = 0) {
  const std::string_view text = as_text(file);
  size_t at = text.find(what);
  while (number-- > 0 && at != text.npos) at = text.find(what, at + 1);
  EXPECT_NE(at, text.npos) << what;
  return at == text.npos ? 0 : at;
}
inline void put(Contents& file, size_t at, uint64_t value, size_t width) {
  ASSERT_LE(at + width, file.size());
  for (size_t i = 0; i < width; ++i) file[at + i] = static_cast<std::byte>(value >> 8 * i);
}
inline uint64_t get(const Contents& file, size_t at, size_t width = 8) {
  uint64_t value = 0;
  for (size_t i = width; i-- > 0;) value = value << 8 | static_cast<uint64_t>(file[at + i]);
  return value;
}
inline std::string error(const Contents& file) {
  const auto start = std::chrono::steady_clock::now();
  const std::string text = horngate::testing::error_of([&] { read_all("net.h5", file); });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took.count(), testing::kSanitized ? 60 : 10) << text;
  return text;
}

}  // namespace horngate::files
