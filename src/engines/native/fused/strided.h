// Loads and stores that are not contiguous: broadcasts, strides, transposes over the axes of a row.
#pragma once

#include <cstdint>
#include <vector>

#include "engines/native/fused/geometry.h"
#include "engines/native/fused/kernels.h"

namespace horngate::native::fused {

/// One access over the axes of a row, with its own axes merged as far as possible.
class Strided {
 public:
  /// Axes [from, rank) of the access; with kept_only, the axes that are not reduced.
  Strided(const Space& space, size_t access, size_t from, DType dtype, const Kernels& kernels,
          bool kept_only = false);

  /// Loads elements [pos, pos + n) of the row that starts at base as lanes. Overwrites up to 15 bytes after the
  /// last lane.
  void load(void* lanes, const void* base, int64_t pos, int64_t n) const;
  void store(void* base, const void* lanes, int64_t pos, int64_t n) const;

 private:
  struct Cursor;
  std::vector<int64_t> extent_, stride_;
  DType dtype_;
  Kernel load_, store_, fill_;
};

/// Rows of a transposed array: row i of the result, `pitch` bytes after the previous one, gets the lanes of
/// base[i * across + j * along] for j < n. Reads whole cache lines if across is 1.
void load_transposed(DType dtype, void* lanes, size_t pitch, const void* base, int64_t along,
                     int64_t across, int64_t n, int64_t rows);
/// The element at p as 64 bytes of its lane, repeated.
void load_repeated(DType dtype, void* lanes, const void* p);
/// A lane value as 64 bytes.
void repeat(Lane lane, void* lanes, uint64_t bits);

}  // namespace horngate::native::fused
