// How a convolution is cut into pieces, and which kernel computes it.
#include "engines/native/kernels/conv_shape.h"

#include <algorithm>
#include <cstring>

#include "engines/native/kernels/winograd.h"
#include "engines/native/kernels/workers.h"
#include "ir/switches.h"

namespace horngate::native {
namespace {

// Pieces large enough that starting one (about 1 us) is negligible, and enough of them for 32 threads.
constexpr double kPieceFlops = 8e6;
constexpr int64_t kMostPieces = 32;
// A piece of dw ends with adding all weights, so it must cover many pixels per weight.
constexpr int64_t kPiecePixels = 1024;
constexpr int64_t kMostWeightPieces = 16;
// oneDNN adds up the pixels of a piece one after the other: the longer the sum, the more of its digits are lost.
constexpr int64_t kLongSum = 4096;
constexpr int64_t kMostShortSums = 64;
constexpr int64_t kShortSumBytes = 4 << 20;
constexpr int64_t kPartialBytes = 64 << 20;

size_t shape_index(ConvPieces& p, const ConvShape& shape) {
  const auto found = std::find(p.shapes.begin(), p.shapes.end(), shape);
  if (found != p.shapes.end()) return static_cast<size_t>(found - p.shapes.begin());
  p.shapes.push_back(shape);
  return p.shapes.size() - 1;
}

int64_t wanted_pieces(const ConvShape& s, ConvResult result) {
  int64_t wanted =
      std::clamp<int64_t>(static_cast<int64_t>(s.flops() / kPieceFlops), 1, kMostPieces);
  if (result == ConvResult::dw) {
    const int64_t bytes = std::max<int64_t>(1, s.w_count() * static_cast<int64_t>(sizeof(float)));
    const int64_t pixels = s.n * s.out_size();
    wanted = std::min({wanted, kMostWeightPieces, pixels / kPiecePixels, kPartialBytes / bytes});
    wanted =
        std::max(wanted, std::min({pixels / kLongSum, kMostShortSums, kShortSumBytes / bytes}));
  }
  return std::max<int64_t>(1, wanted);
}

/// Images per piece; a divisor of n if one is near, since a shorter last piece needs its own code.
int64_t images_per_piece(int64_t n, int64_t wanted) {
  const int64_t exact = (n + wanted - 1) / wanted;
  for (int64_t per = exact; per < 2 * exact && per <= n; ++per)
    if (n % per == 0) return per;
  return exact;
}

/// Rows [begin, end) of y, with the rows of x that they see. False if they see only padding.
bool y_rows(const ConvShape& s, int axis, int64_t begin, int64_t end, ConvShape* part,
            int64_t* x_row) {
  const int64_t first = begin * s.stride[axis] - s.low[axis];
  const int64_t last = (end - 1) * s.stride[axis] - s.low[axis] + s.span(axis);
  const int64_t x0 = std::max<int64_t>(first, 0), x1 = std::min(last, s.in[axis]);
  if (x1 <= x0) return false;
  *part = s;
  part->in[axis] = x1 - x0;
  part->out[axis] = end - begin;
  part->low[axis] = x0 - first;
  part->high[axis] = last - x1;
  *x_row = x0;
  return true;
}

/// Rows [begin, end) of x, with the rows of y that see them. False if not every kernel could compute
/// that as a convolution (no such rows, or a negative margin).
bool x_rows(const ConvShape& s, int axis, int64_t begin, int64_t end, ConvShape* part,
            int64_t* y_row) {
  const int64_t stride = s.stride[axis], reach = begin + s.low[axis] - (s.span(axis) - 1);
  const int64_t y0 = reach <= 0 ? 0 : (reach + stride - 1) / stride;
  const int64_t y1 = std::min(s.out[axis], (end - 1 + s.low[axis]) / stride + 1);
  if (y1 <= y0) return false;
  *part = s;
  part->in[axis] = end - begin;
  part->out[axis] = y1 - y0;
  part->low[axis] = s.low[axis] + begin - y0 * stride;
  part->high[axis] =
      (part->out[axis] - 1) * stride + s.span(axis) - part->in[axis] - part->low[axis];
  *y_row = y0;
  return part->low[axis] >= 0;
}

bool cut_rows(const ConvShape& s, ConvResult result, int64_t per_image, ConvPieces* p) {
  const int axis = 3 - s.rank;
  const int64_t rows = result == ConvResult::dx ? s.in[axis] : s.out[axis];
  per_image = std::min(per_image, rows);
  if (per_image <= 1) return false;
  // Equal pieces except for the last; for dx they start at multiples of the stride, so that few shapes
  // differ.
  int64_t step = (rows + per_image - 1) / per_image;
  if (result == ConvResult::dx)
    step = (step + s.stride[axis] - 1) / s.stride[axis] * s.stride[axis];
  for (int64_t image = 0; image < s.n; ++image)
    for (int64_t row = 0; row < rows; row += step) {
      ConvShape part;
      ConvPiece piece{image, row, row, 0};
      const int64_t end = std::min(rows, row + step);
      const bool ok = result == ConvResult::dx ? x_rows(s, axis, row, end, &part, &piece.y_row)
                                               : y_rows(s, axis, row, end, &part, &piece.x_row);
      if (!ok) return false;
      part.n = 1;
      piece.shape = shape_index(*p, part);
      p->pieces.push_back(piece);
    }
  return true;
}

}  // namespace

bool ConvShape::is_pointwise() const {
  constexpr Axes kOnes{1, 1, 1}, kZeros{0, 0, 0};
  return taps == kOnes && stride == kOnes && low == kZeros && in == out;
}

double ConvShape::flops() const {
  return 2.0 * static_cast<double>(n * o) * static_cast<double>(out_size()) *
         static_cast<double>(c_per_group() * tap_count());
}

ConvPieces cut_conv(const ConvShape& s, ConvResult result) {
  ConvPieces p;
  const int64_t wanted = wanted_pieces(s, result);
  if (wanted >= 2 * s.n && cut_rows(s, result, wanted / s.n, &p)) return p;
  p = {};
  const int64_t per = images_per_piece(s.n, std::min(wanted, s.n));
  for (int64_t image = 0; image < s.n; image += per) {
    ConvShape part = s;
    part.n = std::min(per, s.n - image);
    p.pieces.push_back({image, 0, 0, shape_index(p, part)});
  }
  return p;
}

ConvShape swapped(const ConvShape& s) {
  ConvShape r = s;
  std::swap(r.c, r.o);
  std::swap(r.in, r.out);
  for (int i = 0; i < 3; ++i) {
    r.low[i] = s.span(i) - 1 - s.low[i];
    r.high[i] = s.span(i) - 1 - s.high[i];
  }
  return r;
}

void flip_weights(const float* from, int64_t taps, int64_t a, int64_t b, float* to) {
  for (int64_t t = 0; t < taps; ++t)
    winograd::transpose(from + t * a * b, b, to + (taps - 1 - t) * a * b, a, b, a);
}

KernelPtr make_conv_empty(const ConvShape& s, ConvResult result, DType dtype) {
  const bool no_work = s.n == 0 || s.c == 0 || s.o == 0 || s.in_size() == 0 || s.out_size() == 0 ||
                       s.tap_count() == 0;
  if (!no_work) return nullptr;
  const int64_t count = result == ConvResult::y    ? s.y_count()
                        : result == ConvResult::dx ? s.x_count()
                                                   : s.w_count();
  const size_t bytes = static_cast<size_t>(count) * size_of(dtype);
  return kernel_of([bytes](const void* const*, void* const* out, RunContext&) {
    if (bytes) std::memset(out[0], 0, bytes);
  });
}

namespace {

/// Whether distances are small enough for oneDNN, which counts bytes between taps in 32 bits.
bool is_near(const ConvShape& s) {
  constexpr int64_t kFar = 1 << 20;
  for (int i = 0; i < 3; ++i)
    if (s.low[i] > kFar || s.high[i] > kFar || s.stride[i] > kFar) return false;
  return true;
}

}  // namespace

KernelPtr make_conv_kernel(const ConvShape& s, ConvResult result, DType dtype) {
  if (KernelPtr k = make_conv_empty(s, result, dtype)) return k;
  if (is_plain() || !is_near(s)) return make_conv_reference(s, result, dtype);
  if (dtype == DType::float32) {
    if (KernelPtr k = make_conv_adapted(s, result)) return k;
    if (KernelPtr k = make_conv_winograd(s, result)) return k;
    if (is_on(Pass::onednn))
      if (KernelPtr k = make_conv_onednn(s, result)) return k;
  }
  if (KernelPtr k = make_conv_depthwise(s, result, dtype)) return k;
  return make_conv_gemm(s, result, dtype);
}

}  // namespace horngate::native
