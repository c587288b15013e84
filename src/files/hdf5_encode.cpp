#include "files/hdf5_encode.h"

#include <algorithm>

namespace horngate::files::hdf5 {
namespace {

struct FloatForm {
  int exponent, mantissa;
};

FloatForm form_of(DType dtype) {
  switch (dtype) {
    case DType::float16: return {5, 10};
    case DType::bfloat16: return {8, 7};
    case DType::float32: return {8, 23};
    default: return {11, 52};
  }
}

void put_integer(Encoder& out, uint32_t size, bool is_signed) {
  out.u8(0x10).u8(is_signed ? 8 : 0).zeros(2).u32(size).u16(0).u16(size * 8);
}

void put_number(Encoder& out, DType dtype) {
  const auto size = static_cast<uint32_t>(size_of(dtype));
  if (is_int(dtype)) return put_integer(out, size, is_signed_int(dtype));
  if (dtype == DType::bool_) {  // as h5py does it
    out.u8(0x18).u16(2).u8(0).u32(1);
    put_integer(out, 1, true);
    out.text("FALSE").zeros(3).text("TRUE").zeros(4).u8(0).u8(1);
    return;
  }
  const auto [exponent, mantissa] = form_of(dtype);
  out.u8(0x11).u8(0x20).u8(size * 8 - 1).u8(0).u32(size).u16(0).u16(size * 8);
  out.u8(static_cast<uint64_t>(mantissa)).u8(static_cast<uint64_t>(exponent));
  out.u8(0).u8(static_cast<uint64_t>(mantissa)).u32((1u << (exponent - 1)) - 1);
}

}  // namespace

std::vector<std::byte> encode_type(const Type& type) {
  Encoder out;
  switch (type.kind) {
    case Kind::number: put_number(out, type.dtype); break;
    case Kind::fixed_text:
      out.u8(0x13)
          .u8(static_cast<uint64_t>(type.padding) | (type.utf8 ? 16 : 0))
          .zeros(2)
          .u32(type.size);
      break;
    case Kind::varying_text:
      out.u8(0x19).u8(1).u8(type.utf8 ? 1 : 0).u8(0).u32(16);
      put_integer(out, 1, false);
      break;
  }
  return out.take();
}

std::vector<std::byte> encode_space(const Ints& dims) {
  Encoder out;
  out.u8(1).u8(dims.size()).u8(dims.empty() ? 0 : 1).zeros(5);
  // The most that it can grow to is what it has.
  for (int twice = 0; twice < 2; ++twice)
    for (const int64_t dim : dims) out.u64(static_cast<uint64_t>(dim));
  return out.take();
}

// Version 1 has no character set: names beyond ASCII need version 3.
std::vector<std::byte> encode_attribute(std::string_view name, const Type& type, const Ints& dims,
                                        Bytes data) {
  const bool ascii =
      std::all_of(name.begin(), name.end(), [](char c) { return static_cast<uint8_t>(c) < 0x80; });
  const auto type_bytes = encode_type(type), space_bytes = encode_space(dims);
  Encoder out;
  out.u8(ascii ? 1 : 3).u8(0).u16(name.size() + 1).u16(type_bytes.size()).u16(space_bytes.size());
  if (!ascii) out.u8(1);
  const auto put = [&](Bytes bytes) {
    out.bytes(bytes);
    if (ascii) out.pad();
  };
  std::string terminated(name);
  terminated += '\0';
  put(as_bytes(terminated));
  put(type_bytes);
  put(space_bytes);
  out.bytes(data);
  return out.take();
}

void HeaderEncoder::add(MessageType type, Bytes data, uint8_t flags) {
  messages_.u16(static_cast<uint64_t>(type))
      .u16(padded(data.size()))
      .u8(flags)
      .zeros(3)
      .bytes(data)
      .pad();
  ++count_;
}

std::vector<std::byte> HeaderEncoder::take() {
  Encoder out;
  out.u8(1).u8(0).u16(count_).u32(1).u32(messages_.size()).zeros(4).bytes(messages_.out());
  return out.take();
}

}  // namespace horngate::files::hdf5
