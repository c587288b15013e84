// Runs single kernels on arrays, and loops over multi-indices to check them with.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>

#include "engines/native/kernel.h"
#include "engines/native/threads.h"
#include "horngate/array.h"
#include "ir/dispatch_dtype.h"

namespace horngate::kernel_testing {

using namespace native;
using Arrays = std::vector<Array>;

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline const std::vector<DType> kNumbers = {
    DType::float16, DType::bfloat16, DType::float32, DType::float64, DType::int8,   DType::int16,
    DType::int32,   DType::int64,    DType::uint8,   DType::uint16,  DType::uint32, DType::uint64};
inline const std::vector<DType> kFloats = {DType::float16, DType::bfloat16, DType::float32,
                                           DType::float64};

/// Runs a kernel on outputs of the inferred types that hold garbage before.
template <class A>
Arrays run(KernelFactory make, A a, const Arrays& in, RunContext context = {}) {
  std::vector<TensorType> types;
  std::vector<const void*> sources;
  for (const Array& x : in) {
    types.emplace_back(x.dtype(), x.shape());
    sources.push_back(x.raw());
  }
  const AttrRef attrs(new AttrsOf<A>(std::move(a)));
  const Types out = primitive(A::kPrim).infer(InferCall{types, {}}, attrs.get());
  Arrays results;
  std::vector<void*> targets;
  for (const TensorType& t : out) {
    results.emplace_back(t.dtype, t.shape.dims());
    if (results.back().nbytes()) std::memset(results.back().raw(), 0x5a, results.back().nbytes());
    targets.push_back(results.back().raw());
  }
  const KernelPtr kernel = make(KernelCall{types, {out.data(), out.size()}, attrs.get(), {}});
  const Array scratch(DType::uint8, {static_cast<int64_t>(kernel->scratch_bytes())});
  context.scratch = scratch.raw();
  kernel->run(sources.data(), targets.data(), context);
  return results;
}

/// Elements all different as far as the dtype allows.
inline Array counted(DType dtype, Ints dims) {
  Array a(dtype, std::move(dims));
  auto* bytes = static_cast<uint8_t*>(a.raw());
  const size_t size = size_of(dtype);
  for (int64_t i = 0; i < a.size(); ++i) {
    const uint64_t v = static_cast<uint64_t>(i) * (size == 1 ? 1 : 257) + 1;
    const uint64_t one = dtype == DType::bool_ ? v % 2 : v;
    std::memcpy(bytes + static_cast<size_t>(i) * size, &one, size);
  }
  return a;
}

inline Array random_array(DType dtype, Ints dims, double low, double high, uint64_t seed = 1) {
  Array a(DType::float64, dims);
  std::mt19937_64 bits(seed);
  std::uniform_real_distribution<double> law(low, high);
  for (int64_t i = 0; i < a.size(); ++i) a.data<double>()[i] = law(bits);
  return a.cast(dtype);
}

inline Array indices_of(DType dtype, std::vector<int64_t> values, Ints dims) {
  return Array::of(values, std::move(dims)).cast(dtype);
}

inline int64_t offset_of(const Ints& dims, const Ints& at) {
  int64_t offset = 0;
  for (size_t i = 0; i < dims.size(); ++i) offset = offset * dims[i] + at[i];
  return offset;
}

inline void for_each_index(const Ints& dims, const std::function<void(const Ints&)>& f) {
  int64_t total = 1;
  for (int64_t d : dims) total *= d;
  for (int64_t i = 0; i < total; ++i) {
    Ints at(dims.size(), 0);
    int64_t rest = i;
    for (size_t k = dims.size(); k-- > 0;) {
      at[k] = rest % dims[k];
      rest /= dims[k];
    }
    f(at);
  }
}

inline std::string element(const Array& a, int64_t i) {
  const size_t size = size_of(a.dtype());
  return std::string(static_cast<const char*>(a.raw()) + static_cast<size_t>(i) * size, size);
}

/// Every element of y is the element of x that `from` names.
inline void expect_moved(const Array& x, const Array& y,
                         const std::function<Ints(const Ints&)>& from) {
  ASSERT_EQ(x.dtype(), y.dtype());
  int64_t wrong = 0;
  for_each_index(y.dims(), [&](const Ints& at) {
    wrong += element(y, offset_of(y.dims(), at)) != element(x, offset_of(x.dims(), from(at)));
  });
  EXPECT_EQ(wrong, 0) << name_of(x.dtype()) << x.shape().str() << " -> " << y.shape().str();
}

inline void expect_near(const Array& y, const std::vector<double>& expected, double tolerance) {
  const auto got = y.to_vector<double>();
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(got[i])) << i;
    } else if (std::isinf(expected[i])) {
      EXPECT_EQ(got[i], expected[i]) << i;
    } else {
      EXPECT_NEAR(got[i], expected[i], tolerance * (1 + std::abs(expected[i])))
          << i << " " << name_of(y.dtype());
    }
  }
}

inline double tolerance_of(DType t) {
  switch (t) {
    case DType::float16: return 2e-3;
    case DType::bfloat16: return 1.6e-2;
    case DType::float32: return 2e-6;
    case DType::float64: return 1e-14;
    default: return 0;
  }
}

template <class E, class F>
inline void expect_error(F f, const std::string& text) {
  try {
    f();
    ADD_FAILURE() << "no error: " << text;
  } catch (const E& e) {
    EXPECT_EQ(e.what(), text);
  }
}

}  // namespace horngate::kernel_testing
