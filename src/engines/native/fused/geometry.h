// The iteration space of a group in its simplest form: few axes, the best one innermost.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "horngate/small_vec.h"

namespace horngate::native::fused {

/// Where a group reads or writes: elements from the buffer's start, one stride per axis of the
/// extent. 0 = broadcast; may be negative.
struct Access {
  Ints stride;
  int64_t offset = 0;
  bool operator==(const Access&) const = default;
};

/// All accesses of a group, inputs first, then outputs.
struct Space {
  Ints extent;
  std::vector<bool> reduced;    // per axis
  std::vector<Ints> stride;     // [access][axis]
  std::vector<int64_t> offset;  // [access]

  size_t rank() const { return extent.size(); }
  size_t accesses() const { return stride.size(); }
  /// The number of elements in the axes [from, to).
  int64_t size(size_t from, size_t to) const;
  int64_t size() const { return size(0, rank()); }
  /// New axis i is old axis order[i].
  void permute(const std::vector<size_t>& order);

  /// Over the axes [from, rank): whether all strides are 0, or the layout is that of a row-major
  /// array.
  bool is_uniform(size_t access, size_t from) const;
  bool is_contiguous(size_t access, size_t from) const;
  /// Whether the axes [0, to) do not matter.
  bool is_invariant(size_t access, size_t to) const;
};

/// Drops axes of size 1, turns and orders the others so that memory is walked forwards in small
/// steps, and merges axes that are one axis for every access. `priority` lists the accesses, most
/// important first.
Space simplify(Space space, std::span<const size_t> priority);

}  // namespace horngate::native::fused
