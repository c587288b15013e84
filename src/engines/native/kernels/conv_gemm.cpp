// Convolutions as matrix products: float64, and whatever oneDNN cannot do or does slowly. The
// windows of some pixels are copied into a matrix ("columns"), one pixel per row for channels-last
// data and one pixel per column for channels_first data, so that the product has the layout of y.
#include <algorithm>
#include <cstring>

#include "engines/native/kernels/blas.h"
#include "engines/native/kernels/conv_shape.h"
#include "engines/native/kernels/workers.h"

namespace horngate::native {
namespace {

// Columns should stay in the second-level cache.
constexpr int64_t kColumnBytes = 256 << 10;
constexpr int64_t kMostPartials = 8;

struct Pixel {
  int64_t d, h, w;
  Pixel(const ConvShape& s, int64_t p)
      : d(p / (s.out[1] * s.out[2])), h(p / s.out[2] % s.out[1]), w(p % s.out[2]) {}
  void next(const ConvShape& s) {
    if (++w < s.out[2]) return;
    w = 0;
    if (++h < s.out[1]) return;
    h = 0;
    ++d;
  }
};

/// Calls f(in_offset, column_offset, count) for each run of elements in the window of pixel q that
/// lies inside the image; counts and offsets in elements. The columns start at the first tap.
template <class F>
void for_window_rows(const ConvShape& s, const Pixel& q, F&& f) {
  const int64_t c = s.c_per_group();
  const int64_t w0 = q.w * s.stride[2] - s.low[2];
  for (int64_t i = 0; i < s.taps[0]; ++i) {
    const int64_t d = q.d * s.stride[0] - s.low[0] + i * s.dilation[0];
    if (d < 0 || d >= s.in[0]) continue;
    for (int64_t j = 0; j < s.taps[1]; ++j) {
      const int64_t h = q.h * s.stride[1] - s.low[1] + j * s.dilation[1];
      if (h < 0 || h >= s.in[1]) continue;
      const int64_t row = (d * s.in[1] + h) * s.in[2], tap = (i * s.taps[1] + j) * s.taps[2];
      if (s.dilation[2] == 1 && s.groups == 1) {
        const int64_t begin = std::max<int64_t>(0, -w0), end = std::min(s.taps[2], s.in[2] - w0);
        if (end > begin) f((row + w0 + begin) * s.c, (tap + begin) * c, (end - begin) * c);
        continue;
      }
      for (int64_t k = 0; k < s.taps[2]; ++k) {
        const int64_t w = w0 + k * s.dilation[2];
        if (w >= 0 && w < s.in[2]) f((row + w) * s.c, (tap + k) * c, c);
      }
    }
  }
}

/// Channels-last: columns[pixel][tap, channel] of pixels [begin, end) of one image.
template <class T>
void fill_rows(const ConvShape& s, const T* x, int64_t begin, int64_t end, T* columns) {
  const int64_t width = s.tap_count() * s.c_per_group();
  Pixel q(s, begin);
  for (int64_t p = begin; p < end; ++p, q.next(s), columns += width) {
    int64_t filled = 0;
    for_window_rows(s, q, [&](int64_t from, int64_t to, int64_t count) {
      std::fill(columns + filled, columns + to, T(0));
      std::copy(x + from, x + from + count, columns + to);
      filled = to + count;
    });
    std::fill(columns + filled, columns + width, T(0));
  }
}

template <class T>
void add_rows(const ConvShape& s, T* x, int64_t begin, int64_t end, const T* columns) {
  const int64_t width = s.tap_count() * s.c_per_group();
  Pixel q(s, begin);
  for (int64_t p = begin; p < end; ++p, q.next(s), columns += width)
    for_window_rows(s, q, [&](int64_t to, int64_t from, int64_t count) {
      for (int64_t i = 0; i < count; ++i) x[to + i] += columns[from + i];
    });
}

/// For one tap: calls f(inside, row, w, at, run) for each run of pixels along w. They see the row
/// of x that starts at `row`, from element w on, unless the whole row is padding; the run starts at
/// pixel `at`.
template <class F>
void for_tap_runs(const ConvShape& s, int64_t tap, int64_t begin, int64_t end, F&& f) {
  const int64_t i = tap / (s.taps[1] * s.taps[2]), j = tap / s.taps[2] % s.taps[1],
                k = tap % s.taps[2];
  Pixel q(s, begin);
  for (int64_t p = begin; p < end;) {
    const int64_t run = std::min(end - p, s.out[2] - q.w);
    const int64_t d = q.d * s.stride[0] - s.low[0] + i * s.dilation[0];
    const int64_t h = q.h * s.stride[1] - s.low[1] + j * s.dilation[1];
    const int64_t w = q.w * s.stride[2] - s.low[2] + k * s.dilation[2];
    const bool inside = d >= 0 && d < s.in[0] && h >= 0 && h < s.in[1];
    f(inside, inside ? (d * s.in[1] + h) * s.in[2] : 0, w, p - begin, run);
    p += run;
    q = Pixel(s, p);
  }
}

/// The part [first, last) of a run for which w + i * stride lies inside the row.
struct Inside {
  int64_t first, last;
  Inside(const ConvShape& s, int64_t w, int64_t run) {
    const int64_t step = s.stride[2];
    first = w >= 0 ? 0 : std::min(run, (-w + step - 1) / step);
    last = w >= s.in[2] ? first : std::clamp((s.in[2] - 1 - w) / step + 1, first, run);
  }
};

/// channels_first: columns[tap, channel][pixel]; x starts at the group's first plane.
template <class T>
void fill_columns(const ConvShape& s, const T* x, int64_t begin, int64_t end, T* columns) {
  const int64_t pixels = end - begin, plane = s.in_size(), channels = s.c_per_group();
  for (int64_t tap = 0; tap < s.tap_count(); ++tap)
    for (int64_t c = 0; c < channels; ++c) {
      T* line = columns + (tap * channels + c) * pixels;
      const T* from = x + c * plane;
      for_tap_runs(s, tap, begin, end,
                   [&](bool inside, int64_t row, int64_t w, int64_t at, int64_t run) {
                     const Inside in(s, w, inside ? run : 0);
                     std::fill(line + at, line + at + in.first, T(0));
                     for (int64_t i = in.first; i < in.last; ++i)
                       line[at + i] = from[row + w + i * s.stride[2]];
                     std::fill(line + at + in.last, line + at + run, T(0));
                   });
    }
}

template <class T>
void add_columns(const ConvShape& s, T* x, int64_t begin, int64_t end, const T* columns) {
  const int64_t pixels = end - begin, plane = s.in_size(), channels = s.c_per_group();
  for (int64_t tap = 0; tap < s.tap_count(); ++tap)
    for (int64_t c = 0; c < channels; ++c) {
      const T* line = columns + (tap * channels + c) * pixels;
      T* to = x + c * plane;
      for_tap_runs(s, tap, begin, end,
                   [&](bool inside, int64_t row, int64_t w, int64_t at, int64_t run) {
                     const Inside in(s, w, inside ? run : 0);
                     for (int64_t i = in.first; i < in.last; ++i)
                       to[row + w + i * s.stride[2]] += line[at + i];
                   });
    }
}

template <class T>
class GemmConv final : public Kernel {
 public:
  GemmConv(const ConvShape& s, ConvResult result)
      : s_(s), result_(result), direct_(s.is_pointwise()), width_(s.tap_count() * s.c_per_group()) {
    const int64_t elements = kColumnBytes / static_cast<int64_t>(sizeof(T));
    const int64_t least = direct_ ? 1024 : 32;  // so that products are worth a call
    block_ = std::clamp(elements / width_, std::min(least, s.out_size()), s.out_size());
    blocks_ = (s.out_size() + block_ - 1) / block_;
    blas::prepare(block_ * s.o * width_);
    blas::check_sizes("conv", {s.c, s.o, width_, block_, s.in_size()});
    switch (result) {
      case ConvResult::y: units_ = s.n * blocks_; break;
      case ConvResult::dx: units_ = direct_ ? s.n * blocks_ : s.n; break;
      case ConvResult::dw:
        per_unit_ = (s.n + kMostPartials - 1) / kMostPartials;
        units_ = (s.n + per_unit_ - 1) / per_unit_;
        break;
    }
    slots_ = slots_for(units_);
    slot_bytes_ = direct_ ? 0 : aligned_bytes(static_cast<size_t>(block_ * width_) * sizeof(T));
    if (result == ConvResult::dw && units_ > 1)
      partial_bytes_ = aligned_bytes(static_cast<size_t>(s.w_count()) * sizeof(T));
  }

  size_t scratch_bytes() const override {
    return slot_bytes_ * static_cast<size_t>(slots_) + partial_bytes_ * static_cast<size_t>(units_);
  }

  void run(const void* const* in, void* const* out, RunContext& context) override {
    const T *a = static_cast<const T*>(in[0]), *b = static_cast<const T*>(in[1]);
    T* r = static_cast<T*>(out[0]);
    char* scratch = static_cast<char*>(context.scratch);
    char* partials = scratch + slot_bytes_ * static_cast<size_t>(slots_);
    for_units(units_, slots_, [&](int64_t slot, int64_t unit) {
      T* columns = reinterpret_cast<T*>(scratch + slot_bytes_ * static_cast<size_t>(slot));
      switch (result_) {
        case ConvResult::y: forward(a, b, r, unit / blocks_, unit % blocks_, columns); break;
        case ConvResult::dx:
          if (direct_)
            input_grad(a, b, r, unit / blocks_, unit % blocks_, columns);
          else
            image_input_grad(a, b, r, unit, columns);
          break;
        case ConvResult::dw: {
          T* to = units_ == 1
                      ? r
                      : reinterpret_cast<T*>(partials + partial_bytes_ * static_cast<size_t>(unit));
          filter_grad(a, b, to, unit, columns);
          break;
        }
      }
    });
    if (result_ == ConvResult::dw && units_ > 1) add_partials(partials, r);
  }

 private:
  struct Block {
    int64_t begin, end;
    int64_t count() const { return end - begin; }
  };
  Block block(int64_t index) const {
    return {index * block_, std::min(s_.out_size(), (index + 1) * block_)};
  }
  // Offset of pixel p, channel ch of image n.
  int64_t at(int64_t n, int64_t channels, int64_t size, int64_t ch, int64_t p) const {
    return n * channels * size + (s_.channels_first ? ch * size + p : p * channels + ch);
  }

  /// The columns of a block for group g: copied, or x itself.
  const T* columns_of(const T* x, int64_t n, int64_t g, const Block& b, T* columns,
                      int64_t* ld) const {
    const int64_t first = g * s_.c_per_group();
    if (direct_) {
      *ld = s_.channels_first ? s_.in_size() : s_.c;
      return x + at(n, s_.c, s_.in_size(), first, b.begin);
    }
    const T* image = x + at(n, s_.c, s_.in_size(), first, 0);
    if (s_.channels_first)
      fill_columns(s_, image, b.begin, b.end, columns);
    else
      fill_rows(s_, image, b.begin, b.end, columns);
    *ld = s_.channels_first ? b.count() : width_;
    return columns;
  }

  // y = columns w, or its transpose
  void forward(const T* x, const T* w, T* y, int64_t n, int64_t index, T* columns) const {
    const Block b = block(index);
    const int64_t og = s_.o_per_group();
    for (int64_t g = 0; g < s_.groups; ++g) {
      int64_t ld = 0;
      const T* from = columns_of(x, n, g, b, columns, &ld);
      T* to = y + at(n, s_.o, s_.out_size(), g * og, b.begin);
      if (s_.channels_first)
        blas::gemm(true, false, og, b.count(), width_, w + g * og, s_.o, from, ld, to,
                   s_.out_size());
      else
        blas::gemm(false, false, b.count(), og, width_, from, ld, w + g * og, s_.o, to, s_.o);
    }
  }

  // columns = dy w^T; each element of dx adds up what belongs to it
  void input_grad(const T* dy, const T* w, T* dx, int64_t n, int64_t index, T* columns) const {
    const Block b = block(index);
    const int64_t og = s_.o_per_group(), cg = s_.c_per_group();
    for (int64_t g = 0; g < s_.groups; ++g) {
      const T* from = dy + at(n, s_.o, s_.out_size(), g * og, b.begin);
      T* to = columns;
      int64_t ld = s_.channels_first ? b.count() : width_;
      if (direct_) {
        to = dx + at(n, s_.c, s_.in_size(), g * cg, b.begin);
        ld = s_.channels_first ? s_.in_size() : s_.c;
      }
      if (s_.channels_first)
        blas::gemm(false, false, width_, b.count(), og, w + g * og, s_.o, from, s_.out_size(), to,
                   ld);
      else
        blas::gemm(false, true, b.count(), width_, og, from, s_.o, w + g * og, s_.o, to, ld);
      if (direct_) continue;
      T* image = dx + at(n, s_.c, s_.in_size(), g * cg, 0);
      if (s_.channels_first)
        add_columns(s_, image, b.begin, b.end, columns);
      else
        add_rows(s_, image, b.begin, b.end, columns);
    }
  }

  void image_input_grad(const T* dy, const T* w, T* dx, int64_t n, T* columns) const {
    const int64_t image = s_.c * s_.in_size();
    std::fill(dx + n * image, dx + (n + 1) * image, T(0));
    for (int64_t i = 0; i < blocks_; ++i) input_grad(dy, w, dx, n, i, columns);
  }

  // dw = columns^T dy, summed over the blocks of some images
  void filter_grad(const T* x, const T* dy, T* dw, int64_t unit, T* columns) const {
    const int64_t og = s_.o_per_group();
    const int64_t first = unit * per_unit_, last = std::min(s_.n, first + per_unit_);
    for (int64_t n = first; n < last; ++n)
      for (int64_t i = 0; i < blocks_; ++i)
        for (int64_t g = 0; g < s_.groups; ++g) {
          const Block b = block(i);
          int64_t ld = 0;
          const T* from = columns_of(x, n, g, b, columns, &ld);
          const T* by = dy + at(n, s_.o, s_.out_size(), g * og, b.begin);
          const bool add = n > first || i > 0;
          if (s_.channels_first)
            blas::gemm(false, true, width_, og, b.count(), from, ld, by, s_.out_size(), dw + g * og,
                       s_.o, add);
          else
            blas::gemm(true, false, width_, og, b.count(), from, ld, by, s_.o, dw + g * og, s_.o,
                       add);
        }
  }

  void add_partials(const char* partials, T* dw) const {
    const T* first = reinterpret_cast<const T*>(partials);
    const int64_t step = static_cast<int64_t>(partial_bytes_ / sizeof(T)), units = units_;
    parallel_for(s_.w_count(), 1 << 14, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        T total = first[i];
        for (int64_t u = 1; u < units; ++u) total += first[u * step + i];
        dw[i] = total;
      }
    });
  }

  ConvShape s_;
  ConvResult result_;
  bool direct_;
  int64_t width_, block_ = 0, blocks_ = 0, units_ = 0, per_unit_ = 1, slots_ = 1;
  size_t slot_bytes_ = 0, partial_bytes_ = 0;
};

}  // namespace

KernelPtr make_conv_gemm(const ConvShape& shape, ConvResult result, DType dtype) {
  if (dtype == DType::float64) return std::make_unique<GemmConv<double>>(shape, result);
  return std::make_unique<GemmConv<float>>(shape, result);
}

}  // namespace horngate::native
