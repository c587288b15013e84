// transpose_block: dst[i * dst_stride + j] = src[j * src_stride + i], in tiles that stay in the
// first-level cache.
#pragma once

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

namespace horngate::native::kernels {

/// Elements that move together: two of 8 bytes.
struct Bytes16 {
  uint64_t low, high;
};

/// A tile whose size, rows x columns, the compiler knows.
template <int kRows, int kColumns, class T>
inline void transpose_small(const T* src, int64_t src_stride, T* dst, int64_t dst_stride) {
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j) dst[i * dst_stride + j] = src[j * src_stride + i];
}

/// 16 bytes of T as a vector of the compiler.
template <class T>
struct Vector16;
template <>
struct Vector16<uint8_t> {
  using type __attribute__((vector_size(16))) = uint8_t;
};
template <>
struct Vector16<uint16_t> {
  using type __attribute__((vector_size(16))) = uint16_t;
};
template <>
struct Vector16<uint32_t> {
  using type __attribute__((vector_size(16))) = uint32_t;
};
template <>
struct Vector16<uint64_t> {
  using type __attribute__((vector_size(16))) = uint64_t;
};

/// Results of this size are out of the caches before anybody reads them.
inline constexpr int64_t kStreamBytes = int64_t{16} << 20;

/// Stores 16 bytes. A streaming store bypasses the caches: the line is not read first, which pays
/// if the result is larger than they are.
template <bool kStream, class V>
inline void store_16(void* to, const V& v) {
#ifdef __SSE2__
  if constexpr (kStream) {
    _mm_stream_si128(static_cast<__m128i*>(to), std::bit_cast<__m128i>(v));
    return;
  }
#endif
  std::memcpy(to, &v, sizeof v);
}

/// Makes streaming stores visible to other threads before anything that follows.
inline void end_streaming() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

/// A square of 16-byte rows, in registers that every x86-64 and ARM has. One round interleaves row
/// i with row i + n/2, which rotates the bits of (row, column) by one place; log2(n) rounds
/// exchange row and column.
template <bool kStream, class T, size_t... kLane>
inline void transpose_square(const T* src, int64_t src_stride, T* dst, int64_t dst_stride,
                             std::index_sequence<kLane...>) {
  constexpr int kN = sizeof...(kLane);
  using V = typename Vector16<T>::type;
  V r[kN], t[kN];  // registers, once the loops are unrolled
#pragma GCC unroll 16
  for (int i = 0; i < kN; ++i) std::memcpy(&r[i], src + i * src_stride, 16);
#pragma GCC unroll 16
  for (int round = 1; round < kN; round *= 2) {
#pragma GCC unroll 16
    for (int i = 0; i < kN / 2; ++i) {
      const V &a = r[i], &b = r[i + kN / 2];
      t[2 * i] = __builtin_shufflevector(a, b, (kLane / 2 + kLane % 2 * kN)...);
      t[2 * i + 1] = __builtin_shufflevector(a, b, (kLane / 2 + kLane % 2 * kN + kN / 2)...);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kN; ++i) r[i] = t[i];
  }
#pragma GCC unroll 16
  for (int i = 0; i < kN; ++i) store_16<kStream>(dst + i * dst_stride, r[i]);
}

/// A full tile: kTile x kTile, whole lines of dst one after another.
template <bool kStream, int kTile, class T>
inline void transpose_tile(const T* src, int64_t src_stride, T* dst, int64_t dst_stride) {
  if constexpr (sizeof(T) == 16) {
    transpose_small<kTile, kTile>(src, src_stride, dst, dst_stride);
  } else {
    constexpr int kN = 16 / sizeof(T);
    for (int i = 0; i < kTile; i += kN)
      for (int j = 0; j < kTile; j += kN)
        transpose_square<kStream>(src + j * src_stride + i, src_stride, dst + i * dst_stride + j,
                                  dst_stride, std::make_index_sequence<kN>());
  }
}

/// rows = size along src's dense axis, columns = size along dst's.
template <class T>
void transpose_edge(const T* src, int64_t src_stride, T* dst, int64_t dst_stride, int64_t rows,
                    int64_t columns) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) dst[i * dst_stride + j] = src[j * src_stride + i];
}

/// Few rows or few columns (image channels): one pass along the long side.
template <int kFew, class T>
void transpose_few(const T* src, int64_t src_stride, T* dst, int64_t dst_stride, int64_t rows,
                   int64_t columns) {
  if (columns == kFew) {
    for (int64_t i = 0; i < rows; ++i)
      transpose_small<1, kFew>(src + i, src_stride, dst + i * dst_stride, dst_stride);
  } else {
    for (int64_t j = 0; j < columns; ++j)
      transpose_small<kFew, 1>(src + j * src_stride, src_stride, dst + j, dst_stride);
  }
}

template <bool kStream, class T>
void transpose_block(const T* src, int64_t src_stride, T* dst, int64_t dst_stride, int64_t rows,
                     int64_t columns) {
  switch (std::min(rows, columns)) {
    case 2: return transpose_few<2>(src, src_stride, dst, dst_stride, rows, columns);
    case 3: return transpose_few<3>(src, src_stride, dst, dst_stride, rows, columns);
    case 4: return transpose_few<4>(src, src_stride, dst, dst_stride, rows, columns);
  }
  // A row of a tile is a cache line.
  constexpr int kTile = sizeof(T) >= 8 ? 8 : 64 / sizeof(T);
  for (int64_t j = 0; j < columns; j += kTile) {
    const int64_t width = std::min<int64_t>(kTile, columns - j);
    for (int64_t i = 0; i < rows; i += kTile) {
      const int64_t height = std::min<int64_t>(kTile, rows - i);
      const T* s = src + j * src_stride + i;
      T* d = dst + i * dst_stride + j;
      if (width == kTile && height == kTile)
        transpose_tile<kStream, kTile>(s, src_stride, d, dst_stride);
      else
        transpose_edge(s, src_stride, d, dst_stride, height, width);
    }
  }
}

}  // namespace horngate::native::kernels
