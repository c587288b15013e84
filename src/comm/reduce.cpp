// Reduction over ranks by a fixed tree, a block of elements at a time so that partial sums stay in the first cache.
#include "comm/reduce.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "ir/dispatch_dtype.h"

namespace horngate::comm {
namespace {

constexpr size_t kBlock = 512;  // elements
constexpr size_t kLevels = 20;  // of the tree: a million ranks

// Integers wrap around: the overflow of signed ones is not defined, and int16 * int16 would be done in int.
struct Sum {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>)
      return a || b;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) +
                            static_cast<std::make_unsigned_t<T>>(b));
    else
      return a + b;
  }
};
struct Prod {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>)
      return a && b;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else
      return a * b;
  }
};
struct Min {
  template <class T>
  T operator()(T a, T b) const {
    return a != a || a < b ? a : b;
  }
};
struct Max {
  template <class T>
  T operator()(T a, T b) const {
    return a != a || a > b ? a : b;
  }
};

/// One block of elements, for all ranks.
template <class T, class Op>
class Tree {
 public:
  Tree(const void* const* from, size_t at, size_t count) : from_(from), at_(at), count_(count) {}

  /// Reduces ranks lo .. hi - 1 into a level.
  const Wide<T>* run(size_t lo, size_t hi, size_t level = 0) {
    Wide<T>* const to = levels_[level];
    const T* const x = source(lo);
    if (hi - lo == 1) {
      for (size_t i = 0; i < count_; ++i) to[i] = widen(x[i]);
    } else if (hi - lo == 2) {
      const T* const y = source(lo + 1);
      for (size_t i = 0; i < count_; ++i) to[i] = Op()(widen(x[i]), widen(y[i]));
    } else {
      const size_t middle = lo + std::bit_floor(hi - lo - 1);
      run(lo, middle, level);
      const Wide<T>* const right = run(middle, hi, level + 1);
      for (size_t i = 0; i < count_; ++i) to[i] = Op()(to[i], right[i]);
    }
    return to;
  }

 private:
  const T* source(size_t rank) const { return static_cast<const T*>(from_[rank]) + at_; }

  const void* const* from_;
  const size_t at_, count_;
  Wide<T> levels_[kLevels][kBlock];  // not cleared: most of them are never touched
};

template <class T, class Op>
void reduce_with(const void* const* from, size_t n, T* out, size_t count) {
  if constexpr (std::is_same_v<T, Wide<T>>) {
    if (n == 2) {  // the common case needs no block in between
      const T *const x = static_cast<const T*>(from[0]), *const y = static_cast<const T*>(from[1]);
      for (size_t i = 0; i < count; ++i) out[i] = Op()(x[i], y[i]);
      return;
    }
  }
  for (size_t at = 0; at < count; at += kBlock) {
    const size_t m = std::min(count - at, kBlock);
    Tree<T, Op> tree(from, at, m);
    const Wide<T>* const sum = tree.run(0, n);
    for (size_t i = 0; i < m; ++i) out[at + i] = narrow<T>(sum[i]);
  }
}

}  // namespace

void reduce(DType dtype, Reduction reduction, const void* const* from, size_t n, void* out,
            size_t count) {
  if (n == 1) {
    if (out != from[0] && count > 0) std::memcpy(out, from[0], count * size_of(dtype));
    return;
  }
  with_dtype(dtype, [&]<class T>(T) {
    T* const to = static_cast<T*>(out);
    switch (reduction) {
      case Reduction::sum: return reduce_with<T, Sum>(from, n, to, count);
      case Reduction::prod: return reduce_with<T, Prod>(from, n, to, count);
      case Reduction::min: return reduce_with<T, Min>(from, n, to, count);
      case Reduction::max: return reduce_with<T, Max>(from, n, to, count);
    }
  });
}

}  // namespace horngate::comm
