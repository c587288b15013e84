// HDF5: structures as bytes, for the writer.
#pragma once

#include <string_view>
#include <vector>

#include "files/encoder.h"
#include "files/hdf5_header.h"

namespace horngate::files::hdf5 {

[[nodiscard]] constexpr uint64_t padded(uint64_t size) { return (size + 7) / 8 * 8; }

[[nodiscard]] std::vector<std::byte> encode_type(const Type& type);
[[nodiscard]] std::vector<std::byte> encode_space(const Ints& dims);
/// A message of an attribute, without its data's padding.
[[nodiscard]] std::vector<std::byte> encode_attribute(std::string_view name, const Type& type,
                                                      const Ints& dims, Bytes data);

/// A version 1 object header.
class HeaderEncoder {
 public:
  void add(MessageType type, Bytes data, uint8_t flags = 0);
  [[nodiscard]] std::vector<std::byte> take();

 private:
  Encoder messages_;
  size_t count_ = 0;
};

}  // namespace horngate::files::hdf5
