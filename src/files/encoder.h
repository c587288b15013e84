// Bytes of files that we write.
#pragma once

#include <string_view>
#include <vector>

#include "files/bytes.h"

namespace horngate::files {

/// Bytes that grow; little endian.
class Encoder {
 public:
  Encoder& uint(uint64_t value, size_t width);
  Encoder& u8(uint64_t value) { return uint(value, 1); }
  Encoder& u16(uint64_t value) { return uint(value, 2); }
  Encoder& u32(uint64_t value) { return uint(value, 4); }
  Encoder& u64(uint64_t value) { return uint(value, 8); }
  Encoder& bytes(Bytes bytes);
  Encoder& text(std::string_view text) { return bytes(as_bytes(text)); }
  Encoder& zeros(size_t n);
  /// Zeros up to a multiple of 8.
  Encoder& pad() { return zeros((8 - out_.size() % 8) % 8); }
  size_t size() const { return out_.size(); }
  std::vector<std::byte> take() { return std::move(out_); }
  const std::vector<std::byte>& out() const { return out_; }

 private:
  std::vector<std::byte> out_;
};

}  // namespace horngate::files
