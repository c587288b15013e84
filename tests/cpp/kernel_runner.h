// For tests of kernels: runs one on plain numbers, in memory that shows what is written outside of
// it.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <new>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engines/native/kernel.h"
#include "ir/dispatch_dtype.h"

namespace horngate::native {

using Numbers = std::vector<double>;

/// Memory that kernels get: aligned, filled with what is no result, between pages that end a process that touches them.
class Buffer {
 public:
  explicit Buffer(size_t bytes) : bytes_(bytes), pages_((bytes + kPage) / kPage * kPage) {
    void* made = mmap(nullptr, pages_ + 2 * kGuard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) throw std::bad_alloc();
    memory_ = static_cast<unsigned char*>(made);
    if (mprotect(memory_ + kGuard, pages_, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    std::memset(memory_ + kGuard, kFill, pages_);
    data_ = memory_ + kGuard + pages_ - (bytes + 63) / 64 * 64;
  }
  ~Buffer() {
    if (memory_) munmap(memory_, pages_ + 2 * kGuard);
  }
  Buffer(Buffer&& other) noexcept
      : bytes_(other.bytes_),
        pages_(other.pages_),
        memory_(std::exchange(other.memory_, nullptr)),
        data_(other.data_) {}
  void* data() const { return data_; }
  void check_guards() const {
    for (const unsigned char* p = memory_ + kGuard; p < data_; ++p) ASSERT_EQ(*p, kFill);
    for (const unsigned char* p = data_ + bytes_; p < memory_ + kGuard + pages_; ++p)
      ASSERT_EQ(*p, kFill) << "written " << p - data_ - bytes_ << " bytes behind the end";
  }

 private:
  static constexpr size_t kPage = 4096, kGuard = 64 * kPage;
  static constexpr unsigned char kFill = 0xCB;  // as a float neither zero nor small
  size_t bytes_, pages_;
  unsigned char *memory_ = nullptr, *data_ = nullptr;
};

struct Value {
  TensorType type;
  Numbers data;
};

inline int64_t count_of(const Ints& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

inline void store(const Numbers& from, DType dtype, void* to) {
  with_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (size_t i = 0; i < from.size(); ++i)
      static_cast<T*>(to)[i] = narrow<T>(static_cast<Wide<T>>(from[i]));
  });
}
inline Numbers load(const void* from, DType dtype, int64_t n) {
  Numbers out(static_cast<size_t>(n));
  with_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = static_cast<double>(widen(static_cast<const T*>(from)[i]));
  });
  return out;
}

/// Random numbers that the dtype holds exactly.
inline Value random_value(DType dtype, Ints dims, unsigned seed) {
  std::mt19937 random(seed);
  Value v{TensorType(dtype, Shape(dims)), Numbers(static_cast<size_t>(count_of(dims)))};
  for (double& d : v.data)
    d = is_float(dtype) ? std::normal_distribution<double>()(random)
                        : static_cast<double>(random() % 7);
  std::vector<char> bytes(v.data.size() * size_of(dtype) + 1);
  store(v.data, dtype, bytes.data());
  v.data = load(bytes.data(), dtype, count_of(dims));
  return v;
}

template <class A>
std::vector<Numbers> run(KernelFactory make, const A& attributes, const std::vector<Value>& in,
                         const std::vector<TensorType>& out) {
  const AttrRef attrs(new AttrsOf<A>(attributes));
  std::vector<TensorType> types;
  std::vector<Buffer> buffers;
  std::vector<const void*> from;
  std::vector<void*> to;
  for (const Value& v : in) {
    types.push_back(v.type);
    buffers.emplace_back(v.data.size() * size_of(v.type.dtype));
    store(v.data, v.type.dtype, buffers.back().data());
    from.push_back(buffers.back().data());
  }
  for (const TensorType& t : out) {
    buffers.emplace_back(static_cast<size_t>(t.shape.size()) * size_of(t.dtype));
    to.push_back(buffers.back().data());
  }
  const KernelPtr kernel = make({types, out, attrs.get(), {}});
  const Buffer scratch(kernel->scratch_bytes());
  RunContext context{.scratch = scratch.data()};
  kernel->run(from.data(), to.data(), context);
  scratch.check_guards();
  for (const Buffer& b : buffers) b.check_guards();
  std::vector<Numbers> results;
  for (size_t i = 0; i < out.size(); ++i)
    results.push_back(load(to[i], out[i].dtype, out[i].shape.size()));
  return results;
}

/// Relative to the largest expected number: sums of products lose digits by cancellation.
inline void expect_close(const Numbers& got, const Numbers& want, DType dtype,
                         const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  double largest = 1e-30, worst = 0;
  for (double w : want) largest = std::max(largest, std::abs(w));
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_FALSE(std::isnan(got[i])) << what << " at " << i;
    worst = std::max(worst, std::abs(got[i] - want[i]));
  }
  const double tolerance = dtype == DType::float64    ? 1e-12
                           : dtype == DType::float32  ? 4e-6
                           : dtype == DType::float16  ? 1e-3
                           : dtype == DType::bfloat16 ? 8e-3
                                                      : 0;
  EXPECT_LE(worst, tolerance * largest) << what;
}

/// All indices below dims, last axis fastest.
inline void for_indices(const Ints& dims, const std::function<void(const Ints&)>& f) {
  Ints index(dims.size(), 0);
  for (int64_t i = 0; i < count_of(dims); ++i) {
    f(index);
    for (size_t axis = dims.size(); axis-- > 0;) {
      if (++index[axis] < dims[axis]) break;
      index[axis] = 0;
    }
  }
}
inline int64_t flat(const Ints& index, const Ints& dims) {
  int64_t at = 0;
  for (size_t i = 0; i < dims.size(); ++i) at = at * dims[i] + index[i];
  return at;
}

}  // namespace horngate::native
