// NumPy's .npy: a header that is a Python dictionary, then the elements.
#pragma once

#include <string>

#include "files/bytes.h"
#include "horngate/dtype.h"
#include "horngate/small_vec.h"

namespace horngate::files::npy {

struct Array {
  DType dtype = DType::float32;
  Ints dims;
  bool big_endian = false;        // in the file
  bool fortran_order = false;     // in the file: the first axis varies fastest
  uint64_t place = 0, bytes = 0;  // elements in the file
};

/// The array that fills [place, place + size) of a source.
[[nodiscard]] Array read_header(const Source& source, uint64_t place, uint64_t size);
/// Copies all elements to memory of array.bytes bytes, in C order and the machine's byte order.
void read(const Source& source, const Array& array, std::span<std::byte> into);

/// What precedes the elements. As NumPy writes it: they begin at a multiple of 64.
[[nodiscard]] std::string header_of(DType dtype, const Ints& dims);
/// Whole or not at all.
void save(const std::string& path, DType dtype, const Ints& dims, Bytes elements);

}  // namespace horngate::files::npy
