// What the CTC tests share: running a kernel, random problems, the enumeration of all paths.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "engines/native/kernel.h"
#include "ir/dispatch_dtype.h"

namespace horngate::native::ctc_tests {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
using Labels = std::vector<int64_t>;

// A buffer of exactly the bytes that a type needs, so that a sanitizer sees what goes beyond.
struct Buffer {
  explicit Buffer(size_t bytes)
      : data(std::aligned_alloc(64, (std::max<size_t>(bytes, 1) + 63) / 64 * 64)) {}
  ~Buffer() { std::free(data); }
  void* data;
};

struct Operand {
  TensorType type;
  std::vector<unsigned char> bytes;
};

template <class T, class V>
Operand operand(const std::vector<V>& values, Ints dims) {
  Operand o{TensorType(dtype_v<T>, Shape(std::move(dims))), {}};
  for (const V v : values) {
    T t;
    if constexpr (sizeof(T) == 2)
      t = narrow<T>(static_cast<float>(v));
    else
      t = static_cast<T>(v);
    const auto* p = reinterpret_cast<const unsigned char*>(&t);
    o.bytes.insert(o.bytes.end(), p, p + sizeof(T));
  }
  return o;
}

inline std::vector<double> to_doubles(DType t, const void* data, int64_t n) {
  std::vector<double> out(static_cast<size_t>(n));
  with_dtype(t, [&]<class T>(T) {
    for (int64_t i = 0; i < n; ++i)
      out[i] = static_cast<double>(widen(static_cast<const T*>(data)[i]));
  });
  return out;
}

// The results as doubles; types come from the primitive's own rule.
inline std::vector<std::vector<double>> run(Prim prim, KernelFactory make,
                                            const std::vector<Operand>& in,
                                            const AttrRef& attrs = {}) {
  std::vector<TensorType> types;
  std::vector<const void*> ins;
  for (const Operand& o : in) {
    types.push_back(o.type);
    ins.push_back(o.bytes.data());
  }
  const Types out = primitive(prim).infer({types, {}}, attrs.get());
  KernelCall call;
  call.in = types;
  call.out = {out.begin(), out.size()};
  call.attrs = attrs.get();
  const KernelPtr kernel = make(call);
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<void*> outs;
  for (const TensorType& t : out) {
    buffers.push_back(
        std::make_unique<Buffer>(static_cast<size_t>(t.shape.size()) * size_of(t.dtype)));
    outs.push_back(buffers.back()->data);
  }
  const Buffer scratch(kernel->scratch_bytes());
  RunContext context;
  context.scratch = scratch.data;
  kernel->run(ins.data(), outs.data(), context);
  std::vector<std::vector<double>> results;
  for (size_t i = 0; i < out.size(); ++i)
    results.push_back(to_doubles(out[i].dtype, outs[i], out[i].shape.size()));
  return results;
}

struct Problem {
  int64_t batch, time, classes, width;  // width of labels
  std::vector<double> inputs;
  Labels labels, input_length, label_length;
};

inline Problem random_problem(uint64_t seed, int64_t batch, int64_t time, int64_t classes,
                              int64_t width) {
  std::mt19937_64 rng(seed);
  std::normal_distribution<double> normal(0, 2);
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>(rng() % static_cast<uint64_t>(n));
  };
  Problem p{batch, time, classes, width, {}, {}, {}, {}};
  for (int64_t i = 0; i < batch * time * classes; ++i)
    p.inputs.push_back(static_cast<float>(normal(rng)));  // so that float32 sees the same
  for (int64_t b = 0; b < batch; ++b) {
    p.input_length.push_back(below(time + 1));
    p.label_length.push_back(classes > 1 ? below(width + 1) : 0);
    for (int64_t i = 0; i < width; ++i)
      p.labels.push_back(i < p.label_length.back() ? below(classes - 1) : -1);  // -1 pads
  }
  return p;
}

template <class T, class I = int32_t>
std::vector<Operand> operands(const Problem& p) {
  return {operand<T>(p.inputs, {p.batch, p.time, p.classes}),
          operand<I>(p.labels, {p.batch, p.width}), operand<I>(p.input_length, {p.batch}),
          operand<I>(p.label_length, {p.batch})};
}

// Probability of every label sequence of one sample, by all paths.
inline std::map<Labels, double> enumerate(const Problem& p, int64_t b) {
  const int64_t time = p.input_length[b];
  std::vector<std::vector<double>> softmax;
  for (int64_t t = 0; t < time; ++t) {
    std::vector<double> row(p.inputs.begin() + (b * p.time + t) * p.classes,
                            p.inputs.begin() + (b * p.time + t + 1) * p.classes);
    double sum = 0;
    for (double& x : row) sum += x = std::exp(x);
    for (double& x : row) x /= sum;
    softmax.push_back(row);
  }
  std::map<Labels, double> result;
  const std::function<void(int64_t, int64_t, Labels, double)> walk =
      [&](int64_t t, int64_t previous, Labels labels, double q) {
        if (t == time) {
          result[labels] += q;
          return;
        }
        for (int64_t c = 0; c < p.classes; ++c) {
          Labels longer = labels;
          if (c != p.classes - 1 && c != previous) longer.push_back(c);
          walk(t + 1, c, longer, q * softmax[t][c]);
        }
      };
  walk(0, -1, {}, 1.0);
  return result;
}

inline double true_loss(const Problem& p, int64_t b) {
  const auto first = p.labels.begin() + b * p.width;
  const auto all = enumerate(p, b);
  const auto found = all.find(Labels(first, first + p.label_length[b]));
  return found == all.end() ? kInf : -std::log(found->second);
}

inline void expect_close(const std::vector<double>& got, const std::vector<double>& want,
                         double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isinf(want[i]))
      EXPECT_EQ(got[i], want[i]) << i;
    else
      EXPECT_NEAR(got[i], want[i], tolerance * std::max(1.0, std::abs(want[i]))) << i;
  }
}

}  // namespace horngate::native::ctc_tests
