#include "files/hdf5_types.h"

#include <array>
#include <bit>

namespace horngate::files::hdf5 {
namespace {

struct FloatLayout {
  DType dtype;
  uint32_t size;
  uint8_t sign, exponent_at, exponent, mantissa;
  uint32_t bias;
};
constexpr FloatLayout kFloats[] = {
    {DType::float16, 2, 15, 10, 5, 10, 15},
    {DType::bfloat16, 2, 15, 7, 8, 7, 127},
    {DType::float32, 4, 31, 23, 8, 23, 127},
    {DType::float64, 8, 63, 52, 11, 52, 1023},
};

const char* class_name(int type_class) {
  constexpr const char* kNames[] = {"an integer",     "a float",
                                    "a time",         "a text",
                                    "bit fields",     "opaque data",
                                    "a compound",     "a reference",
                                    "an enumeration", "a sequence of varying length",
                                    "an array",       "a complex number"};
  return type_class < 12 ? kNames[type_class] : "an unknown type";
}

struct Head {
  uint64_t place;
  int version, type_class;
  uint32_t bits, size;
};

Head read_head(Cursor& c) {
  Head head{};
  head.place = c.place();
  const uint8_t first = c.u8();
  head.version = first >> 4;
  head.type_class = first & 15;
  head.bits = static_cast<uint32_t>(c.uint(3));
  head.size = c.u32();
  if (head.version < 1 || head.version > 5)
    c.source().malformed(head.place, "a type has version ", head.version, ".");
  if (head.size == 0) c.source().malformed(head.place, "a type has size 0.");
  return head;
}

[[noreturn]] void refuse(const Cursor& c, const Head& head, std::string_view why) {
  c.source().unsupported(head.place, "data are ", class_name(head.type_class), " of ", head.size,
                         " bytes", why, ", which is not read. ", kRemedy);
}

Type read_integer(Cursor& c, const Head& head) {
  const uint16_t offset = c.u16(), precision = c.u16();
  if (offset != 0 || precision != head.size * 8ull) refuse(c, head, " with bits left out");
  if (!std::has_single_bit(head.size) || head.size > 8) refuse(c, head, "");
  const bool is_signed = head.bits & 8;
  const int log2 = std::countr_zero(head.size);
  const int base = static_cast<int>(is_signed ? DType::int8 : DType::uint8);
  return {.dtype = static_cast<DType>(base + log2),
          .big_endian = (head.bits & 1) != 0,
          .size = head.size};
}

Type read_float(Cursor& c, const Head& head) {
  const uint16_t offset = c.u16(), precision = c.u16();
  const uint8_t exponent_at = c.u8(), exponent = c.u8(), mantissa_at = c.u8(), mantissa = c.u8();
  const uint32_t bias = c.u32();
  const bool plain = offset == 0 && precision == head.size * 8ull && mantissa_at == 0 &&
                     (head.bits & 0x40) == 0 && (head.bits >> 4 & 3) == 2;
  for (const FloatLayout& f : kFloats)
    if (plain && f.size == head.size && f.sign == (head.bits >> 8 & 0xFF) &&
        f.exponent_at == exponent_at && f.exponent == exponent && f.mantissa == mantissa &&
        f.bias == bias)
      return {.dtype = f.dtype, .big_endian = (head.bits & 1) != 0, .size = head.size};
  refuse(c, head, " in a format of its own");
}

// h5py has no other way to say bool.
Type read_enumeration(Cursor& c, const Head& head) {
  const Head base = read_head(c);
  if (base.type_class != 0 || base.size != head.size)
    refuse(c, head, " of something else than integers");
  const Type integer = read_integer(c, base);
  const uint32_t members = head.bits & 0xFFFF;
  if (integer.size != 1 || members != 2) refuse(c, head, " that is not bool");
  std::array<std::string_view, 2> names;
  for (auto& name : names) {
    const uint64_t start = c.place();
    name = c.text();
    const uint64_t length = c.place() - start;
    if (head.version < 3) c.skip((8 - length % 8) % 8);
  }
  const std::array<uint8_t, 2> values = {c.u8(), c.u8()};
  for (size_t i = 0; i < 2; ++i)
    if (values[i] > 1 || names[i] != (values[i] ? "TRUE" : "FALSE") || values[0] == values[1])
      refuse(c, head, " that is not bool");
  return {.dtype = DType::bool_, .size = 1};
}

Type read_varying(Cursor& c, const Head& head) {
  if ((head.bits & 15) != 1) refuse(c, head, "");
  if (head.size != 16)
    c.source().malformed(head.place, "a text of varying length takes 16 bytes; got ", head.size,
                         ".");
  const Head base = read_head(c);
  // Characters: h5py calls them integers or texts of one byte.
  if (base.size != 1 || (base.type_class != 0 && base.type_class != 3))
    c.source().malformed(base.place, "characters of a text are ", class_name(base.type_class),
                         " of ", base.size, " bytes.");
  if (base.type_class == 0) c.skip(4);
  return {.kind = Kind::varying_text, .size = 16, .utf8 = (head.bits >> 8 & 15) == 1};
}

}  // namespace

Type read_type(Cursor& c) {
  const Head head = read_head(c);
  switch (head.type_class) {
    case 0: return read_integer(c, head);
    case 1: return read_float(c, head);
    case 3: {
      const uint32_t padding = head.bits & 15, charset = head.bits >> 4 & 15;
      if (padding > 2 || charset > 1)
        c.source().malformed(head.place, "a text has padding ", padding, " and character set ",
                             charset, ".");
      return {.kind = Kind::fixed_text,
              .size = head.size,
              .padding = static_cast<TextPadding>(padding),
              .utf8 = charset == 1};
    }
    case 8: return read_enumeration(c, head);
    case 9: return read_varying(c, head);
    default: refuse(c, head, "");
  }
}

Space read_space(Cursor& c) {
  const uint64_t place = c.place();
  const uint8_t version = c.u8(), rank = c.u8(), flags = c.u8();
  Space space;
  if (version == 1) {
    c.skip(5);
  } else if (version == 2) {
    const uint8_t kind = c.u8();
    if (kind > 2) c.source().malformed(place, "a shape is of kind ", int{kind}, ".");
    space.null = kind == 2;
    if (kind != 1 && rank != 0)
      c.source().malformed(place, "a scalar has ", int{rank}, " dimensions.");
  } else {
    c.source().malformed(place, "a shape has version ", int{version}, ".");
  }
  if (flags > 1) c.source().malformed(place, "a shape has flags ", int{flags}, ".");
  if (rank > 32)
    c.source().malformed(place, "a shape has ", int{rank}, " dimensions; 32 are the most.");
  for (int i = 0; i < rank; ++i) {
    const uint64_t dim = c.u64();
    if (dim > static_cast<uint64_t>(INT64_MAX))
      c.source().malformed(place, "dimension ", i, " of a shape is ", dim, ", which is too large.");
    space.dims.push_back(static_cast<int64_t>(dim));
  }
  if (flags & 1)
    for (int i = 0; i < rank; ++i)
      if (const uint64_t most = c.u64(); most < static_cast<uint64_t>(space.dims[i]))
        c.source().malformed(place, "dimension ", i, " of a shape is ", space.dims[i],
                             ", above its most, ", most, ".");
  const auto count = checked_bytes(space.dims, 1);
  if (!count) c.source().malformed(place, "a shape has more elements than can be counted.");
  space.count = space.null ? 0 : *count;
  return space;
}

uint64_t bytes_of(const Source& source, uint64_t place, const Type& type, const Space& space) {
  const auto bytes = checked_bytes(space.dims, type.size);
  if (!bytes) source.malformed(place, "a shape has more bytes than can be counted.");
  return space.null ? 0 : *bytes;
}

// Mixes three words, twelve bytes at a time; the constants are lookup3's.
uint32_t checksum(Bytes bytes) {
  uint32_t a = 0xdeadbeef + static_cast<uint32_t>(bytes.size()), b = a, c = a;
  const auto word = [&](size_t at) {
    uint32_t value = 0;
    for (size_t i = 0; i < 4 && at + i < bytes.size(); ++i)
      value |= static_cast<uint32_t>(bytes[at + i]) << 8 * i;
    return value;
  };
  const auto mix = [](uint32_t& x, const uint32_t& y, uint32_t& z, int k) {
    x -= z, x ^= std::rotl(z, k), z += y;
  };
  size_t at = 0;
  for (; bytes.size() - at > 12; at += 12) {
    a += word(at), b += word(at + 4), c += word(at + 8);
    mix(a, b, c, 4);
    mix(b, c, a, 6);
    mix(c, a, b, 8);
    mix(a, b, c, 16);
    mix(b, c, a, 19);
    mix(c, a, b, 4);
  }
  if (at == bytes.size()) return c;
  a += word(at), b += word(at + 4), c += word(at + 8);
  c ^= b, c -= std::rotl(b, 14);
  a ^= c, a -= std::rotl(c, 11);
  b ^= a, b -= std::rotl(a, 25);
  c ^= b, c -= std::rotl(b, 16);
  a ^= c, a -= std::rotl(c, 4);
  b ^= a, b -= std::rotl(a, 14);
  c ^= b, c -= std::rotl(b, 24);
  return c;
}

}  // namespace horngate::files::hdf5
