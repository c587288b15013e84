// The SIMD loops of products with packed matrices.
#include "engines/native/kernels/packed_gemm.h"
#include "engines/native/fused/targets.h"  // before Highway
#include "engines/native/kernels/transpose_tile.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/native/kernels/packed_gemm.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace horngate::native {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
// kMostRows x 2 vectors of sums, two vectors of the panel and a factor stay in the 32 or 16 registers.
#if HWY_TARGET <= HWY_AVX3
constexpr int kMostRows = 8;
#else
constexpr int kMostRows = 6;
#endif

int64_t Width() { return 2 * static_cast<int64_t>(hn::Lanes(D())); }

/// kRows rows times one panel; writes `left` columns of it.
template <int kRows>
HWY_INLINE void Tile(const PackedProduct& p, const float* HWY_RESTRICT a,
                     const float* HWY_RESTRICT panel, float* HWY_RESTRICT c, int64_t left) {
  const D d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  V low[kRows], high[kRows];
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) low[r] = high[r] = hn::Zero(d);
  for (int64_t k = 0; k < p.k; ++k) {
    const V b0 = hn::Load(d, panel), b1 = hn::Load(d, panel + lanes);
    HWY_UNROLL(8)
    for (int r = 0; r < kRows; ++r) {
      const V x = hn::Set(d, a[r * p.row]);
      low[r] = hn::MulAdd(x, b0, low[r]);
      high[r] = hn::MulAdd(x, b1, high[r]);
    }
    a += p.column;
    panel += 2 * lanes;
  }
  if (left >= 2 * lanes) {
    HWY_UNROLL(8)
    for (int r = 0; r < kRows; ++r) {
      hn::StoreU(low[r], d, c + r * p.n);
      hn::StoreU(high[r], d, c + r * p.n + lanes);
    }
    return;
  }
  HWY_ALIGN float row[2 * HWY_MAX_BYTES / sizeof(float)];
  for (int r = 0; r < kRows; ++r) {
    hn::Store(low[r], d, row);
    hn::Store(high[r], d, row + lanes);
    std::copy(row, row + left, c + r * p.n);
  }
}

/// One row times four panels: enough sums to hide the latency of a multiply-add.
HWY_INLINE void Row(const PackedProduct& p, const float* HWY_RESTRICT panels, float* c) {
  const D d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), next = 2 * lanes * p.k;
  V low[4], high[4];
  HWY_UNROLL(4)
  for (int j = 0; j < 4; ++j) low[j] = high[j] = hn::Zero(d);
  for (int64_t k = 0; k < p.k; ++k) {
    const V x = hn::Set(d, p.a[k * p.column]);
    HWY_UNROLL(4)
    for (int j = 0; j < 4; ++j) {
      const float* b = panels + j * next + k * 2 * lanes;
      low[j] = hn::MulAdd(x, hn::Load(d, b), low[j]);
      high[j] = hn::MulAdd(x, hn::Load(d, b + lanes), high[j]);
    }
  }
  HWY_UNROLL(4)
  for (int j = 0; j < 4; ++j) {
    hn::StoreU(low[j], d, c + j * 2 * lanes);
    hn::StoreU(high[j], d, c + j * 2 * lanes + lanes);
  }
}

using TileFunction = void (*)(const PackedProduct&, const float*, const float*, float*, int64_t);
template <int kRows>
void TileOf(const PackedProduct& p, const float* a, const float* panel, float* c, int64_t left) {
  Tile<kRows>(p, a, panel, c, left);
}

TileFunction FindTile(int64_t rows) {
  static constexpr TileFunction kTiles[] = {
      TileOf<1>, TileOf<2>, TileOf<3>, TileOf<4>, TileOf<5>, TileOf<6>,
#if HWY_TARGET <= HWY_AVX3
      TileOf<7>, TileOf<8>,
#endif
  };
  return kTiles[rows - 1];
}

void Run(const PackedProduct& p, int64_t first, int64_t last) {
  const int64_t width = Width(), size = width * p.k;
  int64_t j = first;
  if (p.m == 1)
    for (; j + 4 <= last && (j + 4) * width <= p.n; j += 4)
      Row(p, p.panels + j * size, p.c + j * width);
  // As many rows as stay in the second-level cache, cut evenly into tiles.
  const int64_t most =
      std::max<int64_t>(kMostRows, (int64_t{64} << 10) / std::max<int64_t>(1, p.k));
  for (int64_t start = 0; start < p.m; start += most) {
    const int64_t rows = std::min(most, p.m - start), tiles = (rows + kMostRows - 1) / kMostRows;
    for (int64_t panel = j; panel < last; ++panel)
      for (int64_t t = 0, i = 0; t < tiles; ++t) {
        const int64_t count = (rows - i + tiles - t - 1) / (tiles - t), at = start + i;
        FindTile(count)(p, p.a + at * p.row, p.panels + panel * size,
                        p.c + at * p.n + panel * width, p.n - panel * width);
        i += count;
      }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace horngate::native
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace horngate::native {

HWY_EXPORT(Width);
HWY_EXPORT(Run);

int64_t panel_width() { return HWY_DYNAMIC_DISPATCH(Width)(); }

int64_t panel_count(int64_t n) { return (n + panel_width() - 1) / panel_width(); }

int64_t packed_floats(int64_t n, int64_t k) { return panel_count(n) * panel_width() * k; }

void pack_panels(bool transposed, int64_t n, int64_t k, const float* b, int64_t ldb, float* to,
                 int64_t first, int64_t last) {
  const int64_t width = panel_width();
  for (int64_t panel = first; panel < last; ++panel) {
    const int64_t j = panel * width, count = std::min(width, n - j);
    float* here = to + j * k;
    if (count < width) std::fill(here, here + width * k, 0.0f);
    if (transposed)
      kernels::transpose_block<false>(reinterpret_cast<const uint32_t*>(b + j * ldb), ldb,
                                      reinterpret_cast<uint32_t*>(here), width, k, count);
    else
      for (int64_t i = 0; i < k; ++i) std::copy_n(b + i * ldb + j, count, here + i * width);
  }
}

void run_panels(const PackedProduct& p, int64_t first, int64_t last) {
  HWY_DYNAMIC_DISPATCH(Run)(p, first, last);
}

}  // namespace horngate::native
#endif  // HWY_ONCE
