// Conversion between channels_first and channels-last: some planes of an image as pixels with that
// many channels.
#pragma once

#include <cstdint>

#include "horngate/dtype.h"

namespace horngate::native {

/// Channels that kernels for channels_first data take together: a cache line of float32.
inline constexpr int64_t kPlaneBlock = 16;

/// pixels[p][c] = planes[c][p]; `size` is that of an element, 4 or 8 bytes.
void planes_to_pixels(size_t size, const void* planes, int64_t channels, int64_t count,
                      void* pixels);
/// planes[c][p] = pixels[p][c]
void pixels_to_planes(size_t size, const void* pixels, int64_t channels, int64_t count,
                      void* planes);

}  // namespace horngate::native
