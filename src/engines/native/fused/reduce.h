// What the schedules of reductions share.
#pragma once

#include <memory>
#include <vector>

#include "engines/native/fused/schedule.h"
#include "engines/native/fused/strided.h"

namespace horngate::native::fused {

/// One reduce output. Partial results are wide lanes (see wide_of) of 8 bytes or less.
struct Reduced {
  Reduced(const Program& program, size_t output, const Kernels& kernels);

  size_t output;
  DType dtype;
  Lane lane, wide;
  Fold fold;
  Kernel accumulate;       // lanes: a = a op b
  Kernel widen;            // wide = wide op lane
  Kernel merge;            // wide = wide op wide
  Kernel narrow;           // wide -> lane
  Kernel store;            // lane -> stored
  uint64_t identity;       // bits of a lane
  uint64_t wide_identity;  // bits of a wide lane

  size_t stored_size() const { return horngate::size_of(dtype); }
};

std::vector<Reduced> reduced_outputs(const Program& program, const Kernels& kernels);

/// Maps the kept axes [0, axes) to places in a reduce output.
class KeptOffsets {
 public:
  KeptOffsets(const Space& space, size_t axes, size_t inputs, const std::vector<Reduced>& outputs);
  /// Elements from the buffer's start for the k-th combination of the kept axes.
  int64_t operator()(size_t reduced, int64_t k) const;

 private:
  Ints extent_;
  std::vector<Ints> stride_;
  std::vector<int64_t> base_;
};

/// A long reduction is cut into parts of fixed size, whatever the number of threads.
struct Split {
  /// `items` of `item_size` elements for each of `results` independent results; a part has at least
  /// `least` items, to be worth its partial result.
  Split(int64_t results, int64_t items, int64_t item_size, int64_t least);
  int64_t parts, items_per_part;
};

/// Puts the kept axes among [0, inner) first and returns how many there are.
size_t kept_first(Space& space, size_t inner);

std::unique_ptr<Schedule> make_row_reduction(const Program& program, Space space, size_t inner);
std::unique_ptr<Schedule> make_segment_reduction(const Program& program, const Space& space,
                                                 size_t inner, size_t reduced_from);
std::unique_ptr<Schedule> make_column_reduction(const Program& program, Space space, size_t inner,
                                                int64_t width);

}  // namespace horngate::native::fused
