// The table of block kernels of one instruction set: every element-wise instruction in every lane
// type.
#pragma once

#include <cstddef>
#include <cstdint>

#include "horngate/dtype.h"

namespace horngate::native::fused {

/// What instructions compute in. float16, bfloat16 -> f32; int8, int16, uint8, uint16 -> i32;
/// uint32 -> i64; bool -> b8 (bytes that are 0 or 1).
enum class Lane : uint8_t { f32, f64, i32, i64, u64, b8 };
inline constexpr int kLaneCount = 6;

constexpr size_t size_of(Lane lane) {
  constexpr uint8_t kSizes[kLaneCount] = {4, 8, 4, 8, 8, 1};
  return kSizes[static_cast<int>(lane)];
}
constexpr bool is_float(Lane lane) { return lane <= Lane::f64; }

constexpr Lane lane_of(DType t) {
  constexpr Lane kLanes[kDTypeCount] = {Lane::f32, Lane::f32, Lane::f32, Lane::f64, Lane::i32,
                                        Lane::i32, Lane::i32, Lane::i64, Lane::i32, Lane::i32,
                                        Lane::i64, Lane::u64, Lane::b8};
  return kLanes[static_cast<int>(t)];
}
/// The dtype that is stored exactly like the lane.
constexpr DType dtype_of(Lane lane) {
  constexpr DType kTypes[kLaneCount] = {DType::float32, DType::float64, DType::int32,
                                        DType::int64,   DType::uint64,  DType::bool_};
  return kTypes[static_cast<int>(lane)];
}
constexpr bool stored_as_lane(DType t) { return dtype_of(lane_of(t)) == t; }

/// Instructions: the element-wise primitives, then those that Program adds.
// clang-format off
enum class Op : uint8_t {
#define UNARY(name, cost) name,
#define BINARY(name, cost) name,
#define PRIM(name, how, attributes)
#include "ir/prims.def"
  select,
  copy,                                 // a
  nmul,                                 // -(a * b)
  exp_nmul,                             // exp(-(a * b))
  round_f16, round_bf16,                // f32 to the nearest value of the half type
  wrap_i8, wrap_i16, wrap_u8, wrap_u16, // of i32 lanes
  wrap_u32,                             // of i64 lanes
  cast,                                 // found in Kernels::cast
};
// clang-format on
inline constexpr int kOpCount = static_cast<int>(Op::cast) + 1;

inline bool is_comparison(Op op) { return op >= Op::eq && op <= Op::ge; }

/// Bits of a kernel's `flags`.
enum KernelFlags : unsigned {
  kScalarA = 1,  // operand a is one value repeated over 64 bytes, which do not advance
  kScalarB = 2,
  kScalarC = 4,
  kPaddedIn = 8,    // whole vectors may be read past n
  kPaddedOut = 16,  // whole vectors may be written past n
};

/// dst[i] = op(a[i], b[i], c[i]) for i < n. dst may be the same memory as a, b or c. The value of
/// an element depends on neither i nor n.
using Kernel = void (*)(void* dst, const void* a, const void* b, const void* c, size_t n,
                        unsigned flags);

enum class Fold : uint8_t { sum, prod, max, min, any, all };
inline constexpr int kFoldCount = 6;

/// Partial results of a fold: sums of f32 are kept in f64, all others in their own lane.
constexpr Lane wide_of(Fold fold, Lane lane) {
  return fold == Fold::sum && lane == Lane::f32 ? Lane::f64 : lane;
}

/// *acc = fold(*acc, src[0], ..., src[n - 1]); acc holds one wide lane.
using FoldKernel = void (*)(void* acc, const void* src, size_t n);
/// dst[i] = fold(src[i * length], ..., src[i * length + length - 1]) for i < n, in the lane itself.
using SegmentKernel = void (*)(void* dst, const void* src, size_t n, size_t length);

/// acc[i] = fold(acc[i], rows[0][i], ..., rows[kFoldRows - 1][i]) for i < n, in the lane itself.
inline constexpr int kFoldRows = 8;
using FoldRowsKernel = void (*)(void* acc, const void* const* rows, size_t n);

struct Kernels {
  Kernel op[kOpCount][kLaneCount];      // by lane of the operands (for select: of b and c)
  Kernel cast[kLaneCount][kLaneCount];  // [from][to]
  Kernel load[kDTypeCount];             // stored -> lane
  Kernel store[kDTypeCount];            // lane -> stored
  Kernel widen_add;                     // f64 dst = f64 a + f32 b
  FoldKernel fold[kFoldCount][kLaneCount];
  SegmentKernel segment[kFoldCount][kLaneCount];
  FoldRowsKernel fold_rows[kFoldCount][kLaneCount];

  Kernel of(Op o, Lane lane) const { return op[static_cast<int>(o)][static_cast<int>(lane)]; }
  Kernel cast_of(Lane from, Lane to) const {
    return cast[static_cast<int>(from)][static_cast<int>(to)];
  }
  Kernel load_of(DType t) const { return load[static_cast<int>(t)]; }
  Kernel store_of(DType t) const { return store[static_cast<int>(t)]; }
  FoldKernel fold_of(Fold f, Lane lane) const {
    return fold[static_cast<int>(f)][static_cast<int>(lane)];
  }
  SegmentKernel segment_of(Fold f, Lane lane) const {
    return segment[static_cast<int>(f)][static_cast<int>(lane)];
  }
  FoldRowsKernel fold_rows_of(Fold f, Lane lane) const {
    return fold_rows[static_cast<int>(f)][static_cast<int>(lane)];
  }
  void set(Op o, Lane lane, Kernel k) { op[static_cast<int>(o)][static_cast<int>(lane)] = k; }
};

}  // namespace horngate::native::fused
