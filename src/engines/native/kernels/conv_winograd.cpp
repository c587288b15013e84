// Convolutions with 3x3 filters and stride 1 by Winograd's method. Tiles of 4x4 pixels of y are taken in
// blocks whose transformed windows stay in the second-level cache. channels_first data goes through
// channels-last copies of a row of tiles. In three dimensions the first axis is summed directly: the planes
// of x that a plane of y sees count as additional channels.
#include <algorithm>
#include <cstring>
#include <vector>

#include "engines/native/kernels/conv_shape.h"
#include "engines/native/kernels/transpose_tile.h"
#include "engines/native/kernels/winograd.h"
#include "engines/native/kernels/workers.h"
#include "ir/switches.h"

namespace horngate::native {
namespace {

using winograd::kLine;
using winograd::kPlaces;
using winograd::kTile;
using winograd::kWindow;
using winograd::Pixels;

// The most that the transformed windows and tiles of a block may take.
constexpr int64_t kBlockBytes = 256 << 10;
constexpr int64_t kMostTiles = 64;
constexpr int64_t kWeightsPerTile = 4096;
// Transformed weights are four times as large: if they exceed the caches, a few tiles are not worth it.
constexpr int64_t kMostWeights = 512 * 512, kMostWeightsPerTile = 8192;
// Products run best with this many rows.
constexpr int64_t kGoodTiles = 14;

int64_t tile_count(const ConvShape& s) {
  return s.n * s.out[0] * ((s.out[1] + kTile - 1) / kTile) * ((s.out[2] + kTile - 1) / kTile);
}

/// A run: neighbouring tiles in one row of tiles of a plane.
struct Run {
  int64_t image, plane;
  int64_t row, column, count;  // in tiles
};

/// All tiles of y, as runs in order, and blocks of such runs.
class Tiles {
 public:
  Tiles(const ConvShape& s, int64_t least_tiles)
      : planes_(s.out[0]),
        rows_((s.out[1] + kTile - 1) / kTile),
        columns_((s.out[2] + kTile - 1) / kTile) {
    const int64_t channels = s.taps[0] * s.c, tile_bytes = kPlaces * (channels + s.o) * 4;
    const int64_t total = tile_count(s);
    // Each block reads all weights. Enough blocks for several threads, provided each has a good size.
    int64_t most = std::max(kBlockBytes / tile_bytes, channels * s.o / kWeightsPerTile);
    most = std::clamp(most, kGoodTiles, kMostTiles);
    most = std::max(least_tiles, std::min(most, std::max(kGoodTiles, total / 16)));
    const int64_t parts = (columns_ + most - 1) / most;
    chunk_ = (columns_ + parts - 1) / parts;
    chunks_ = (columns_ + chunk_ - 1) / chunk_;
    runs_ = s.n * planes_ * rows_ * chunks_;
    if (chunks_ == 1) choose_height(most);
  }
  int64_t runs() const { return runs_; }
  int64_t blocks() const { return (runs_ + height_ - 1) / height_; }
  int64_t first_run(int64_t block) const { return std::min(runs_, block * height_); }
  /// Tiles of the largest block, and of the longest run.
  int64_t tiles() const { return height_ * chunk_; }
  int64_t run_tiles() const { return chunk_; }
  Run run(int64_t index) const {
    const int64_t column = index % chunks_ * chunk_;
    const int64_t row = index / chunks_, plane = row / rows_;
    return {plane / planes_, plane % planes_, row % rows_, column,
            std::min(chunk_, columns_ - column)};
  }

 private:
  /// Chooses the runs per block so that few rows of the products are left over.
  void choose_height(int64_t most) {
    double best = 0;
    for (int64_t h = 1; h * chunk_ <= most && h <= runs_; ++h) {
      const int64_t tiles = h * chunk_,
                    rounded = (tiles + kGoodTiles - 1) / kGoodTiles * kGoodTiles;
      const double share = static_cast<double>(tiles) / static_cast<double>(rounded);
      if (share >= best) {
        best = share;
        height_ = h;
      }
    }
  }

  int64_t planes_, rows_, columns_, chunk_ = 1, chunks_ = 1, runs_ = 0, height_ = 1;
};

/// Pixels of x or y around the tiles of a run.
class Side {
 public:
  /// `size`: pixels per side of a window or tile; `low`: how far it starts before the tile.
  Side(const ConvShape& s, int64_t channels, const ConvShape::Axes& axes, int64_t size,
       const ConvShape::Axes& low)
      : channels_first_(s.channels_first),
        channels_(channels),
        axes_(axes),
        size_(size),
        low_(low),
        past_caches_(s.n * channels * plane_stride() * 4 >= kernels::kStreamBytes) {}

  int64_t stage_floats(int64_t run_tiles) const {
    return channels_first_ ? size_ * stage_width(run_tiles) * channels_ : 0;
  }
  /// channels_first: copies what tap `tap` of the first axis sees, with zeros outside the image.
  void fetch(const float* data, const Run& run, int64_t tap, float* stage) const {
    if (!channels_first_) return;
    const int64_t width = stage_width(run.count), first = run.column * kTile - low_[2];
    const int64_t begin = std::max<int64_t>(0, -first), end = std::min(width, axes_[2] - first);
    for (int64_t i = 0; i < size_; ++i) {
      float* to = stage + i * width * channels_;
      const int64_t row = run.row * kTile - low_[1] + i;
      if (!has_plane(run, tap) || row < 0 || row >= axes_[1] || end <= begin) {
        std::fill(to, to + width * channels_, 0.f);
        continue;
      }
      std::fill(to, to + begin * channels_, 0.f);
      winograd::transpose(data + at(run, tap) + row * axes_[2] + first + begin, plane_stride(),
                          to + begin * channels_, channels_, end - begin, channels_);
      std::fill(to + end * channels_, to + width * channels_, 0.f);
    }
  }
  /// channels_first: the reverse, for what is inside the image.
  void put(const float* stage, const Run& run, float* data) const {
    if (!channels_first_) return;
    const int64_t width = stage_width(run.count), column = run.column * kTile;
    const int64_t rows = std::min(size_, axes_[1] - run.row * kTile);
    float* to = data + at(run, 0) + run.row * kTile * axes_[2] + column;
    // Whole rows are contiguous in the planes too.
    if (width == axes_[2])
      return winograd::transpose(stage, channels_, to, plane_stride(), channels_, rows * width,
                                 past_caches_);
    const int64_t count = std::min(width, axes_[2] - column);
    for (int64_t i = 0; i < rows; ++i)
      winograd::transpose(stage + i * width * channels_, channels_, to + i * axes_[2],
                          plane_stride(), channels_, count, past_caches_);
  }
  /// The pixels of tile t of a run.
  template <class T>
  Pixels<T> pixels(T* data, const Run& run, int64_t tap, int64_t t, T* stage) const {
    if (channels_first_) {
      const int64_t width = stage_width(run.count);
      return {stage + t * kTile * channels_, width * channels_, channels_, 0, size_, 0, size_};
    }
    const int64_t row = run.row * kTile - low_[1], column = (run.column + t) * kTile - low_[2];
    return {data + at(run, tap) + (row * axes_[2] + column) * channels_,
            axes_[2] * channels_,
            channels_,
            -row,
            has_plane(run, tap) ? axes_[1] - row : -row,
            -column,
            axes_[2] - column};
  }

 private:
  int64_t stage_width(int64_t run_tiles) const { return run_tiles * kTile + size_ - kTile; }
  int64_t plane_of(const Run& run, int64_t tap) const { return run.plane - low_[0] + tap; }
  bool has_plane(const Run& run, int64_t tap) const {
    return plane_of(run, tap) >= 0 && plane_of(run, tap) < axes_[0];
  }
  /// channels_first: elements between channels.
  int64_t plane_stride() const { return axes_[0] * axes_[1] * axes_[2]; }
  /// Where the plane starts; in channels_first data, that of the first channel.
  int64_t at(const Run& run, int64_t tap) const {
    return run.image * channels_ * plane_stride() +
           plane_of(run, tap) * axes_[1] * axes_[2] * (channels_first_ ? 1 : channels_);
  }

  bool channels_first_;
  int64_t channels_;
  ConvShape::Axes axes_;
  int64_t size_;
  ConvShape::Axes low_;
  bool past_caches_;
};

/// Elements between places; an extra line keeps them out of each other's cache sets.
int64_t place_stride(int64_t tiles, int64_t channels) { return tiles * channels + kLine; }

size_t float_bytes(int64_t count) { return aligned_bytes(static_cast<size_t>(count) * 4); }

/// What y and dw share: tiles, the pixels around them, and the memory for a slot's block.
class Work {
 public:
  struct BlockMemory {
    float *windows, *tiles;    // transformed: [place][..], places x_stride and y_stride apart
    float *x_stage, *y_stage;  // channels_first: pixels of a run
  };

  /// `stages_overlap`: there are no tiles while windows are made, and no windows while tiles are used, so
  /// the stages of x and y can lie where the tiles will be and the windows were. That keeps a whole block
  /// in the cache.
  Work(const ConvShape& s, int64_t least_tiles, bool stages_overlap)
      : s(s),
        tiles(s, least_tiles),
        x(s, s.c, s.in, kWindow, s.low),
        y(s, s.o, s.out, kTile, {0, 0, 0}),
        channels(s.taps[0] * s.c),
        x_stride(place_stride(tiles.tiles(), channels)),
        y_stride(place_stride(tiles.tiles(), s.o)),
        stages_overlap_(stages_overlap),
        x_bytes_(float_bytes(kPlaces * x_stride)),
        y_bytes_(float_bytes(kPlaces * y_stride)),
        x_stage_bytes_(float_bytes(x.stage_floats(tiles.run_tiles()))),
        y_stage_bytes_(float_bytes(y.stage_floats(tiles.run_tiles()))) {
    if (!stages_overlap) return;
    x_bytes_ = std::max(x_bytes_, y_stage_bytes_);
    y_bytes_ = std::max(y_bytes_, x_stage_bytes_);
  }

  size_t slot_bytes() const {
    return x_bytes_ + y_bytes_ + (stages_overlap_ ? 0 : x_stage_bytes_ + y_stage_bytes_);
  }
  BlockMemory slot(char* memory) const {
    const auto at = [memory](size_t offset) { return reinterpret_cast<float*>(memory + offset); };
    float *windows = at(0), *own_tiles = at(x_bytes_);
    if (stages_overlap_) return {windows, own_tiles, own_tiles, windows};
    return {windows, own_tiles, at(x_bytes_ + y_bytes_), at(x_bytes_ + y_bytes_ + x_stage_bytes_)};
  }

  /// The windows of a run, transformed: [place][tile][tap of the first axis][channel].
  void transform_run(const float* data, const Run& run, float* stage, float* to) const {
    for (int64_t tap = 0; tap < s.taps[0]; ++tap) {
      x.fetch(data, run, tap, stage);
      for (int64_t t = 0; t < run.count; ++t)
        winograd::transform_window(x.pixels<const float>(data, run, tap, t, stage), s.c,
                                   to + (t * s.taps[0] + tap) * s.c, x_stride);
    }
  }

  const ConvShape s;
  const Tiles tiles;
  const Side x, y;
  const int64_t channels;  // of all planes seen
  const int64_t x_stride, y_stride;

 private:
  const bool stages_overlap_;
  size_t x_bytes_, y_bytes_, x_stage_bytes_, y_stage_bytes_;
};

/// y, or dx as the y of another convolution, whose weights have c and o exchanged and run backwards.
class WinogradConv final : public Kernel {
 public:
  WinogradConv(const ConvShape& s, bool flip)
      : w_(s, 1, true),
        flip_(flip),
        slots_(slots_for(w_.tiles.blocks())),
        pack_bytes_(float_bytes(kPlaces * w_.channels * s.o)),
        flip_bytes_(flip ? float_bytes(s.w_count()) : 0) {}

  size_t scratch_bytes() const override {
    return pack_bytes_ + std::max(flip_bytes_, w_.slot_bytes() * static_cast<size_t>(slots_));
  }
  size_t packed_bytes(size_t operand) const override { return operand == 1 ? pack_bytes_ : 0; }
  void pack(size_t, const void* from, void* to, void* scratch) override {
    pack_weights(static_cast<const float*>(from), static_cast<float*>(to), scratch);
  }
  void use_packed(size_t) override { is_packed_ = true; }

  void run(const void* const* in, void* const* out, RunContext& context) override {
    char* scratch = static_cast<char*>(context.scratch);
    const float* weights = static_cast<const float*>(in[1]);
    if (!is_packed_) {
      pack_weights(weights, reinterpret_cast<float*>(scratch), scratch + pack_bytes_);
      weights = reinterpret_cast<const float*>(scratch);
    }
    for_units(w_.tiles.blocks(), slots_, [&](int64_t slot, int64_t block) {
      run_block(static_cast<const float*>(in[0]), weights, static_cast<float*>(out[0]), block,
                w_.slot(scratch + pack_bytes_ + w_.slot_bytes() * static_cast<size_t>(slot)));
    });
  }

 private:
  void pack_weights(const float* w, float* to, void* scratch) const {
    const float* from = w;
    const int64_t c = w_.s.c, o = w_.s.o, total = w_.channels,
                  grain = std::max<int64_t>(1, (1 << 14) / o);
    if (flip_) {
      float* flipped = static_cast<float*>(scratch);
      flip_weights(w, w_.s.tap_count(), o, c, flipped);
      from = flipped;
    }
    parallel_for(total, grain, [=](int64_t begin, int64_t end) {
      for (int64_t at = begin / c * c; at < end; at += c)
        winograd::transform_weights({c, o, total, at}, from + at * 9 * o,
                                    std::max<int64_t>(0, begin - at), std::min(c, end - at), to);
    });
  }

  void run_block(const float* x, const float* weights, float* y, int64_t block,
                 const Work::BlockMemory& slot) const {
    const int64_t o = w_.s.o, channels = w_.channels;
    const int64_t first = w_.tiles.first_run(block), last = w_.tiles.first_run(block + 1);
    int64_t count = 0;
    for (int64_t i = first; i < last; ++i) {
      const Run run = w_.tiles.run(i);
      w_.transform_run(x, run, slot.x_stage, slot.windows + count * channels);
      count += run.count;
    }
    const winograd::Product product{count, o, channels, channels, 1, channels * kLine, o, false};
    for (int64_t p = 0; p < kPlaces; ++p)
      winograd::multiply(product, slot.windows + p * w_.x_stride, weights + p * channels * o,
                         slot.tiles + p * w_.y_stride);
    count = 0;
    for (int64_t i = first; i < last; ++i) {
      const Run run = w_.tiles.run(i);
      for (int64_t t = 0; t < run.count; ++t, ++count)
        winograd::transform_back(slot.tiles + count * o, w_.y_stride, o,
                                 w_.y.pixels<float>(y, run, 0, t, slot.y_stage));
      w_.y.put(slot.y_stage, run, y);
    }
  }

  const Work w_;
  const bool flip_;
  bool is_packed_ = false;
  const int64_t slots_;
  const size_t pack_bytes_, flip_bytes_;
};

/// dw: sums over all tiles, made in units of neighbouring blocks and added first to last.
class WinogradFilterGrad final : public Kernel {
 public:
  static constexpr int64_t kMostUnits = 8;
  static constexpr int64_t kSumBytes = 64 << 20;
  // Each block reads and writes all sums once.
  static constexpr int64_t kLeastTiles = 32;

  explicit WinogradFilterGrad(const ConvShape& s)
      : w_(s, kLeastTiles, false),
        sum_stride_(w_.channels * s.o + kLine),
        sum_bytes_(float_bytes(kPlaces * sum_stride_)) {
    const int64_t most = std::max<int64_t>(1, kSumBytes / static_cast<int64_t>(sum_bytes_));
    units_ = std::min({kMostUnits, most, (w_.tiles.blocks() + 1) / 2});
    slots_ = slots_for(units_);
  }

  size_t scratch_bytes() const override {
    return sum_bytes_ * static_cast<size_t>(units_) + w_.slot_bytes() * static_cast<size_t>(slots_);
  }

  void run(const void* const* in, void* const* out, RunContext& context) override {
    char* scratch = static_cast<char*>(context.scratch);
    char* slots = scratch + sum_bytes_ * static_cast<size_t>(units_);
    for_units(units_, slots_, [&](int64_t slot, int64_t unit) {
      float* sums = reinterpret_cast<float*>(scratch + sum_bytes_ * static_cast<size_t>(unit));
      const int64_t first = w_.tiles.blocks() * unit / units_,
                    last = w_.tiles.blocks() * (unit + 1) / units_;
      for (int64_t block = first; block < last; ++block)
        run_block(static_cast<const float*>(in[0]), static_cast<const float*>(in[1]), sums,
                  block > first, block,
                  w_.slot(slots + w_.slot_bytes() * static_cast<size_t>(slot)));
    });
    finish(reinterpret_cast<float*>(scratch), static_cast<float*>(out[0]));
  }

 private:
  void run_block(const float* x, const float* dy, float* sums, bool add, int64_t block,
                 const Work::BlockMemory& slot) const {
    const int64_t o = w_.s.o, channels = w_.channels, line_stride = w_.tiles.tiles() * kLine;
    int64_t count = 0;
    for (int64_t i = w_.tiles.first_run(block); i < w_.tiles.first_run(block + 1); ++i) {
      const Run run = w_.tiles.run(i);
      w_.transform_run(x, run, slot.x_stage, slot.windows + count * channels);
      w_.y.fetch(dy, run, 0, slot.y_stage);
      for (int64_t t = 0; t < run.count; ++t, ++count)
        winograd::transform_tile(w_.y.pixels<const float>(dy, run, 0, t, slot.y_stage), o,
                                 slot.tiles + count * kLine, w_.y_stride, line_stride);
    }
    const winograd::Product product{channels, o, count, 1, channels, line_stride, o, add};
    for (int64_t p = 0; p < kPlaces; ++p)
      winograd::multiply(product, slot.windows + p * w_.x_stride, slot.tiles + p * w_.y_stride,
                         sums + p * sum_stride_);
  }

  void finish(float* sums, float* dw) const {
    const int64_t step = static_cast<int64_t>(sum_bytes_ / sizeof(float)), c = w_.s.c, o = w_.s.o;
    parallel_for(w_.channels, std::max<int64_t>(1, (1 << 12) / o), [&](int64_t begin, int64_t end) {
      for (int64_t p = 0; p < kPlaces; ++p)
        for (int64_t unit = 1; unit < units_; ++unit) {
          float* to = sums + p * sum_stride_;
          const float* from = to + unit * step;
          for (int64_t i = begin * o; i < end * o; ++i) to[i] += from[i];
        }
      for (int64_t at = begin / c * c; at < end; at += c)
        winograd::transform_weights_back({c, o, w_.channels, at}, sums, sum_stride_,
                                         std::max<int64_t>(0, begin - at), std::min(c, end - at),
                                         dw + at * 9 * o);
    });
  }

  const Work w_;
  const int64_t sum_stride_;
  const size_t sum_bytes_;
  int64_t units_ = 1, slots_ = 1;
};

/// Whether Winograd's method is possible for y and pays.
bool pays(const ConvShape& s) {
  constexpr ConvShape::Axes kOnes{1, 1, 1};
  if (s.rank < 2 || s.groups != 1 || s.taps[1] != 3 || s.taps[2] != 3 || s.stride != kOnes ||
      s.dilation != kOnes || s.c % kLine || s.o % kLine)
    return false;
  if (s.low[0] < 0 || s.low[1] < 0 || s.low[2] < 0) return false;
  const int64_t weights = s.taps[0] * s.c * s.o;
  if (weights > kMostWeights || weights > tile_count(s) * kMostWeightsPerTile) return false;
  // Tiles reach beyond the image if its sides are not multiples of four.
  const auto up = [](int64_t n) { return (n + kTile - 1) / kTile * kTile; };
  return 2 * s.out[1] * s.out[2] > up(s.out[1]) * up(s.out[2]);
}

/// For dw: the sums, four times as large as the weights, must be few compared with the tiles.
bool pays_for_weights(const ConvShape& s) {
  return pays(s) && tile_count(s) * 1024 >= s.taps[0] * s.c * s.o;
}

}  // namespace

KernelPtr make_conv_winograd(const ConvShape& s, ConvResult result) {
  if (!winograd::is_fast() || !is_on(Pass::winograd)) return nullptr;
  if (result != ConvResult::dx) {
    if (result == ConvResult::dw)
      return pays_for_weights(s) ? std::make_unique<WinogradFilterGrad>(s) : nullptr;
    return pays(s) ? std::make_unique<WinogradConv>(s, false) : nullptr;
  }
  const ConvShape exchanged = swapped(s);
  if (!pays(exchanged)) return nullptr;
  return std::make_unique<WinogradConv>(exchanged, true);
}

}  // namespace horngate::native
