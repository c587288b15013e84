// The SIMD loops of float products.
#include "engines/native/kernels/gemm.h"
#include "engines/native/fused/targets.h"  // before Highway
#include "engines/native/kernels/transpose_tile.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/native/kernels/gemm.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace horngate::native {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// Sums kept in registers, of which there are 32 or 16, besides the factors: a tile is kSums / kVectors rows of
// C by kVectors vectors.
#if HWY_TARGET <= HWY_AVX3
constexpr int kSums = 24;
#else
constexpr int kSums = 12;
#endif
constexpr int kMostVectors = 3;
// Some rows of A, kDepth elements of each, stay in the second-level cache while panels of B pass by: kDepth
// rows of a tile's width. kDepth is large because each block of k reads and writes C again.
constexpr int64_t kBlockRows = 192, kDepth = 528;
// The first tile prefetches rows of B this far ahead: they are too far apart for the CPU to do it.
constexpr int64_t kAhead = 12;

int64_t LaneCount() { return static_cast<int64_t>(hn::Lanes(D())); }

/// One tile of C. Rows of B come from the panel, or for the first tile, which fills the panel, from B itself.
struct Tile {
  const float* HWY_RESTRICT a;
  int64_t a_row, a_column;
  const float* HWY_RESTRICT b;
  int64_t ldb;
  float* HWY_RESTRICT panel;
  int64_t depth;
  float* HWY_RESTRICT c;
  int64_t ldc;
  bool add;
};

template <int kRows, int kVectors, bool kFill>
HWY_INLINE void Accumulate(const Tile& t, V (&sum)[kRows][kVectors]) {
  const D d;
  const int64_t lanes = LaneCount(), row = t.a_row, column = t.a_column;
  const float* HWY_RESTRICT a = t.a;
  const float* HWY_RESTRICT b = t.b;
  float* HWY_RESTRICT panel = t.panel;
  for (int64_t k = 0; k < t.depth; ++k, a += column, panel += kVectors * lanes) {
    V factor[kVectors];
    HWY_UNROLL(3)
    for (int v = 0; v < kVectors; ++v) {
      if constexpr (kFill) {
        factor[v] = hn::LoadU(d, b + v * lanes);
        hn::Store(factor[v], d, panel + v * lanes);
        __builtin_prefetch(b + v * lanes + kAhead * t.ldb);
      } else {
        factor[v] = hn::Load(d, panel + v * lanes);
      }
    }
    if constexpr (kFill) b += t.ldb;
    HWY_UNROLL(24)
    for (int r = 0; r < kRows; ++r) {
      const V x = hn::Set(d, a[r * row]);
      HWY_UNROLL(3)
      for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(x, factor[v], sum[r][v]);
    }
  }
}

template <int kRows, int kVectors, bool kFill>
void RunTile(const Tile& t) {
  const D d;
  const int64_t lanes = LaneCount();
  V sum[kRows][kVectors];
  HWY_UNROLL(24)
  for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(3)
    for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::Zero(d);
  }
  // Meanwhile prefetch where it goes.
  HWY_UNROLL(24)
  for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(3)
    for (int v = 0; v < kVectors; ++v) __builtin_prefetch(t.c + r * t.ldc + v * lanes, 1);
  }
  Accumulate<kRows, kVectors, kFill>(t, sum);
  // C is added last, so a large value in it costs precision once, not at each product.
  if (t.add) {
    HWY_UNROLL(24)
    for (int r = 0; r < kRows; ++r) {
      HWY_UNROLL(3)
      for (int v = 0; v < kVectors; ++v)
        sum[r][v] = hn::Add(sum[r][v], hn::LoadU(d, t.c + r * t.ldc + v * lanes));
    }
  }
  HWY_UNROLL(24)
  for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(3)
    for (int v = 0; v < kVectors; ++v) hn::StoreU(sum[r][v], d, t.c + r * t.ldc + v * lanes);
  }
}

using TileFunction = void (*)(const Tile&);
template <int kVectors, bool kFill, int... kRow>
TileFunction FindTile(int64_t rows, std::integer_sequence<int, kRow...>) {
  static constexpr TileFunction kTiles[] = {RunTile<kRow + 1, kVectors, kFill>...};
  return kTiles[rows - 1];
}

void CopyRows(const float* from, int64_t from_row, float* to, int64_t to_row, int64_t rows,
              int64_t columns) {
  for (int64_t i = 0; i < rows; ++i) std::copy_n(from + i * from_row, columns, to + i * to_row);
}

/// A tile of which C has only the first `columns`.
void RunPart(TileFunction run, Tile t, int64_t rows, int64_t columns, int64_t width) {
  HWY_ALIGN float part[kSums * HWY_MAX_BYTES / sizeof(float)];
  float* c = t.c;
  const int64_t ldc = t.ldc;
  t.c = part;
  t.ldc = width;
  if (t.add) CopyRows(c, ldc, part, width, rows, columns);
  run(t);
  CopyRows(part, width, c, ldc, rows, columns);
}

/// Rows of B for the first `columns` of a panel; the others are zero.
void FillPanel(const Gemm& g, const Tile& t, int64_t columns, int64_t width) {
  if (columns < width) std::fill(t.panel, t.panel + width * t.depth, 0.0f);
  if (g.b_turned)
    kernels::transpose_block<false>(reinterpret_cast<const uint32_t*>(t.b), t.ldb,
                                    reinterpret_cast<uint32_t*>(t.panel), width, t.depth, columns);
  else
    CopyRows(t.b, t.ldb, t.panel, width, t.depth, columns);
}

/// The columns [j, j + kVectors vectors) of some rows of C, with the rows [first, first + t.depth) of B.
template <int kVectors>
void RunPanel(const Gemm& g, Tile t, int64_t rows, int64_t j, int64_t first) {
  constexpr int64_t kMostRows = kSums / kVectors;
  constexpr auto kSizes = std::make_integer_sequence<int, kMostRows>();
  const int64_t width = kVectors * LaneCount(), columns = std::min(width, g.n - j);
  t.b = g.b_turned ? g.b + j * g.ldb + first : g.b + first * g.ldb + j;
  t.c += j;
  bool fill = columns == width && !g.b_turned;
  if (!fill) FillPanel(g, t, columns, width);
  for (int64_t i = 0; i < rows; i += kMostRows) {
    const int64_t count = std::min(kMostRows, rows - i);
    const TileFunction run =
        fill ? FindTile<kVectors, true>(count, kSizes) : FindTile<kVectors, false>(count, kSizes);
    if (columns == width)
      run(t);
    else
      RunPart(run, t, count, columns, width);
    fill = false;
    t.a += count * t.a_row;
    t.c += count * t.ldc;
  }
}

/// The size of equal parts of `count`, none larger than `most`, as multiples of `unit`.
HWY_INLINE int64_t Part(int64_t count, int64_t most, int64_t unit) {
  const int64_t parts = (count + most - 1) / most, part = (count + parts - 1) / parts;
  return std::min(count, (part + unit - 1) / unit * unit);
}

void Run(const Gemm& g) {
  HWY_ALIGN float panel[kDepth * kMostVectors * HWY_MAX_BYTES / sizeof(float)];
  const int64_t lanes = LaneCount();
  for (int64_t i = 0, rows; i < g.m; i += rows) {
    rows = Part(g.m - i, kBlockRows, kSums);
    for (int64_t k = 0, depth; k < g.k; k += depth) {
      depth = Part(g.k - k, kDepth, 16);
      const Tile t{.a = g.a + i * g.a_row + k * g.a_column,
                   .a_row = g.a_row,
                   .a_column = g.a_column,
                   .b = nullptr,
                   .ldb = g.ldb,
                   .panel = panel,
                   .depth = depth,
                   .c = g.c + i * g.ldc,
                   .ldc = g.ldc,
                   .add = g.add || k > 0};
      for (int64_t j = 0; j < g.n; j += kMostVectors * lanes)
        switch (std::min<int64_t>(kMostVectors, (g.n - j + lanes - 1) / lanes)) {
          case 1: RunPanel<1>(g, t, rows, j, k); break;
          case 2: RunPanel<2>(g, t, rows, j, k); break;
          default: RunPanel<3>(g, t, rows, j, k);
        }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace horngate::native
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace horngate::native {

HWY_EXPORT(LaneCount);
HWY_EXPORT(Run);

void run_gemm(const Gemm& g) { HWY_DYNAMIC_DISPATCH(Run)(g); }

int64_t gemm_lanes() { return HWY_DYNAMIC_DISPATCH(LaneCount)(); }

}  // namespace horngate::native
#endif  // HWY_ONCE
