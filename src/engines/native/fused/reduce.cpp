// Reductions: the layout of the axes decides between rows, segments and columns.
#include "engines/native/fused/reduce.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "engines/native/fused/simd.h"
#include "ir/dispatch_dtype.h"

namespace horngate::native::fused {
namespace {

constexpr int64_t kPart = 1 << 15;    // least number of elements in a part of a reduction
constexpr int64_t kEnoughTasks = 64;  // more parts than these would not occupy more threads
constexpr int64_t kShortSegment = 128, kMediumSegment = 512;
constexpr int64_t kJoined = 1024;  // short rows are joined up to this many elements

template <class T>
uint64_t bits_of(T value) {
  if constexpr (sizeof(T) == 8)
    return std::bit_cast<uint64_t>(value);
  else
    return std::bit_cast<uint32_t>(value);
}

uint64_t lane_bits(Lane lane, double value) {
  switch (lane) {
    case Lane::f32: return bits_of(static_cast<float>(value));
    case Lane::f64: return bits_of(value);
    case Lane::i32: return bits_of(static_cast<int32_t>(value));
    default: return static_cast<uint64_t>(static_cast<int64_t>(value));
  }
}

// The smallest or largest value of a dtype, in its lane.
uint64_t limit_bits(DType dtype, bool largest) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (is_float(dtype)) return lane_bits(lane_of(dtype), largest ? kInfinity : -kInfinity);
  return with_dtype(dtype, [largest, dtype](auto zero) -> uint64_t {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) {
      const T limit = largest ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest();
      const uint64_t bits = static_cast<uint64_t>(limit);
      return size_of(lane_of(dtype)) == 4 ? static_cast<uint32_t>(bits) : bits;
    }
    return 0;
  });
}

uint64_t identity_of(Fold fold, Lane lane, DType dtype) {
  switch (fold) {
    case Fold::sum:
    case Fold::any: return 0;
    case Fold::prod: return lane_bits(lane, 1);
    case Fold::all: return 1;
    case Fold::max: return limit_bits(dtype, false);
    case Fold::min: break;
  }
  return limit_bits(dtype, true);
}

Op op_of(Fold fold) {
  switch (fold) {
    case Fold::sum: return Op::add;
    case Fold::prod: return Op::mul;
    case Fold::max: return Op::maximum;
    case Fold::min: return Op::minimum;
    case Fold::any: return Op::logical_or;
    case Fold::all: break;
  }
  return Op::logical_and;
}

// Whether an input has one value per row: when rows are joined, it must be spread over their
// elements.
bool has_row_values(const Space& space, size_t inputs, size_t run) {
  for (size_t a = 0; a < inputs; ++a)
    if (space.is_uniform(a, run) && !space.is_invariant(a, run)) return true;
  return false;
}

// Nothing to reduce: every output is the identity.
class IdentityFill final : public Schedule {
 public:
  IdentityFill(const Program& program, const Space& space)
      : outputs_(reduced_outputs(program, fused::kernels())),
        kept_(space, space.rank(), program.inputs.size(), outputs_) {
    for (size_t i = 0; i < space.rank(); ++i)
      if (!space.reduced[i]) count_ *= space.extent[i];
  }
  void run(const void* const*, void* const* out, void*) const override {
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const Reduced& r = outputs_[i];
      for (int64_t k = 0; k < count_; ++k) {
        char* at = static_cast<char*>(out[r.output]);
        r.store(at + kept_(i, k) * static_cast<int64_t>(r.stored_size()), &r.identity, nullptr,
                nullptr, 1, 0);
      }
    }
  }

 private:
  std::vector<Reduced> outputs_;
  KeptOffsets kept_;
  int64_t count_ = 1;
};

}  // namespace

Reduced::Reduced(const Program& program, size_t index, const Kernels& k) : output(index) {
  const Output& o = program.outputs[index];
  dtype = o.dtype;
  fold = o.fold;
  lane = lane_of(dtype);
  wide = wide_of(fold, lane);
  const Op op = op_of(fold);
  accumulate = k.of(op, lane);
  merge = k.of(op, wide);
  widen = wide == lane ? accumulate : k.widen_add;
  narrow = wide == lane ? k.of(Op::copy, lane) : k.cast_of(wide, lane);
  store = k.store_of(dtype);
  identity = identity_of(fold, lane, dtype);
  wide_identity = identity_of(fold, wide, dtype);
}

std::vector<Reduced> reduced_outputs(const Program& program, const Kernels& kernels) {
  std::vector<Reduced> list;
  for (size_t o = 0; o < program.outputs.size(); ++o)
    if (program.outputs[o].reduces) list.emplace_back(program, o, kernels);
  return list;
}

KeptOffsets::KeptOffsets(const Space& space, size_t axes, size_t inputs,
                         const std::vector<Reduced>& outputs) {
  for (const Reduced& r : outputs) {
    base_.push_back(space.offset[inputs + r.output]);
    stride_.emplace_back();
  }
  for (size_t i = 0; i < axes; ++i) {
    if (space.reduced[i]) continue;
    extent_.push_back(space.extent[i]);
    for (size_t o = 0; o < outputs.size(); ++o)
      stride_[o].push_back(space.stride[inputs + outputs[o].output][i]);
  }
}

int64_t KeptOffsets::operator()(size_t reduced, int64_t k) const {
  int64_t offset = base_[reduced];
  if (extent_.empty()) return offset;
  for (size_t i = extent_.size(); i-- > 1; k /= extent_[i])
    offset += k % extent_[i] * stride_[reduced][i];
  return offset + k * stride_[reduced][0];
}

Split::Split(int64_t results, int64_t items, int64_t item_size, int64_t least) {
  const int64_t per_part = std::max(least, kPart / item_size);
  parts = (items + per_part - 1) / per_part;
  const int64_t useful = (kEnoughTasks + results - 1) / results;
  parts = std::clamp<int64_t>(parts, 1, useful);
  items_per_part = (items + parts - 1) / parts;
  parts = (items + items_per_part - 1) / items_per_part;
}

size_t kept_first(Space& space, size_t inner) {
  std::vector<size_t> order;
  for (const bool reduced : {false, true})
    for (size_t i = 0; i < inner; ++i)
      if (space.reduced[i] == reduced) order.push_back(i);
  for (size_t i = inner; i < space.rank(); ++i) order.push_back(i);
  space.permute(order);
  size_t kept = 0;
  while (kept < inner && !space.reduced[kept]) ++kept;
  return kept;
}

std::unique_ptr<Schedule> make_reduction(const Program& program, Space space) {
  if (space.size() == 0) return std::make_unique<IdentityFill>(program, space);
  const size_t rank = space.rank();
  // The innermost axes that are all kept or all reduced.
  size_t run = rank;
  while (run > 0 && space.reduced[run - 1] == space.reduced[rank - 1]) --run;
  const int64_t run_size = space.size(run, rank);
  size_t inner = rank;
  if (rank > 0 && space.reduced[rank - 1]) {
    const auto outer_end = space.reduced.begin() + static_cast<std::ptrdiff_t>(run);
    const bool only_here = std::count(space.reduced.begin(), outer_end, true) == 0;
    const bool is_short =
        run_size < kShortSegment ||
        (run_size < kMediumSegment && !has_row_values(space, program.inputs.size(), run));
    if (run > 0 && is_short && only_here) {
      inner = run;
      while (inner > 0 && space.size(inner, rank) < kJoined) --inner;
      return make_segment_reduction(program, space, inner, run);
    }
    inner = rank - 1;
    while (inner > run && space.size(inner, rank) < kShortRow) --inner;
    return make_row_reduction(program, std::move(space), inner);
  }
  if (run > 0 && run_size < kShortRow) {
    inner = run - 1;
    while (inner > 0 && space.reduced[inner - 1] && space.size(inner, rank) < kJoined) --inner;
    return make_column_reduction(program, std::move(space), inner, run_size);
  }
  inner = rank == 0 ? 0 : rank - 1;
  while (inner > run && space.size(inner, rank) < kShortRow) --inner;
  return make_column_reduction(program, std::move(space), inner, 0);
}

}  // namespace horngate::native::fused
