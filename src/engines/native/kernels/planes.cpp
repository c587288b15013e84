// Conversion between channels_first and channels-last. In a separate file because elements move as
// integers: inlined next to code that knows them as floats, that would break the aliasing rules.
#include "engines/native/kernels/planes.h"

#include "engines/native/kernels/transpose_tile.h"

namespace horngate::native {
namespace {

// y[i][j] = x[j][i], y with `rows` rows.
void transpose_matrix(size_t size, const void* x, int64_t rows, int64_t columns, void* y) {
  if (size == 8)
    kernels::transpose_block<false>(static_cast<const uint64_t*>(x), rows,
                                    static_cast<uint64_t*>(y), columns, rows, columns);
  else
    kernels::transpose_block<false>(static_cast<const uint32_t*>(x), rows,
                                    static_cast<uint32_t*>(y), columns, rows, columns);
}

}  // namespace

void planes_to_pixels(size_t size, const void* planes, int64_t channels, int64_t count,
                      void* pixels) {
  transpose_matrix(size, planes, count, channels, pixels);
}
void pixels_to_planes(size_t size, const void* pixels, int64_t channels, int64_t count,
                      void* planes) {
  transpose_matrix(size, pixels, channels, count, planes);
}

}  // namespace horngate::native
