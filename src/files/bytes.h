// Bytes of files that strangers wrote: every access is checked, every error names file and byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "horngate/error.h"

namespace horngate::files {

using Bytes = std::span<const std::byte>;

/// Sizes from files: no value where the result would not fit.
[[nodiscard]] inline std::optional<uint64_t> checked_add(uint64_t a, uint64_t b) {
  uint64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}
[[nodiscard]] inline std::optional<uint64_t> checked_mul(uint64_t a, uint64_t b) {
  uint64_t product;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}
/// Bytes of an array, at most 2^63 - 1. Zeros do not excuse dimensions that overflow without them:
/// whoever multiplies in another order would be in trouble.
template <class Dims>
[[nodiscard]] std::optional<uint64_t> checked_bytes(const Dims& dims, uint64_t item) {
  uint64_t bytes = item;
  bool empty = false;
  for (const auto dim : dims) {
    if (dim < 0) return std::nullopt;
    empty |= dim == 0;
    if (dim == 0) continue;
    const auto product = checked_mul(bytes, static_cast<uint64_t>(dim));
    if (!product || *product > static_cast<uint64_t>(INT64_MAX)) return std::nullopt;
    bytes = *product;
  }
  return empty ? 0 : bytes;
}

/// Text of a file as errors show it: short, and no control characters reach a terminal.
[[nodiscard]] std::string shown(std::string_view text);
[[nodiscard]] bool is_utf8(std::string_view text);

template <class... Parts>
[[nodiscard]] std::string join(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

/// A file, or bytes in memory. Files are read, not mapped: if another program makes the file shorter
/// meanwhile, that is an error here and a dead process there.
class Source {
 public:
  [[nodiscard]] static std::shared_ptr<const Source> open(const std::string& path);
  [[nodiscard]] static std::shared_ptr<const Source> memory(std::string name, Bytes bytes);
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  ~Source();

  const std::string& name() const { return name_; }
  uint64_t size() const { return size_; }
  /// Copies [place, place + into.size()); `what` stands there, for the error if the file is too short.
  void read(uint64_t place, std::span<std::byte> into, std::string_view what) const;
  [[nodiscard]] std::vector<std::byte> read(uint64_t place, uint64_t size,
                                            std::string_view what) const;
  /// An error unless [place, place + size) lies in the file.
  void check_extent(uint64_t place, uint64_t size, std::string_view what) const;

  /// The file breaks the rules of its format: "net.h5: at byte 2048: ..."
  template <class... Parts>
  [[noreturn]] void malformed(uint64_t place, const Parts&... parts) const {
    throw ValueError(join(name_, ": at byte ", place, ": ", parts...));
  }
  /// The file is in order, but has what we do not read.
  template <class... Parts>
  [[noreturn]] void unsupported(uint64_t place, const Parts&... parts) const {
    throw NotImplementedError(join(name_, ": at byte ", place, ": ", parts...));
  }

 private:
  Source(std::string name, int fd, Bytes bytes, uint64_t size)
      : name_(std::move(name)), fd_(fd), bytes_(bytes), size_(size) {}

  std::string name_;
  int fd_ = -1;  // -1: memory
  Bytes bytes_;
  uint64_t size_ = 0;
};

/// Reads one value after the other from a piece of a source; little endian.
class Cursor {
 public:
  /// `bytes` were read from `place`; both they and the source outlive the cursor.
  Cursor(const Source& source, Bytes bytes, uint64_t place, std::string_view what)
      : source_(&source), bytes_(bytes), place_(place), what_(what) {}

  const Source& source() const { return *source_; }
  uint64_t place() const { return place_ + at_; }
  size_t left() const { return bytes_.size() - at_; }

  uint8_t u8() { return static_cast<uint8_t>(uint(1)); }
  uint16_t u16() { return static_cast<uint16_t>(uint(2)); }
  uint32_t u32() { return static_cast<uint32_t>(uint(4)); }
  uint64_t u64() { return uint(8); }
  /// A number of `width` bytes, up to 8.
  uint64_t uint(size_t width);
  Bytes bytes(uint64_t n);
  void skip(uint64_t n) { (void)bytes(n); }
  /// A cursor over the next n bytes, which this one passes.
  Cursor part(uint64_t n, std::string_view what);
  /// The next bytes must be these.
  void expect(std::string_view signature);
  /// Up to a zero byte, which is passed too.
  std::string_view text();

  template <class... Parts>
  [[noreturn]] void malformed(const Parts&... parts) const {
    source_->malformed(place(), parts...);
  }

 private:
  const Source* source_;
  Bytes bytes_;
  uint64_t place_;
  size_t at_ = 0;
  std::string_view what_;
};

[[nodiscard]] inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
[[nodiscard]] inline Bytes as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace horngate::files
