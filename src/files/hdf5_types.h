// HDF5: types and shapes of data, as far as models need them.
#pragma once

#include <string>

#include "files/bytes.h"
#include "horngate/dtype.h"
#include "horngate/small_vec.h"

namespace horngate::files::hdf5 {

/// An address that leads nowhere.
inline constexpr uint64_t kUndefined = UINT64_MAX;
/// What to do about a file that has what we do not read.
inline constexpr char kRemedy[] = "Rewrite it through h5py, in its default format.";

enum class Kind : uint8_t { number, fixed_text, varying_text };
enum class TextPadding : uint8_t { terminated = 0, zeros = 1, spaces = 2 };

struct Type {
  Kind kind = Kind::number;
  DType dtype = DType::float32;  // of numbers; h5py's enumeration of FALSE and TRUE is bool_
  bool big_endian = false;       // in the file; what is read is in the machine's order
  uint32_t size = 4;             // bytes of one element in the file
  TextPadding padding = TextPadding::terminated;  // of fixed text
  bool utf8 = false;                              // of text; else ASCII
  bool operator==(const Type&) const = default;
};

struct Space {
  bool null = false;  // h5py.Empty: there is a type, and no element
  Ints dims;          // empty: a scalar
  uint64_t count = 1;
};

/// The type that the cursor points to; it must fill the rest of the cursor up to padding.
[[nodiscard]] Type read_type(Cursor& cursor);
[[nodiscard]] Space read_space(Cursor& cursor);
/// Bytes of all elements in the file; `place` is for the error.
[[nodiscard]] uint64_t bytes_of(const Source& source, uint64_t place, const Type& type,
                                const Space& space);

/// The sum that version 2 structures end with (Jenkins's lookup3).
[[nodiscard]] uint32_t checksum(Bytes bytes);
/// Whether a sum is right. Fuzzers are built with any being right: they would not get past it.
[[nodiscard]] inline bool sum_is([[maybe_unused]] uint32_t sum, [[maybe_unused]] Bytes bytes) {
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  return true;
#else
  return sum == checksum(bytes);
#endif
}

}  // namespace horngate::files::hdf5
