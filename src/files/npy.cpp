#include "files/npy.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>

#include "files/atomic_file.h"

namespace horngate::files::npy {
namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr uint64_t kMostHeader = 65536;

// By DType; bfloat16 is not NumPy's.
constexpr const char* kDescr[kDTypeCount] = {"f2", "",   "f4", "f8", "i1", "i2", "i4",
                                             "i8", "u1", "u2", "u4", "u8", "b1"};

// The dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
class HeaderReader {
 public:
  HeaderReader(const Source& source, uint64_t place, std::string_view text)
      : source_(source), place_(place), text_(text) {}

  void read(Array& array) {
    expect("{");
    while (!take("}")) {
      const std::string_view key = string();
      expect(":");
      if (key == "descr" && !descr_)
        descr_ = read_descr(array);
      else if (key == "fortran_order" && !order_)
        order_ = read_order(array);
      else if (key == "shape" && !shape_)
        shape_ = read_shape(array);
      else
        fail("has a key ", shown(key), " that is twice or unknown.");
      if (!take(",")) {
        expect("}");
        break;
      }
    }
    if (!descr_ || !order_ || !shape_) fail("must have descr, fortran_order and shape.");
    skip();
    if (at_ != text_.size()) fail("goes on after its end.");
  }

 private:
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    source_.malformed(place_ + at_, "the header of an array ", parts...);
  }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool take(std::string_view word) {
    skip();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  void expect(std::string_view word) {
    if (!take(word))
      fail("must have ", shown(word), " here; got ", shown(text_.substr(at_, 10)), ".");
  }
  std::string_view string() {
    const bool single = take("'");
    if (!single) expect("\"");
    const size_t end = text_.find(single ? '\'' : '"', at_);
    if (end == text_.npos) fail("has a string without an end.");
    const std::string_view found = text_.substr(at_, end - at_);
    at_ = end + 1;
    return found;
  }

  bool read_descr(Array& array) {
    skip();
    if (text_.substr(at_).starts_with("[")) refuse("structures");
    const std::string_view descr = string();
    const auto* const found =
        descr.size() < 3 ? std::end(kDescr)
                         : std::find(std::begin(kDescr), std::end(kDescr), descr.substr(1));
    if (descr.find('O') != descr.npos)
      refuse("Python objects, which only Python can make (and which may run code)");
    if (found == std::end(kDescr) ||
        std::string_view("<>|=").find(descr[0]) == std::string_view::npos)
      refuse(join("elements of type ", shown(descr)));
    array.dtype = static_cast<DType>(found - std::begin(kDescr));
    array.big_endian = descr[0] == '>';
    return true;
  }
  [[noreturn]] void refuse(std::string_view what) const {
    source_.unsupported(place_ + at_, "an array has ", what,
                        ", which is not read. Convert it with astype.");
  }
  bool read_order(Array& array) {
    array.fortran_order = take("True");
    if (!array.fortran_order) expect("False");
    return true;
  }
  bool read_shape(Array& array) {
    expect("(");
    while (!take(")")) {
      skip();
      int64_t dim = -1;
      const char* const begin = text_.data() + at_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), dim);
      if (error != std::errc() || dim < 0)
        fail("must have dimensions from 0 on; got ", shown(text_.substr(at_, 20)), ".");
      at_ += static_cast<size_t>(end - begin);
      if (text_.substr(at_).starts_with('L')) ++at_;  // Python 2 wrote long integers so
      array.dims.push_back(dim);
      if (array.dims.size() > 64) fail("has more than 64 dimensions.");
      if (!take(",")) {
        expect(")");
        break;
      }
    }
    return true;
  }

  const Source& source_;
  uint64_t place_;
  std::string_view text_;
  size_t at_ = 0;
  bool descr_ = false, order_ = false, shape_ = false;
};

// Elements in Fortran order, one after the other, to where C order has them.
void to_c_order(const std::vector<std::byte>& from, std::span<std::byte> into, const Ints& dims,
                size_t item) {
  Ints index(dims.size(), 0), strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  int64_t to = 0;
  for (size_t at = 0; at < from.size(); at += item) {
    std::memcpy(into.data() + static_cast<size_t>(to) * item, from.data() + at, item);
    for (size_t i = 0; i < dims.size(); ++i) {
      to += strides[i];
      if (++index[i] < dims[i]) break;
      to -= strides[i] * dims[i];
      index[i] = 0;
    }
  }
}

}  // namespace

Array read_header(const Source& source, uint64_t place, uint64_t size) {
  constexpr char kWhat[] = "the header of an array";
  source.check_extent(place, size, "an array");
  const auto start = source.read(place, std::min<uint64_t>(size, 12), kWhat);
  Cursor c(source, start, place, kWhat);
  c.expect(kMagic);
  const int version = c.u8();
  c.skip(1);
  if (version < 1 || version > 3) source.malformed(place + 6, kWhat, " has version ", version, ".");
  const uint64_t length = version == 1 ? c.u16() : c.u32();
  const uint64_t before = c.place() - place;
  if (length > kMostHeader || length > size - before)
    source.malformed(place + 8, kWhat, " has ", length, " bytes; ",
                     std::min(kMostHeader, size - before), " are the most.");
  const auto text = source.read(c.place(), length, kWhat);
  Array array;
  HeaderReader(source, c.place(), as_text(text)).read(array);
  array.place = place + before + length;
  const auto bytes = checked_bytes(array.dims, size_of(array.dtype));
  if (!bytes) source.malformed(place, "an array has a shape with more bytes than can be counted.");
  array.bytes = *bytes;
  if (array.bytes != size - before - length)
    source.malformed(array.place, "an array needs ", array.bytes, " bytes; ",
                     size - before - length, " are there.");
  return array;
}

void read(const Source& source, const Array& array, std::span<std::byte> into) {
  if (into.size() != array.bytes)
    throw ValueError(join(source.name(), ": an array has ", array.bytes,
                          " bytes; the memory for it has ", into.size(), "."));
  const size_t item = size_of(array.dtype);
  if (array.fortran_order && array.dims.size() > 1)
    to_c_order(source.read(array.place, array.bytes, "an array"), into, array.dims, item);
  else
    source.read(array.place, into, "an array");
  if (array.big_endian == (std::endian::native == std::endian::little) && item > 1)
    for (size_t at = 0; at < into.size(); at += item) std::reverse(&into[at], &into[at] + item);
  if (array.dtype == DType::bool_ &&
      std::any_of(into.begin(), into.end(), [](std::byte b) { return b > std::byte{1}; }))
    source.malformed(array.place, "an array of bool has elements that are neither 0 nor 1.");
}

std::string header_of(DType dtype, const Ints& dims) {
  if (dtype == DType::bfloat16)
    throw ValueError("save: NumPy has no bfloat16; cast it to float32.");
  std::string text = "{'descr': '";
  text += size_of(dtype) == 1 ? '|' : '<';
  text += join(kDescr[static_cast<int>(dtype)], "', 'fortran_order': False, 'shape': (");
  for (size_t i = 0; i < dims.size(); ++i) text += join(i ? ", " : "", dims[i]);
  text += dims.size() == 1 ? ",), }" : "), }";
  const size_t whole = (10 + text.size() + 1 + 63) / 64 * 64;
  text.resize(whole - 11, ' ');
  text += '\n';
  std::string out(kMagic, 6);
  out += {'\1', '\0', static_cast<char>(text.size() & 0xFF), static_cast<char>(text.size() >> 8)};
  return out + text;
}

void save(const std::string& path, DType dtype, const Ints& dims, Bytes elements) {
  static_assert(std::endian::native == std::endian::little, "elements are written as they are");
  const auto bytes = checked_bytes(dims, size_of(dtype));
  if (!bytes || *bytes != elements.size() || dims.size() > 64)
    throw ValueError(
        join(path, ": shape and elements must agree; got ", elements.size(), " bytes."));
  const std::string header = header_of(dtype, dims);
  AtomicFile file(path);
  file.write(as_bytes(header));
  file.write(elements);
  file.finish();
}

}  // namespace horngate::files::npy
