// Winograd's method for 3x3 filters with stride 1: 4x4 pixels of y come from a 6x6 window of x through
// 36 products per pair of channels instead of 144. With the points 0, a, -a, b, -b and infinity,
//   y = A^T [(G w G^T) . (B^T x B)] A      and      dw = G^T [(B^T x B) . (A dy A^T)] G,
// where each of the 36 places of the bracket is a matrix product over channels (y) or windows (dw).
// a = 3/4 and b = 3/2 keep the rounding errors smallest: about five times those of the plain sum.
#pragma once

#include <cstdint>

namespace horngate::native::winograd {

inline constexpr int64_t kTile = 4, kWindow = 6, kPlaces = 36;
/// Channels processed together; numbers of channels are multiples of it.
inline constexpr int64_t kLine = 16;

/// Whether this machine's vectors make it fast.
bool is_fast();

/// Pixels of an image; the channels of each are contiguous.
template <class T>
struct Pixels {
  T* first;  // pixel (0, 0) of a window or tile; may lie outside the image
  int64_t row_stride, pixel_stride;
  // Rows and columns of the window or tile that lie inside the image.
  int64_t row_begin, row_end, column_begin, column_end;
};

/// to[place][channel] = B^T x B of a 6x6 window; places are `place_stride` elements apart.
void transform_window(const Pixels<const float>& x, int64_t channels, float* to,
                      int64_t place_stride);
/// The 4x4 tile y = A^T from A.
void transform_back(const float* from, int64_t place_stride, int64_t channels,
                    const Pixels<float>& y);
/// A dy A^T of a 4x4 tile. Lines of kLine channels are `line_stride` elements apart.
void transform_tile(const Pixels<const float>& dy, int64_t channels, float* to,
                    int64_t place_stride, int64_t line_stride);

/// Weights [3][3][c][o]; the products have `total` channels, of which these start at number `at`.
struct WeightPart {
  int64_t c, o, total, at;
};
/// G w G^T for the channels [begin, end) of c: to[place][o / 16][total][o % 16].
void transform_weights(const WeightPart& part, const float* w, int64_t begin, int64_t end,
                       float* to);
/// dw = G^T from G for the channels [begin, end) of from[place][total][o].
void transform_weights_back(const WeightPart& part, const float* from, int64_t place_stride,
                            int64_t begin, int64_t end, float* dw);

/// to[i * to_stride + j] = from[j * from_stride + i] for i < rows, j < columns. `past_caches`: lines of
/// the result that are written whole are not read first, which pays if the result is larger than the
/// caches.
void transpose(const float* from, int64_t from_stride, float* to, int64_t to_stride, int64_t rows,
               int64_t columns, bool past_caches = false);

/// r[i][j] = sum over k of a[i, k] * b[j / 16][k][j % 16], or adds that sum.
struct Product {
  int64_t rows, columns, depth;
  int64_t a_row_stride, a_depth_stride, b_line_stride, r_row_stride;
  bool add;
};
void multiply(const Product& p, const float* a, const float* b, float* r);

}  // namespace horngate::native::winograd
