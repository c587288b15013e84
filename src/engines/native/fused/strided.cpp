#include "engines/native/fused/strided.h"

#include <algorithm>
#include <cstring>

#include "ir/dispatch_dtype.h"

namespace horngate::native::fused {
namespace {

// Runs shorter than this are not worth a call of the vector kernel.
constexpr int64_t kShortRun = 16;
constexpr int64_t kShortFill = 64;  // bytes

template <class F>
decltype(auto) with_lane(Lane lane, F&& f) {
  switch (lane) {
    case Lane::f32: return f(float{});
    case Lane::f64: return f(double{});
    case Lane::i32: return f(int32_t{});
    case Lane::i64: return f(int64_t{});
    case Lane::u64: return f(uint64_t{});
    case Lane::b8: break;
  }
  return f(uint8_t{});
}

template <class T>
struct LaneOf {
  using type = std::conditional_t<
      std::is_same_v<T, float16_t> || std::is_same_v<T, bfloat16_t>, float,
      std::conditional_t<
          std::is_same_v<T, bool>, uint8_t,
          std::conditional_t<(std::is_integral_v<T> && sizeof(T) < 4), int32_t,
                             std::conditional_t<std::is_same_v<T, uint32_t>, int64_t, T>>>>;
};

/// Writes whole vectors of 16 bytes: up to 15 bytes more than asked for, for which registers have
/// room.
template <class L>
void fill_short(L* dst, L value, int64_t n) {
  constexpr int64_t kLanes = 16 / sizeof(L);
  L block[kLanes];
  std::fill_n(block, kLanes, value);
  for (int64_t i = 0; i < n; i += kLanes) std::memcpy(dst + i, block, 16);
}

template <class T, class L>
L to_lane(T v) {
  return static_cast<L>(widen(v));
}
template <class T, class L>
T from_lane(L v) {
  if constexpr (std::is_same_v<T, float16_t> || std::is_same_v<T, bfloat16_t>)
    return narrow<T>(v);
  else
    return static_cast<T>(v);
}

}  // namespace

/// Walks a row in runs along the innermost axis. A whole run may repeat along the next axis.
struct Strided::Cursor {
  Cursor(const Strided& s, int64_t pos, int64_t count) : owner(s), left(count) {
    for (size_t i = s.extent_.size(); i-- > 0;) {
      index[i] = pos % s.extent_[i];
      pos /= s.extent_[i];
      offset += index[i] * s.stride_[i];
    }
    measure();
  }
  void measure() {
    const size_t last = owner.extent_.size() - 1;
    const int64_t extent = owner.extent_[last];
    run = std::min(left, extent - index[last]);
    repeats = 1;
    step = 0;
    if (last > 0 && run == extent) {
      repeats = std::min(left / extent, owner.extent_[last - 1] - index[last - 1]);
      step = owner.stride_[last - 1];
    }
  }
  void advance() {
    left -= run * repeats;
    size_t axis = owner.extent_.size() - 1;
    index[axis] += run;
    offset += run * owner.stride_[axis];
    for (bool first = true; index[axis] == owner.extent_[axis] && axis > 0; first = false) {
      const int64_t up = first ? repeats : 1;
      offset += up * owner.stride_[axis - 1] - index[axis] * owner.stride_[axis];
      index[axis] = 0;
      index[--axis] += up;
    }
    measure();
  }

  const Strided& owner;
  int64_t left, offset = 0;
  int64_t run, repeats, step;  // `repeats` runs of `run` elements, `step` apart
  int64_t index[16];
};

Strided::Strided(const Space& space, size_t access, size_t from, DType dtype,
                 const Kernels& kernels, bool kept_only)
    : dtype_(dtype),
      load_(kernels.load_of(dtype)),
      store_(kernels.store_of(dtype)),
      fill_(kernels.of(Op::copy, lane_of(dtype))) {
  for (size_t i = from; i < space.rank(); ++i) {
    if (kept_only && space.reduced[i]) continue;
    const int64_t n = space.extent[i], stride = space.stride[access][i];
    if (!extent_.empty() && stride_.back() == stride * n) {
      extent_.back() *= n;
      stride_.back() = stride;
    } else {
      extent_.push_back(n);
      stride_.push_back(stride);
    }
  }
  if (extent_.empty()) {
    extent_.push_back(1);
    stride_.push_back(0);
  }
}

void Strided::load(void* lanes, const void* base, int64_t pos, int64_t n) const {
  const int64_t stride = stride_.back();
  with_dtype(dtype_, [&](auto element) {
    using T = decltype(element);
    using L = typename LaneOf<T>::type;
    L* dst = static_cast<L*>(lanes);
    const T* src = static_cast<const T*>(base);
    Cursor at(*this, pos, n);
    for (; at.left > 0; at.advance()) {
      const int64_t run = at.run;
      const T* p = src + at.offset;
      for (int64_t r = 0; r < at.repeats; ++r, p += at.step, dst += run) {
        if (stride == 0) {
          const L value = to_lane<T, L>(*p);
          if (run * static_cast<int64_t>(sizeof(L)) <= kShortFill) {
            fill_short(dst, value, run);
          } else {
            alignas(64) L block[64 / sizeof(L)];
            std::fill_n(block, 64 / sizeof(L), value);
            fill_(dst, block, nullptr, nullptr, static_cast<size_t>(run), kScalarA);
          }
        } else if (stride == 1 && run >= kShortRun) {
          load_(dst, p, nullptr, nullptr, static_cast<size_t>(run), 0);
        } else {
          for (int64_t i = 0; i < run; ++i) dst[i] = to_lane<T, L>(p[i * stride]);
        }
      }
    }
  });
}

void Strided::store(void* base, const void* lanes, int64_t pos, int64_t n) const {
  const int64_t stride = stride_.back();
  with_dtype(dtype_, [&](auto element) {
    using T = decltype(element);
    using L = typename LaneOf<T>::type;
    const L* src = static_cast<const L*>(lanes);
    T* dst = static_cast<T*>(base);
    Cursor at(*this, pos, n);
    for (; at.left > 0; at.advance()) {
      const int64_t run = at.run;
      T* p = dst + at.offset;
      for (int64_t r = 0; r < at.repeats; ++r, p += at.step, src += run) {
        if (stride == 1 && run >= kShortRun)
          store_(p, src, nullptr, nullptr, static_cast<size_t>(run), 0);
        else
          for (int64_t i = 0; i < run; ++i) p[i * stride] = from_lane<T, L>(src[i]);
      }
    }
  });
}

void load_transposed(DType dtype, void* lanes, size_t pitch, const void* base, int64_t along,
                     int64_t across, int64_t n, int64_t rows) {
  with_dtype(dtype, [&](auto element) {
    using T = decltype(element);
    using L = typename LaneOf<T>::type;
    const T* src = static_cast<const T*>(base);
    L* dst = static_cast<L*>(lanes);
    const int64_t step = static_cast<int64_t>(pitch / sizeof(L));
    for (int64_t j = 0; j < n; ++j, src += along)
      for (int64_t i = 0; i < rows; ++i) dst[i * step + j] = to_lane<T, L>(src[i * across]);
  });
}

void load_repeated(DType dtype, void* lanes, const void* p) {
  with_dtype(dtype, [&](auto element) {
    using T = decltype(element);
    using L = typename LaneOf<T>::type;
    std::fill_n(static_cast<L*>(lanes), 64 / sizeof(L), to_lane<T, L>(*static_cast<const T*>(p)));
  });
}

void repeat(Lane lane, void* lanes, uint64_t bits) {
  with_lane(lane, [&](auto zero) {
    using L = decltype(zero);
    L value;
    std::memcpy(&value, &bits, sizeof value);
    std::fill_n(static_cast<L*>(lanes), 64 / sizeof(L), value);
  });
}

}  // namespace horngate::native::fused
