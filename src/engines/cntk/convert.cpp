// Conversion between the caller's dtypes and the floats that carry them inside CNTK.
#include "cntk/convert.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include <thread>

namespace horngate::cntk {
namespace {

constexpr double kExact = 9007199254740992.0;  // 2^53

[[noreturn]] void throw_inexact(double v) {
  throw std::range_error("CNTK carries integers as float64, which is exact up to 2^53; got about " +
                         std::to_string(v) + ".");
}

/// Whether a double holds the number; the ends of the range always count as held ("to the end").
template <class T>
bool is_exact(T v) {
  if constexpr (sizeof(T) < 8) return true;
  if (v == std::numeric_limits<T>::max() || v == std::numeric_limits<T>::min()) return true;
  const auto d = static_cast<double>(v);
  return d < 0x1p63 && static_cast<T>(d) == v;
}

template <class From, class To>
void copy_as(const void* from, void* to, int64_t n) {
  const auto* p = static_cast<const From*>(from);
  auto* q = static_cast<To*>(to);
  for (int64_t i = 0; i < n; ++i) {
    q[i] = static_cast<To>(p[i]);
    if constexpr (std::is_integral_v<From> && sizeof(From) == 8)
      if (!is_exact(p[i])) throw_inexact(static_cast<double>(p[i]));
  }
}

/// Calls f with a value of the dtype's C++ type. Half floats do not come here.
template <class F>
void with_dtype(int32_t dtype, F&& f) {
  switch (dtype) {
    case HG_INT8: return f(int8_t{});
    case HG_INT16: return f(int16_t{});
    case HG_INT32: return f(int32_t{});
    case HG_INT64: return f(int64_t{});
    case HG_UINT8: return f(uint8_t{});
    case HG_UINT16: return f(uint16_t{});
    case HG_UINT32: return f(uint32_t{});
    case HG_UINT64: return f(uint64_t{});
    case HG_BOOL: return f(bool{});
    case HG_FLOAT32: return f(float{});
    case HG_FLOAT64: return f(double{});
    default: throw std::runtime_error("CNTK does not support this dtype.");
  }
}

template <class C, class T>
void narrow_to(const void* from, void* to, int64_t n) {
  const auto* p = static_cast<const C*>(from);
  auto* q = static_cast<T*>(to);
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_same_v<T, bool>) {
      q[i] = p[i] != 0;
    } else if constexpr (std::is_integral_v<T>) {
      const auto v = static_cast<double>(p[i]);
      // What is beyond all integers becomes the nearest limit; NaN may become anything.
      if (std::abs(v) < 0x1p63)
        q[i] = static_cast<T>(static_cast<int64_t>(v));
      else
        q[i] = v > 0 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
      if (sizeof(T) == 8 && std::abs(v) > kExact && std::abs(v) < 0x1p63) throw_inexact(v);
    } else {
      q[i] = static_cast<T>(p[i]);
    }
  }
}

}  // namespace

void widen(const void* from, int32_t dtype, void* to, DataType carrier, int64_t n) {
  with_dtype(dtype, [&]<class T>(T) {
    // A bool is read as a byte, 0 or 1.
    using From = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
    carrier == DataType::kFloat ? copy_as<From, float>(from, to, n)
                                : copy_as<From, double>(from, to, n);
  });
}

void narrow(const void* from, DataType carrier, void* to, int32_t dtype, int64_t n) {
  with_dtype(dtype, [&]<class T>(T) {
    carrier == DataType::kFloat ? narrow_to<float, T>(from, to, n)
                                : narrow_to<double, T>(from, to, n);
  });
}

void throw_index(const IndexCheck& c, int64_t index) {
  throw IndexError(c.primitive + ": index " + std::to_string(index) + " is out of range for axis " +
                   std::to_string(c.axis) + " of size " + std::to_string(c.size) + "." +
                   (c.node.empty() ? "" : " (node \"" + c.node + "\")"));
}

void check_indices(const hg_buffer& b, const IndexCheck& c) {
  const int64_t n = count(dims_of(*b.type));
  with_dtype(b.type->dtype, [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>) {
      const auto* p = static_cast<const T*>(b.data);
      for (int64_t i = 0; i < n; ++i) {
        const auto v = static_cast<int64_t>(p[i]);
        if (v < 0 || v >= c.size) throw_index(c, v);
      }
    }
  });
}

void use_threads(const Library& l, int threads) {
  constexpr int kProducts = 1;  // MKL_DOMAIN_BLAS
  static std::atomic<int> now = 0;
  static thread_local bool is_set = false;
  if (threads <= 0) threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  if (!is_set) l.set_loop_threads(1);
  is_set = true;
  if (now.exchange(threads) != threads) l.set_product_threads(threads, kProducts);
}

}  // namespace horngate::cntk
