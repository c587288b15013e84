#include "files/encoder.h"

namespace horngate::files {

Encoder& Encoder::uint(uint64_t value, size_t width) {
  for (size_t i = 0; i < width; ++i) out_.push_back(static_cast<std::byte>(value >> 8 * i & 0xFF));
  return *this;
}

Encoder& Encoder::bytes(Bytes bytes) {
  out_.insert(out_.end(), bytes.begin(), bytes.end());
  return *this;
}

Encoder& Encoder::zeros(size_t n) {
  out_.resize(out_.size() + n);
  return *this;
}

}  // namespace horngate::files
