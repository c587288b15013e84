// Convolutions with 3x3 filters and stride 1 by Winograd's way. Tiles of 4x4 pixels of y are taken
// in blocks whose windows, transformed, stay in the second-level cache. channels_first data passes
// through channels-last copies of a row of tiles.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "engines/native/kernels/conv_shape.h"
#include "engines/native/kernels/transpose_tile.h"
#include "engines/native/kernels/winograd.h"
#include "engines/native/kernels/workers.h"

namespace horngate::native {
namespace {

using winograd::kLine;
using winograd::kPlaces;
using winograd::kTile;
using winograd::kWindow;
using winograd::Pixels;

// What the transformed windows and tiles of a block may take.
constexpr int64_t kBlockBytes = 640 << 10;
constexpr int64_t kMostTiles = 64;
// Rows of the products that run best.
constexpr int64_t kGoodTiles = 14;

/// A run: neighbouring tiles in one row of tiles of an image.
struct Run {
  int64_t image, row, column, count;  // row and column in tiles
};

/// All tiles of y, as runs in order, and blocks of such runs.
class Tiles {
 public:
  Tiles(const ConvShape& s, int64_t least_tiles)
      : rows_((s.out[1] + kTile - 1) / kTile), columns_((s.out[2] + kTile - 1) / kTile) {
    const int64_t total = s.n * rows_ * columns_, tile_bytes = kPlaces * (s.c + s.o) * 4;
    // Enough blocks for some threads, as long as a block keeps a good size.
    int64_t most = std::clamp<int64_t>(kBlockBytes / tile_bytes, kGoodTiles, kMostTiles);
    most = std::max(least_tiles, std::min(most, std::max(kGoodTiles, total / 16)));
    const int64_t parts = (columns_ + most - 1) / most;
    chunk_ = (columns_ + parts - 1) / parts;
    chunks_ = (columns_ + chunk_ - 1) / chunk_;
    runs_ = s.n * rows_ * chunks_;
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
    return {index / chunks_ / rows_, index / chunks_ % rows_, column,
            std::min(chunk_, columns_ - column)};
  }

 private:
  /// Runs per block, so that few rows of the products are left over.
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

  int64_t rows_, columns_, chunk_ = 1, chunks_ = 1, runs_ = 0, height_ = 1;
};

/// Pixels of x or y around the tiles of a run.
class Side {
 public:
  /// `size`: pixels per tile and side, window or tile; `low`: how far they begin before the tile.
  Side(const ConvShape& s, int64_t channels, const ConvShape::Axes& axes, int64_t size,
       int64_t low1, int64_t low2)
      : channels_first_(s.channels_first),
        channels_(channels),
        height_(axes[1]),
        width_(axes[2]),
        size_(size),
        low1_(low1),
        low2_(low2) {}

  int64_t stage_floats(int64_t run_tiles) const {
    return channels_first_ ? size_ * stage_width(run_tiles) * channels_ : 0;
  }
  /// channels_first: copies what the run sees, with zeros outside of the image.
  void fetch(const float* data, const Run& run, float* stage) const {
    if (!channels_first_) return;
    const int64_t width = stage_width(run.count), first = run.column * kTile - low2_;
    const int64_t begin = std::max<int64_t>(0, -first), end = std::min(width, width_ - first);
    const float* image = data + run.image * channels_ * height_ * width_;
    for (int64_t i = 0; i < size_; ++i) {
      float* to = stage + i * width * channels_;
      const int64_t row = run.row * kTile - low1_ + i;
      if (row < 0 || row >= height_ || end <= begin) {
        std::fill(to, to + width * channels_, 0.f);
        continue;
      }
      std::fill(to, to + begin * channels_, 0.f);
      transpose(image + row * width_ + first + begin, height_ * width_, to + begin * channels_,
                channels_, end - begin, channels_);
      std::fill(to + end * channels_, to + width * channels_, 0.f);
    }
  }
  /// channels_first: the other way; zeros are left out.
  void put(const float* stage, const Run& run, float* data) const {
    if (!channels_first_) return;
    const int64_t width = stage_width(run.count), column = run.column * kTile;
    const int64_t count = std::min(width, width_ - column);
    float* image = data + run.image * channels_ * height_ * width_;
    for (int64_t i = 0; i < std::min(size_, height_ - run.row * kTile); ++i)
      transpose(stage + i * width * channels_, channels_,
                image + (run.row * kTile + i) * width_ + column, height_ * width_, channels_,
                count);
  }
  /// The pixels of tile t of a run.
  template <class T>
  Pixels<T> pixels(T* data, const Run& run, int64_t t, T* stage) const {
    if (channels_first_) {
      const int64_t width = stage_width(run.count);
      return {stage + t * kTile * channels_, width * channels_, channels_, 0, size_, 0, size_};
    }
    const int64_t row = run.row * kTile - low1_, column = (run.column + t) * kTile - low2_;
    return {data + ((run.image * height_ + row) * width_ + column) * channels_,
            width_ * channels_,
            channels_,
            -row,
            height_ - row,
            -column,
            width_ - column};
  }

 private:
  int64_t stage_width(int64_t run_tiles) const { return run_tiles * kTile + size_ - kTile; }
  // As integers, since that is how the shared code moves elements; the compiler is told.
  static void transpose(const float* from, int64_t from_stride, float* to, int64_t to_stride,
                        int64_t rows, int64_t columns) {
    using Word __attribute__((may_alias)) = uint32_t;
    kernels::transpose_block<false>(reinterpret_cast<const Word*>(from), from_stride,
                                    reinterpret_cast<Word*>(to), to_stride, rows, columns);
  }

  bool channels_first_;
  int64_t channels_, height_, width_, size_, low1_, low2_;
};

/// Elements from place to place; a line more than needed keeps them out of each other's cache sets.
int64_t place_stride(int64_t tiles, int64_t channels) { return tiles * channels + kLine; }

size_t float_bytes(int64_t count) { return aligned_bytes(static_cast<size_t>(count) * 4); }

/// y, or dx as the y of another convolution: its weights have c and o exchanged and run backwards.
class WinogradConv final : public Kernel {
 public:
  WinogradConv(const ConvShape& s, bool flip)
      : s_(s),
        flip_(flip),
        tiles_(s, 1),
        x_(s, s.c, s.in, kWindow, s.low[1], s.low[2]),
        y_(s, s.o, s.out, kTile, 0, 0),
        x_stride_(place_stride(tiles_.tiles(), s.c)),
        y_stride_(place_stride(tiles_.tiles(), s.o)),
        slots_(slots_for(tiles_.blocks())) {
    pack_bytes_ = float_bytes(kPlaces * s.c * s.o);
    flip_bytes_ = flip ? float_bytes(s.w_count()) : 0;
    x_bytes_ = float_bytes(kPlaces * x_stride_);
    y_bytes_ = float_bytes(kPlaces * y_stride_);
    x_stage_bytes_ = float_bytes(x_.stage_floats(tiles_.run_tiles()));
    slot_bytes_ =
        x_bytes_ + y_bytes_ + x_stage_bytes_ + float_bytes(y_.stage_floats(tiles_.run_tiles()));
  }

  size_t scratch_bytes() const override {
    return pack_bytes_ + std::max(flip_bytes_, slot_bytes_ * static_cast<size_t>(slots_));
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
    for_units(tiles_.blocks(), slots_, [&](int64_t slot, int64_t block) {
      run_block(static_cast<const float*>(in[0]), weights, static_cast<float*>(out[0]), block,
                scratch + pack_bytes_ + slot_bytes_ * static_cast<size_t>(slot));
    });
  }

 private:
  void pack_weights(const float* w, float* to, void* scratch) const {
    const float* from = w;
    const int64_t c = s_.c, o = s_.o, grain = std::max<int64_t>(1, (1 << 14) / o);
    if (flip_) {
      float* flipped = static_cast<float*>(scratch);
      flip_weights(w, 9, o, c, flipped);
      from = flipped;
    }
    parallel_for(c, grain, [=](int64_t begin, int64_t end) {
      winograd::transform_weights(from, c, o, begin, end, to);
    });
  }

  void run_block(const float* x, const float* weights, float* y, int64_t block, char* slot) const {
    float* windows = reinterpret_cast<float*>(slot);
    float* sums = reinterpret_cast<float*>(slot + x_bytes_);
    float* x_stage = reinterpret_cast<float*>(slot + x_bytes_ + y_bytes_);
    float* y_stage = reinterpret_cast<float*>(slot + x_bytes_ + y_bytes_ + x_stage_bytes_);
    const int64_t first = tiles_.first_run(block), last = tiles_.first_run(block + 1);
    int64_t count = 0;
    for (int64_t i = first; i < last; ++i) {
      const Run run = tiles_.run(i);
      x_.fetch(x, run, x_stage);
      for (int64_t t = 0; t < run.count; ++t, ++count)
        winograd::transform_window(x_.pixels<const float>(x, run, t, x_stage), s_.c,
                                   windows + count * s_.c, x_stride_);
    }
    const winograd::Product product{count, s_.o, s_.c, s_.c, 1, s_.c * kLine, s_.o, false};
    for (int64_t p = 0; p < kPlaces; ++p)
      winograd::multiply(product, windows + p * x_stride_, weights + p * s_.c * s_.o,
                         sums + p * y_stride_);
    count = 0;
    for (int64_t i = first; i < last; ++i) {
      const Run run = tiles_.run(i);
      for (int64_t t = 0; t < run.count; ++t, ++count)
        winograd::transform_back(sums + count * s_.o, y_stride_, s_.o,
                                 y_.pixels<float>(y, run, t, y_stage));
      y_.put(y_stage, run, y);
    }
  }

  ConvShape s_;
  bool flip_, is_packed_ = false;
  Tiles tiles_;
  Side x_, y_;
  int64_t x_stride_, y_stride_, slots_;
  size_t pack_bytes_, flip_bytes_, x_bytes_, y_bytes_, x_stage_bytes_, slot_bytes_;
};

/// dw: sums over all tiles, made in units of neighbouring blocks and added up first to last.
class WinogradFilterGrad final : public Kernel {
 public:
  static constexpr int64_t kMostUnits = 8;
  static constexpr int64_t kSumBytes = 64 << 20;
  // Each block reads and writes all sums once.
  static constexpr int64_t kLeastTiles = 32;

  explicit WinogradFilterGrad(const ConvShape& s)
      : s_(s),
        tiles_(s, kLeastTiles),
        x_(s, s.c, s.in, kWindow, s.low[1], s.low[2]),
        y_(s, s.o, s.out, kTile, 0, 0),
        x_stride_(place_stride(tiles_.tiles(), s.c)),
        y_stride_(place_stride(tiles_.tiles(), s.o)),
        sum_stride_(s.c * s.o + kLine) {
    sum_bytes_ = float_bytes(kPlaces * sum_stride_);
    const int64_t most = std::max<int64_t>(1, kSumBytes / static_cast<int64_t>(sum_bytes_));
    units_ = std::min({kMostUnits, most, (tiles_.blocks() + 3) / 4});
    slots_ = slots_for(units_);
    x_bytes_ = float_bytes(kPlaces * x_stride_);
    y_bytes_ = float_bytes(kPlaces * y_stride_);
    x_stage_bytes_ = float_bytes(x_.stage_floats(tiles_.run_tiles()));
    slot_bytes_ =
        x_bytes_ + y_bytes_ + x_stage_bytes_ + float_bytes(y_.stage_floats(tiles_.run_tiles()));
  }

  size_t scratch_bytes() const override {
    return sum_bytes_ * static_cast<size_t>(units_) + slot_bytes_ * static_cast<size_t>(slots_);
  }

  void run(const void* const* in, void* const* out, RunContext& context) override {
    char* scratch = static_cast<char*>(context.scratch);
    char* slots = scratch + sum_bytes_ * static_cast<size_t>(units_);
    for_units(units_, slots_, [&](int64_t slot, int64_t unit) {
      float* sums = reinterpret_cast<float*>(scratch + sum_bytes_ * static_cast<size_t>(unit));
      const int64_t first = tiles_.blocks() * unit / units_,
                    last = tiles_.blocks() * (unit + 1) / units_;
      for (int64_t block = first; block < last; ++block)
        run_block(static_cast<const float*>(in[0]), static_cast<const float*>(in[1]), sums,
                  block > first, block, slots + slot_bytes_ * static_cast<size_t>(slot));
    });
    finish(reinterpret_cast<float*>(scratch), static_cast<float*>(out[0]));
  }

 private:
  void run_block(const float* x, const float* dy, float* sums, bool add, int64_t block,
                 char* slot) const {
    float* windows = reinterpret_cast<float*>(slot);
    float* tiles = reinterpret_cast<float*>(slot + x_bytes_);
    float* x_stage = reinterpret_cast<float*>(slot + x_bytes_ + y_bytes_);
    float* y_stage = reinterpret_cast<float*>(slot + x_bytes_ + y_bytes_ + x_stage_bytes_);
    const int64_t line_stride = tiles_.tiles() * kLine;
    int64_t count = 0;
    for (int64_t i = tiles_.first_run(block); i < tiles_.first_run(block + 1); ++i) {
      const Run run = tiles_.run(i);
      x_.fetch(x, run, x_stage);
      y_.fetch(dy, run, y_stage);
      for (int64_t t = 0; t < run.count; ++t, ++count) {
        winograd::transform_window(x_.pixels<const float>(x, run, t, x_stage), s_.c,
                                   windows + count * s_.c, x_stride_);
        winograd::transform_tile(y_.pixels<const float>(dy, run, t, y_stage), s_.o,
                                 tiles + count * kLine, y_stride_, line_stride);
      }
    }
    const winograd::Product product{s_.c, s_.o, count, 1, s_.c, line_stride, s_.o, add};
    for (int64_t p = 0; p < kPlaces; ++p)
      winograd::multiply(product, windows + p * x_stride_, tiles + p * y_stride_,
                         sums + p * sum_stride_);
  }

  void finish(float* sums, float* dw) const {
    const int64_t step = static_cast<int64_t>(sum_bytes_ / sizeof(float)), o = s_.o;
    parallel_for(s_.c, std::max<int64_t>(1, (1 << 12) / o), [&](int64_t begin, int64_t end) {
      for (int64_t p = 0; p < kPlaces; ++p)
        for (int64_t unit = 1; unit < units_; ++unit) {
          float* to = sums + p * sum_stride_;
          const float* from = to + unit * step;
          for (int64_t i = begin * o; i < end * o; ++i) to[i] += from[i];
        }
      winograd::transform_weights_back(sums, sum_stride_, s_.c, o, begin, end, dw);
    });
  }

  ConvShape s_;
  Tiles tiles_;
  Side x_, y_;
  int64_t x_stride_, y_stride_, sum_stride_, units_ = 1, slots_ = 1;
  size_t sum_bytes_, x_bytes_, y_bytes_, x_stage_bytes_, slot_bytes_;
};

/// This machine has the vectors for it, and HORNGATE_WINOGRAD=0 does not forbid it.
bool is_on() {
  static const bool kOn = [] {
    const char* text = std::getenv("HORNGATE_WINOGRAD");
    return winograd::is_fast() && !(text && std::strcmp(text, "0") == 0);
  }();
  return kOn;
}

/// Whether Winograd's way is possible for y and pays.
bool pays(const ConvShape& s) {
  constexpr ConvShape::Axes kOnes{1, 1, 1};
  if (s.rank != 2 || s.groups != 1 || s.taps[1] != 3 || s.taps[2] != 3 || s.stride != kOnes ||
      s.dilation != kOnes || s.c % kLine || s.o % kLine)
    return false;
  if (s.low[1] < 0 || s.low[2] < 0 || s.c * s.o > 256 * 256) return false;
  // Tiles reach beyond the image when its sides are no multiples of four.
  const auto up = [](int64_t n) { return (n + kTile - 1) / kTile * kTile; };
  return 2 * s.out[1] * s.out[2] > up(s.out[1]) * up(s.out[2]);
}

}  // namespace

KernelPtr make_conv_winograd(const ConvShape& s, ConvResult result) {
  if (!is_on()) return nullptr;
  if (result != ConvResult::dx) {
    if (!pays(s)) return nullptr;
    if (result == ConvResult::dw) return std::make_unique<WinogradFilterGrad>(s);
    return std::make_unique<WinogradConv>(s, false);
  }
  const ConvShape exchanged = swapped(s);
  if (s.stride[1] != 1 || s.stride[2] != 1 || !pays(exchanged)) return nullptr;
  return std::make_unique<WinogradConv>(exchanged, true);
}

}  // namespace horngate::native
