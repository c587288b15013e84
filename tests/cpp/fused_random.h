// Random programs on random iteration spaces, evaluated element by element as a reference. All
// numbers are small integers, so that every order of evaluation gives the same.
#pragma once

#include <algorithm>

#include "fused_test_util.h"
#include "ir/dispatch_dtype.h"

namespace horngate::native::fused {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  int64_t operator()(int64_t lo, int64_t hi) {
    return std::uniform_int_distribution<int64_t>(lo, hi)(engine_);
  }
  bool chance(int percent) { return (*this)(1, 100) <= percent; }

 private:
  std::mt19937_64 engine_;
};

/// Memory with an access: any order of axes, gaps, backwards, broadcast.
struct Array {
  DType dtype;
  Access access;
  std::vector<unsigned char> bytes;

  Array(Random& random, DType t, const Ints& extent, const std::vector<bool>& broadcast)
      : dtype(t) {
    std::vector<size_t> order(extent.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (random.chance(40))
      for (size_t i = order.size(); i-- > 1;)
        std::swap(order[i], order[static_cast<size_t>(random(0, static_cast<int64_t>(i)))]);
    access.stride = Ints(extent.size(), 0);
    int64_t stride = 1, last = random.chance(20) ? random(0, 5) : 0;
    access.offset = last;
    for (size_t k = order.size(); k-- > 0;) {
      const size_t axis = order[k];
      if (broadcast[axis] || extent[axis] == 0) continue;
      if (random.chance(15)) stride *= 2;
      access.stride[axis] = stride;
      last += stride * (extent[axis] - 1);
      if (random.chance(15)) {
        access.offset += stride * (extent[axis] - 1);
        access.stride[axis] = -stride;
      }
      stride *= extent[axis];
    }
    bytes.resize((static_cast<size_t>(last) + 1) * size_of(dtype) + 64, 0x5a);
  }

  int64_t offset(const Ints& index) const {
    int64_t at = access.offset;
    for (size_t i = 0; i < index.size(); ++i) at += index[i] * access.stride[i];
    return at;
  }
  double get(int64_t at) const {
    return with_dtype(dtype, [&](auto zero) {
      decltype(zero) v;
      std::memcpy(&v, bytes.data() + static_cast<size_t>(at) * sizeof v, sizeof v);
      return static_cast<double>(widen(v));
    });
  }
  void set(int64_t at, double value) {
    with_dtype(dtype, [&](auto zero) {
      using T = decltype(zero);
      T v;
      if constexpr (std::is_class_v<T>)
        v = narrow<T>(static_cast<float>(value));
      else
        v = static_cast<T>(value);
      std::memcpy(bytes.data() + static_cast<size_t>(at) * sizeof v, &v, sizeof v);
    });
  }
};

template <class F>
void for_each_index(const Ints& extent, F f) {
  Ints index(extent.size(), 0);
  for (size_t i = 0; i < extent.size(); ++i)
    if (extent[i] == 0) return;
  while (true) {
    f(index);
    size_t axis = extent.size();
    while (axis > 0 && ++index[axis - 1] == extent[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

/// A few inputs and operations on them; the same steps build the program and evaluate an element.
struct Case {
  Ints extent;
  std::vector<Array> in;
  struct Step {
    Prim prim;
    size_t a, b;
  };
  std::vector<Step> steps;
  DType dtype;  // of the computation

  explicit Case(Random& random) {
    constexpr DType kComputed[] = {DType::float32, DType::float64, DType::int32,  DType::int64,
                                   DType::int16,   DType::uint64,  DType::float16};
    constexpr int64_t kExtents[] = {1, 1, 2, 3, 4, 5, 7, 16, 17, 33, 64, 70, 129, 300, 1100};
    dtype = kComputed[random(0, std::size(kComputed) - 1)];
    const int64_t rank = random(0, 5);
    int64_t size = 1;
    for (int64_t i = 0; i < rank; ++i) {
      int64_t n = kExtents[random(0, std::size(kExtents) - 1)];
      if (size * n > 20000) n = 2;
      if (random.chance(1)) n = 0;
      size *= n;
      extent.push_back(n);
    }
    for (int64_t i = random(1, 3); i > 0; --i) {
      std::vector<bool> broadcast(extent.size());
      for (size_t k = 0; k < broadcast.size(); ++k) broadcast[k] = random.chance(25);
      Array array(random, random.chance(20) ? DType::uint8 : dtype, extent, broadcast);
      for (int64_t at = 0;
           at < static_cast<int64_t>((array.bytes.size() - 64) / size_of(array.dtype)); ++at)
        array.set(at, static_cast<double>(random(0, 3)));
      in.push_back(std::move(array));
    }
    constexpr Prim kPrims[] = {Prim::add,     Prim::sub,     Prim::mul,
                               Prim::maximum, Prim::minimum, Prim::lt};
    for (int64_t i = random(0, 4); i > 0; --i) {
      const auto any = [&] {
        return static_cast<size_t>(random(0, static_cast<int64_t>(in.size() + steps.size()) - 1));
      };
      Prim prim = kPrims[random(0, std::size(kPrims) - 1)];
      // Products only of inputs, which keeps numbers small; unsigned numbers must not fall below 0.
      Step step = {prim, any(), any()};
      if (prim == Prim::mul && (step.a >= in.size() || step.b >= in.size()))
        step.prim = Prim::maximum;
      if (prim == Prim::sub && dtype == DType::uint64) step.prim = Prim::add;
      steps.push_back(step);
    }
  }

  size_t values() const { return in.size() + steps.size(); }

  /// Registers of all values, in the computing dtype.
  std::vector<Reg> build(ProgramBuilder& b) const {
    std::vector<Reg> regs;
    for (const Array& array : in) regs.push_back(b.input(array.dtype));
    for (Reg& r : regs) r = b.cast(r, dtype);
    for (const Step& s : steps) {
      Reg r = b.op(s.prim, dtype, regs[s.a], regs[s.b]);
      if (s.prim == Prim::lt)  // lt(a, b) ? a : 2
        r = b.op(Prim::select, dtype, r, regs[s.a], b.constant(2, dtype));
      regs.push_back(r);
    }
    return regs;
  }
  std::vector<double> evaluate(const Ints& index) const {
    std::vector<double> v;
    for (const Array& array : in) v.push_back(array.get(array.offset(index)));
    for (const Step& s : steps) {
      const double a = v[s.a], b = v[s.b];
      switch (s.prim) {
        case Prim::add: v.push_back(a + b); break;
        case Prim::sub: v.push_back(a - b); break;
        case Prim::mul: v.push_back(a * b); break;
        case Prim::maximum: v.push_back(std::max(a, b)); break;
        case Prim::minimum: v.push_back(std::min(a, b)); break;
        default: v.push_back(a < b ? a : 2); break;
      }
    }
    return v;
  }
  std::vector<const void*> in_pointers() const {
    std::vector<const void*> p;
    for (const Array& array : in) p.push_back(array.bytes.data());
    return p;
  }
  std::vector<Access> in_accesses() const {
    std::vector<Access> a;
    for (const Array& array : in) a.push_back(array.access);
    return a;
  }
};

}  // namespace horngate::native::fused
