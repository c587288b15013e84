// SIMD loops of Winograd's convolution.
#include "engines/native/fused/targets.h"  // before Highway

#include <algorithm>
#include <cstdint>

#include "engines/native/kernels/winograd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/native/kernels/winograd_simd.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace horngate::native::winograd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Lines are whole vectors. If vectors are longer than a line, only a line's lanes are used.
using D = hn::CappedTag<float, kLine>;
using V = hn::Vec<D>;
constexpr D d;

constexpr float kA = 0.75f, kB = 1.5f, kAA = kA * kA, kBB = kB * kB;
// 1 / product of (p - q) over the other points q
constexpr float kN0 = 1 / (kAA * kBB), kNA = 1 / (2 * kAA * (kAA - kBB)),
                kNB = 1 / (2 * kBB * (kBB - kAA));

HWY_INLINE V C(float value) { return hn::Set(d, value); }
HWY_INLINE int64_t Step() { return static_cast<int64_t>(hn::Lanes(d)); }

/// B^T of six
HWY_INLINE void Window(const V* HWY_RESTRICT x, int step, V* HWY_RESTRICT r) {
  const V x0 = x[0], x1 = x[step], x2 = x[2 * step], x3 = x[3 * step], x4 = x[4 * step],
          x5 = x[5 * step];
  const V e = hn::NegMulAdd(C(kBB), x2, x4), o = hn::NegMulAdd(C(kBB), x1, x3);
  const V f = hn::NegMulAdd(C(kAA), x2, x4), q = hn::NegMulAdd(C(kAA), x1, x3);
  r[0] = hn::MulAdd(C(kAA * kBB), x0, hn::NegMulAdd(C(kAA + kBB), x2, x4));
  r[1] = hn::MulAdd(C(kA), o, e);
  r[2] = hn::NegMulAdd(C(kA), o, e);
  r[3] = hn::MulAdd(C(kB), q, f);
  r[4] = hn::NegMulAdd(C(kB), q, f);
  r[5] = hn::MulAdd(C(kAA * kBB), x1, hn::NegMulAdd(C(kAA + kBB), x3, x5));
}

/// A^T of six: four
HWY_INLINE void Back(const V* HWY_RESTRICT m, int step, V* HWY_RESTRICT r) {
  const V m1 = m[step], m2 = m[2 * step], m3 = m[3 * step], m4 = m[4 * step];
  const V s = hn::Add(m1, m2), t = hn::Add(m3, m4), u = hn::Sub(m1, m2), v = hn::Sub(m3, m4);
  r[0] = hn::Add(m[0], hn::Add(s, t));
  r[1] = hn::MulAdd(C(kB), v, hn::Mul(C(kA), u));
  r[2] = hn::MulAdd(C(kBB), t, hn::Mul(C(kAA), s));
  r[3] = hn::MulAdd(C(kB * kBB), v, hn::MulAdd(C(kA * kAA), u, m[5 * step]));
}

/// A of four: six
HWY_INLINE void Tile(const V* HWY_RESTRICT z, int step, V* HWY_RESTRICT r) {
  const V z0 = z[0], z1 = z[step], z2 = z[2 * step], z3 = z[3 * step];
  const V e = hn::MulAdd(C(kAA), z2, z0), o = hn::MulAdd(C(kAA), z3, z1);
  const V f = hn::MulAdd(C(kBB), z2, z0), q = hn::MulAdd(C(kBB), z3, z1);
  r[0] = z0;
  r[1] = hn::MulAdd(C(kA), o, e);
  r[2] = hn::NegMulAdd(C(kA), o, e);
  r[3] = hn::MulAdd(C(kB), q, f);
  r[4] = hn::NegMulAdd(C(kB), q, f);
  r[5] = z3;
}

/// G of three: six
HWY_INLINE void Weights(const V* HWY_RESTRICT g, int step, V* HWY_RESTRICT r) {
  const V g0 = g[0], g1 = g[step], g2 = g[2 * step];
  const V e = hn::MulAdd(C(kAA), g2, g0), f = hn::MulAdd(C(kBB), g2, g0);
  r[0] = hn::Mul(C(kN0), g0);
  r[1] = hn::Mul(C(kNA), hn::MulAdd(C(kA), g1, e));
  r[2] = hn::Mul(C(kNA), hn::NegMulAdd(C(kA), g1, e));
  r[3] = hn::Mul(C(kNB), hn::MulAdd(C(kB), g1, f));
  r[4] = hn::Mul(C(kNB), hn::NegMulAdd(C(kB), g1, f));
  r[5] = g2;
}

/// G^T of six: three
HWY_INLINE void WeightsBack(const V* HWY_RESTRICT s, int step, V* HWY_RESTRICT r) {
  const V s1 = s[step], s2 = s[2 * step], s3 = s[3 * step], s4 = s[4 * step];
  const V p = hn::Mul(C(kNA), hn::Add(s1, s2)), q = hn::Mul(C(kNB), hn::Add(s3, s4));
  const V u = hn::Mul(C(kNA), hn::Sub(s1, s2)), v = hn::Mul(C(kNB), hn::Sub(s3, s4));
  r[0] = hn::MulAdd(C(kN0), s[0], hn::Add(p, q));
  r[1] = hn::MulAdd(C(kB), v, hn::Mul(C(kA), u));
  r[2] = hn::MulAdd(C(kBB), q, hn::MulAdd(C(kAA), p, s[5 * step]));
}

/// Pixel (i, j) of a window or tile at channel c: 0 outside the image.
template <bool kInside>
HWY_INLINE V LoadPixel(const Pixels<const float>& x, int i, int j, int64_t c) {
  if (!kInside && (i < x.row_begin || i >= x.row_end || j < x.column_begin || j >= x.column_end))
    return hn::Zero(d);
  return hn::LoadU(d, x.first + i * x.row_stride + j * x.pixel_stride + c);
}

/// Prefetches what the tile after the next will touch: there are too many streams for the hardware
/// to follow.
HWY_INLINE void Fetch(const float* p) { __builtin_prefetch(p); }

template <int kSize, class T>
HWY_INLINE bool IsInside(const Pixels<T>& x) {
  return x.row_begin <= 0 && x.row_end >= kSize && x.column_begin <= 0 && x.column_end >= kSize;
}

template <bool kInside>
void TransformWindowAs(const Pixels<const float>& x, int64_t channels, float* HWY_RESTRICT to,
                       int64_t place_stride) {
  V t[36], column[6], r[6];
  for (int64_t c = 0; c < channels; c += Step()) {
    for (int j = 0; j < 6; ++j) {
#pragma GCC unroll 6
      for (int i = 0; i < 6; ++i) {
        column[i] = LoadPixel<kInside>(x, i, j, c);
        if (j >= 2) Fetch(x.first + i * x.row_stride + (j + 8) * x.pixel_stride + c);
      }
      Window(column, 1, r);
#pragma GCC unroll 6
      for (int i = 0; i < 6; ++i) t[i * 6 + j] = r[i];
    }
    for (int i = 0; i < 6; ++i) {
      Window(t + i * 6, 1, r);
#pragma GCC unroll 6
      for (int j = 0; j < 6; ++j) hn::StoreU(r[j], d, to + (i * 6 + j) * place_stride + c);
    }
  }
}

void TransformWindow(const Pixels<const float>& x, int64_t channels, float* to,
                     int64_t place_stride) {
  IsInside<6>(x) ? TransformWindowAs<true>(x, channels, to, place_stride)
                 : TransformWindowAs<false>(x, channels, to, place_stride);
}

template <bool kInside>
void TransformBackAs(const float* HWY_RESTRICT from, int64_t place_stride, int64_t channels,
                     const Pixels<float>& y) {
  V t[24], column[6], r[4];
  for (int64_t c = 0; c < channels; c += Step()) {
    for (int j = 0; j < 6; ++j) {
#pragma GCC unroll 6
      for (int i = 0; i < 6; ++i) column[i] = hn::LoadU(d, from + (i * 6 + j) * place_stride + c);
      Back(column, 1, r);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) t[i * 6 + j] = r[i];
    }
    for (int i = 0; i < 4 && (kInside || i < y.row_end); ++i) {
      Back(t + i * 6, 1, r);
      float* row = y.first + i * y.row_stride + c;
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) {
        if (kInside || j < y.column_end) hn::StoreU(r[j], d, row + j * y.pixel_stride);
        Fetch(row + (j + 8) * y.pixel_stride);
      }
    }
  }
}

void TransformBack(const float* from, int64_t place_stride, int64_t channels,
                   const Pixels<float>& y) {
  IsInside<4>(y) ? TransformBackAs<true>(from, place_stride, channels, y)
                 : TransformBackAs<false>(from, place_stride, channels, y);
}

template <bool kInside>
void TransformTileAs(const Pixels<const float>& dy, int64_t channels, float* HWY_RESTRICT to,
                     int64_t place_stride, int64_t line_stride) {
  V t[24], column[4], r[6];
  for (int64_t c = 0; c < channels; c += Step()) {
    for (int j = 0; j < 4; ++j) {
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        column[i] = LoadPixel<kInside>(dy, i, j, c);
        Fetch(dy.first + i * dy.row_stride + (j + 8) * dy.pixel_stride + c);
      }
      Tile(column, 1, r);
#pragma GCC unroll 6
      for (int i = 0; i < 6; ++i) t[i * 4 + j] = r[i];
    }
    float* line = to + c / kLine * line_stride + c % kLine;
    for (int i = 0; i < 6; ++i) {
      Tile(t + i * 4, 1, r);
#pragma GCC unroll 6
      for (int j = 0; j < 6; ++j) hn::StoreU(r[j], d, line + (i * 6 + j) * place_stride);
    }
  }
}

void TransformTile(const Pixels<const float>& dy, int64_t channels, float* to, int64_t place_stride,
                   int64_t line_stride) {
  IsInside<4>(dy) ? TransformTileAs<true>(dy, channels, to, place_stride, line_stride)
                  : TransformTileAs<false>(dy, channels, to, place_stride, line_stride);
}

void TransformWeights(const WeightPart& part, const float* w, int64_t begin, int64_t end,
                      float* to) {
  const int64_t o = part.o;
  V g[9], t[18], r[6];
  for (int64_t i = begin; i < end; ++i)
    for (int64_t j = 0; j < o; j += Step()) {
      for (int tap = 0; tap < 9; ++tap) g[tap] = hn::LoadU(d, w + (tap * part.c + i) * o + j);
      for (int k = 0; k < 3; ++k) {
        Weights(g + k, 3, r);
        for (int p = 0; p < 6; ++p) t[p * 3 + k] = r[p];
      }
      float* line = to + (j / kLine * part.total + part.at + i) * kLine + j % kLine;
      for (int p = 0; p < 6; ++p) {
        Weights(t + p * 3, 1, r);
        for (int q = 0; q < 6; ++q) hn::StoreU(r[q], d, line + (p * 6 + q) * part.total * o);
      }
    }
}

void TransformWeightsBack(const WeightPart& part, const float* from, int64_t place_stride,
                          int64_t begin, int64_t end, float* dw) {
  const int64_t o = part.o;
  V s[6], t[18], r[3];
  for (int64_t i = begin; i < end; ++i)
    for (int64_t j = 0; j < o; j += Step()) {
      const float* at = from + (part.at + i) * o + j;
      for (int q = 0; q < 6; ++q) {
        for (int p = 0; p < 6; ++p) s[p] = hn::LoadU(d, at + (p * 6 + q) * place_stride);
        WeightsBack(s, 1, r);
        for (int k = 0; k < 3; ++k) t[k * 6 + q] = r[k];
      }
      for (int k = 0; k < 3; ++k) {
        WeightsBack(t + k * 6, 1, r);
        for (int l = 0; l < 3; ++l) hn::StoreU(r[l], d, dw + ((k * 3 + l) * part.c + i) * o + j);
      }
    }
}

// --- transposing --------------------------------------------------------------------------------

#if HWY_TARGET != HWY_SCALAR

/// Four elements of each of the lines first, first + 4, .., side by side.
template <class DV>
HWY_INLINE hn::Vec<DV> LoadFours(DV dv, const float* first, int64_t stride) {
  if constexpr (hn::MaxLanes(dv) > 4) {
    const hn::Half<DV> half;
    const int64_t skip = static_cast<int64_t>(hn::MaxLanes(dv)) / 2 * stride;
    return hn::Combine(dv, LoadFours(half, first + skip, stride), LoadFours(half, first, stride));
  } else {
    return hn::LoadU(dv, first);
  }
}

/// Squares of 4x4, as many side by side as fit in a vector. The last ones overlap their
/// predecessors.
template <bool kStream, class DV>
void TransposeAs(DV dv, const float* from, int64_t from_stride, float* to, int64_t to_stride,
                 int64_t rows, int64_t columns) {
  const hn::RepartitionToWide<DV> wide;
  const auto step = static_cast<int64_t>(hn::MaxLanes(dv));
  const auto pair = [&](auto a, auto b, bool upper) {
    const auto x = hn::BitCast(wide, a), y = hn::BitCast(wide, b);
    return hn::BitCast(dv,
                       upper ? hn::InterleaveUpper(wide, x, y) : hn::InterleaveLower(wide, x, y));
  };
  const auto store = [dv](auto v, float* r) HWY_ATTR {
    if constexpr (kStream)
      hn::Stream(v, dv, r);
    else
      hn::StoreU(v, dv, r);
  };
  for (int64_t jj = 0; jj < columns; jj += step) {
    const int64_t j = std::min(jj, columns - step);
    for (int64_t ii = 0; ii < rows; ii += 4) {
      const int64_t i = std::min(ii, rows - 4);
      const float* square = from + j * from_stride + i;
      const auto a = LoadFours(dv, square, from_stride);
      const auto b = LoadFours(dv, square + from_stride, from_stride);
      const auto c = LoadFours(dv, square + 2 * from_stride, from_stride);
      const auto e = LoadFours(dv, square + 3 * from_stride, from_stride);
      const auto ab = hn::InterleaveLower(dv, a, b), AB = hn::InterleaveUpper(dv, a, b);
      const auto ce = hn::InterleaveLower(dv, c, e), CE = hn::InterleaveUpper(dv, c, e);
      float* r = to + i * to_stride + j;
      store(pair(ab, ce, false), r);
      store(pair(ab, ce, true), r + to_stride);
      store(pair(AB, CE, false), r + 2 * to_stride);
      store(pair(AB, CE, true), r + 3 * to_stride);
    }
  }
}

#endif  // HWY_TARGET != HWY_SCALAR

void Transpose(const float* from, int64_t from_stride, float* to, int64_t to_stride, int64_t rows,
               int64_t columns, [[maybe_unused]] bool past_caches) {
#if HWY_TARGET != HWY_SCALAR
  if (rows >= 4 && columns >= 4) {
    if (columns < Step())
      return TransposeAs<false>(hn::CappedTag<float, 4>(), from, from_stride, to, to_stride, rows,
                                columns);
    const bool whole = reinterpret_cast<uintptr_t>(to) % (kLine * 4) == 0 &&
                       to_stride % kLine == 0 && columns % kLine == 0;
    if (!past_caches || !whole)
      return TransposeAs<false>(d, from, from_stride, to, to_stride, rows, columns);
    TransposeAs<true>(d, from, from_stride, to, to_stride, rows, columns);
    return hwy::FlushStream();
  }
#endif
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) to[i * to_stride + j] = from[j * from_stride + i];
}

// --- the products -----------------------------------------------------------------------------

// Sums in registers: two columns of vectors, and as many rows as leave room for the factors.
constexpr int kMostRows = HWY_TARGET <= HWY_AVX3 ? 14 : 6;

template <int kRows, int kVectors, bool kAdd>
HWY_INLINE void Block(const Product& p, const float* HWY_RESTRICT a, const float* HWY_RESTRICT b0,
                      const float* HWY_RESTRICT b1, float* HWY_RESTRICT r) {
  const int64_t step = Step(), row_stride = p.a_row_stride, depth_stride = p.a_depth_stride;
  V sum[kRows][kVectors];
#pragma GCC unroll 14
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v)
      sum[i][v] = kAdd ? hn::LoadU(d, r + i * p.r_row_stride + v * step) : hn::Zero(d);
  for (int64_t k = p.depth; k > 0; --k) {
    const V x0 = hn::LoadU(d, b0);
    const V x1 = kVectors > 1 ? hn::LoadU(d, b1) : x0;
#pragma GCC unroll 14
    for (int i = 0; i < kRows; ++i) {
      const V y = hn::Set(d, a[i * row_stride]);
      sum[i][0] = hn::MulAdd(y, x0, sum[i][0]);
      if constexpr (kVectors > 1) sum[i][1] = hn::MulAdd(y, x1, sum[i][1]);
    }
    a += depth_stride;
    b0 += kLine;
    b1 += kLine;
  }
#pragma GCC unroll 14
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) hn::StoreU(sum[i][v], d, r + i * p.r_row_stride + v * step);
}

template <int kRows, int kVectors, bool kAdd>
HWY_INLINE int64_t Rows(const Product& p, int64_t row, const float* a, const float* b0,
                        const float* b1, float* r) {
  for (; row + kRows <= p.rows; row += kRows)
    Block<kRows, kVectors, kAdd>(p, a + row * p.a_row_stride, b0, b1, r + row * p.r_row_stride);
  return row;
}

template <int kVectors, bool kAdd>
void Columns(const Product& p, const float* a, const float* b0, const float* b1, float* r) {
  int64_t row = 0;
  // Sums over windows have a multiple of 16 rows.
  if constexpr (kAdd && kMostRows > 8)
    row = Rows<8, kVectors, kAdd>(p, row, a, b0, b1, r);
  else
    row = Rows<kMostRows, kVectors, kAdd>(p, row, a, b0, b1, r);
  if constexpr (kMostRows > 8) row = Rows<8, kVectors, kAdd>(p, row, a, b0, b1, r);
  row = Rows<4, kVectors, kAdd>(p, row, a, b0, b1, r);
  row = Rows<2, kVectors, kAdd>(p, row, a, b0, b1, r);
  Rows<1, kVectors, kAdd>(p, row, a, b0, b1, r);
}

template <bool kAdd>
void MultiplyAs(const Product& p, const float* a, const float* b, float* r) {
  const int64_t step = Step();
  const auto at = [&](int64_t j) { return b + j / kLine * p.b_line_stride + j % kLine; };
  int64_t j = 0;
  for (; j + 2 * step <= p.columns; j += 2 * step)
    Columns<2, kAdd>(p, a, at(j), at(j + step), r + j);
  for (; j < p.columns; j += step) Columns<1, kAdd>(p, a, at(j), at(j), r + j);
}

void Multiply(const Product& p, const float* a, const float* b, float* r) {
  p.add ? MultiplyAs<true>(p, a, b, r) : MultiplyAs<false>(p, a, b, r);
}

bool IsFast() { return hn::Lanes(d) >= 8; }

}  // namespace HWY_NAMESPACE
}  // namespace horngate::native::winograd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace horngate::native::winograd {

HWY_EXPORT(IsFast);
HWY_EXPORT(TransformWindow);
HWY_EXPORT(TransformBack);
HWY_EXPORT(TransformTile);
HWY_EXPORT(TransformWeights);
HWY_EXPORT(TransformWeightsBack);
HWY_EXPORT(Transpose);
HWY_EXPORT(Multiply);

bool is_fast() { return HWY_DYNAMIC_DISPATCH(IsFast)(); }

void transform_window(const Pixels<const float>& x, int64_t channels, float* to,
                      int64_t place_stride) {
  HWY_DYNAMIC_DISPATCH(TransformWindow)(x, channels, to, place_stride);
}
void transform_back(const float* from, int64_t place_stride, int64_t channels,
                    const Pixels<float>& y) {
  HWY_DYNAMIC_DISPATCH(TransformBack)(from, place_stride, channels, y);
}
void transform_tile(const Pixels<const float>& dy, int64_t channels, float* to,
                    int64_t place_stride, int64_t line_stride) {
  HWY_DYNAMIC_DISPATCH(TransformTile)(dy, channels, to, place_stride, line_stride);
}
void transform_weights(const WeightPart& part, const float* w, int64_t begin, int64_t end,
                       float* to) {
  HWY_DYNAMIC_DISPATCH(TransformWeights)(part, w, begin, end, to);
}
void transform_weights_back(const WeightPart& part, const float* from, int64_t place_stride,
                            int64_t begin, int64_t end, float* dw) {
  HWY_DYNAMIC_DISPATCH(TransformWeightsBack)(part, from, place_stride, begin, end, dw);
}
void transpose(const float* from, int64_t from_stride, float* to, int64_t to_stride, int64_t rows,
               int64_t columns, bool past_caches) {
  HWY_DYNAMIC_DISPATCH(Transpose)
  (from, from_stride, to, to_stride, rows, columns, past_caches);
}
void multiply(const Product& p, const float* a, const float* b, float* r) {
  HWY_DYNAMIC_DISPATCH(Multiply)(p, a, b, r);
}

}  // namespace horngate::native::winograd
#endif  // HWY_ONCE
