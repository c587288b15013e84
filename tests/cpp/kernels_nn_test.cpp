// Kernels of convolutions, pools and batch normalisation against slow, obvious loops.
#include <chrono>
#include <random>
#include <thread>

#include "engines/native/threads.h"
#include "kernel_runner.h"
#include "windows.h"

namespace horngate::native {
namespace kernels {
KernelPtr make_conv(const KernelCall&);
KernelPtr make_conv_input_grad(const KernelCall&);
KernelPtr make_conv_filter_grad(const KernelCall&);
KernelPtr make_pool(const KernelCall&);
KernelPtr make_pool_grad(const KernelCall&);
KernelPtr make_batch_norm(const KernelCall&);
KernelPtr make_batch_norm_grad(const KernelCall&);
}  // namespace kernels

namespace {

// Convolutions
// ---------------------------------------------------------------------------------------

using ConvCase = Windows;

struct ConvResults {
  Numbers y, dx, dw;
};

ConvResults run_convs(const ConvCase& k, const Value& x, const Value& w, const Value& dy) {
  return {run(kernels::make_conv, conv_attrs<attrs::conv>(k), {x, w}, {dy.type})[0],
          run(kernels::make_conv_input_grad, conv_attrs<attrs::conv_input_grad>(k), {dy, w},
              {x.type})[0],
          run(kernels::make_conv_filter_grad, conv_attrs<attrs::conv_filter_grad>(k), {x, dy},
              {w.type})[0]};
}

void check_conv(const ConvCase& k, DType dtype) {
  const Value x = random_value(dtype, k.data_dims(k.c, k.in), 1);
  const Value w = random_value(dtype, k.kernel_dims(), 2);
  const Value dy = random_value(dtype, k.data_dims(k.o, k.out()), 3);
  Numbers y(dy.data.size()), dx(x.data.size()), dw(w.data.size());
  k.for_products([&](size_t i, size_t j, size_t r) {
    y[r] += x.data[i] * w.data[j];
    dx[i] += dy.data[r] * w.data[j];
    dw[j] += x.data[i] * dy.data[r];
  });
  const std::string what = text_of(dtype, " ", k.text());
  const ConvResults got = run_convs(k, x, w, dy);
  expect_close(got.y, y, dtype, "conv " + what);
  expect_close(got.dx, dx, dtype, "conv_input_grad " + what);
  expect_close(got.dw, dw, dtype, "conv_filter_grad " + what);
}

const std::vector<ConvCase> kConvCases = {
    {2, 3, 4, {6, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {1, 1, 16, {8, 8}, {3, 3}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
    {5, 16, 32, {8, 8}, {3, 3}, {2, 2}, {0, 0}, {1, 1}, {1, 1}},
    {2, 8, 8, {9, 5}, {2, 3}, {3, 1}, {2, 0}, {1, 4}, {1, 1}},     // asymmetric
    {2, 5, 7, {11, 10}, {3, 2}, {1, 1}, {2, 1}, {2, 0}, {2, 3}},   // dilated
    {3, 32, 48, {5, 5}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},   // pointwise
    {3, 16, 24, {6, 6}, {1, 1}, {2, 2}, {0, 0}, {0, 0}, {1, 1}},   // kernel smaller than stride
    {2, 12, 3, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},    // few outputs
    {2, 12, 2, {7, 7}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},    // few outputs, strided
    {2, 3, 64, {15, 15}, {7, 7}, {2, 2}, {2, 2}, {3, 3}, {1, 1}},  // few inputs
    {2, 6, 6, {7, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 6},  // depthwise
    {2, 16, 16, {9, 9}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, 16},
    {2,
     4,
     12,
     {7, 6},
     {3, 2},
     {1, 1},
     {1, 0},
     {1, 1},
     {1, 1},
     4},  // depthwise, 3 filters per channel
    {2, 6, 10, {7, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 2},  // groups
    {1, 64, 32, {6, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 4},
    {3, 4, 9, {20}, {5}, {1}, {2}, {2}, {1}},                                     // 1-D
    {2, 8, 16, {17}, {3}, {2}, {4}, {0}, {2}},                                    // causal
    {2, 3, 5, {4, 5, 6}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},  // 3-D
    {1, 16, 16, {5, 6, 4}, {2, 3, 1}, {2, 1, 2}, {0, 1, 0}, {1, 1, 0}, {1, 1, 1}},
    {2, 2, 3, {4, 4}, {3, 3}, {1, 1}, {5, 4}, {6, 4}, {1, 1}},    // padding beyond the kernel
    {1, 4, 4, {1, 1}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},    // one pixel
    {3, 16, 48, {7, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},  // Winograd's way
    {2, 32, 16, {10, 13}, {3, 3}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
    {1, 48, 32, {9, 11}, {3, 3}, {1, 1}, {2, 0}, {0, 2}, {1, 1}},
    {1, 16, 16, {4, 4}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {2, 16, 32, {5, 6, 7}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
    {1,
     1,
     1,
     {7, 1, 1},
     {7, 1, 1},
     {2, 1, 1},
     {3, 0, 0},
     {3, 0, 0},
     {1, 1, 1}},  // two windows begin in padding
    {1, 12, 17, {6, 5, 2}, {3, 8, 2}, {2, 3, 1}, {1, 4, 1}, {0, 0, 0}, {1, 1, 1}},
    {2, 12, 3, {4, 6, 2}, {1, 8, 8}, {2, 3, 1}, {0, 4, 7}, {0, 0, 7}, {1, 1, 1}},
    {3, 10, 39, {3, 3, 1}, {8, 2, 4}, {1, 1, 3}, {7, 0, 0}, {3, 1, 4}, {1, 1, 1}},
    {1, 32, 16, {4, 9, 8}, {2, 3, 3}, {1, 1, 1}, {0, 0, 1}, {1, 0, 0}, {1, 1, 1}},
};

TEST(NnKernels, ConvolutionsMatchLoops) {
  for (ConvCase k : kConvCases)
    for (const bool channels_first : {false, true})
      for (const DType dtype : {DType::float32, DType::float64}) {
        k.channels_first = channels_first;
        check_conv(k, dtype);
      }
}

/// Windows longer than the image, padding beyond them, strides beyond both.
TEST(NnKernels, RandomConvolutionsMatchLoops) {
  std::mt19937 random(2026);
  const auto draw = [&](int64_t from, int64_t to) {
    return std::uniform_int_distribution<int64_t>(from, to)(random);
  };
  for (int i = 0; i < 400; ++i) {
    const auto rank = static_cast<size_t>(draw(1, 3));
    ConvCase k{draw(1, 3), draw(1, 17), draw(1, 17), {}, {}, {}, {}, {}, {}, 1, draw(0, 1) == 1};
    for (size_t axis = 0; axis < rank; ++axis) {
      k.in.push_back(draw(1, 7));
      k.taps.push_back(draw(1, 8));
      k.strides.push_back(draw(1, 3));
      k.dilation.push_back(draw(0, 4) == 0 ? 2 : 1);
      k.low.push_back(draw(0, k.taps.back()));
      k.high.push_back(draw(0, k.taps.back()));
      const int64_t window = k.dilation.back() * (k.taps.back() - 1) + 1;
      k.high.back() = std::max(k.high.back(), window - k.in.back() - k.low.back());
    }
    check_conv(k, i % 8 ? DType::float32 : DType::float64);
    if (HasFailure()) return;
  }
}

/// One number from a window as large as the image: seconds when it was done as a window at each pixel of the image.
TEST(NnKernels, LongWindowsTakeNoLongerThanTheirProducts) {
  const ConvCase k{1, 3, 1, {256, 256}, {256, 256}, {1, 1}, {0, 0}, {0, 0}, {1, 1}};
  const auto ones = [](const Ints& dims) {
    return Value{TensorType(DType::float32, Shape(dims)),
                 Numbers(static_cast<size_t>(count_of(dims)), 1.0)};
  };
  const auto begin = std::chrono::steady_clock::now();
  const ConvResults got = run_convs(k, ones(k.data_dims(k.c, k.in)), ones(k.kernel_dims()),
                                    ones(k.data_dims(k.o, k.out())));
  EXPECT_EQ(got.y, Numbers(1, 3.0 * 256 * 256));
  EXPECT_EQ(got.dx, Numbers(3 * 256 * 256, 1.0));
  EXPECT_EQ(got.dw, Numbers(3 * 256 * 256, 1.0));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
}

TEST(NnKernels, ConvolutionsOfHalfTypes) {
  for (const DType dtype : {DType::float16, DType::bfloat16}) check_conv(kConvCases[0], dtype);
}

// Large enough to be cut: by images, with a shorter last piece, and by rows.
const std::vector<ConvCase> kCutConvs = {
    {13, 16, 32, {24, 24}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {1, 32, 32, {40, 24}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {2, 16, 32, {47, 40}, {5, 3}, {2, 2}, {2, 1}, {2, 1}, {1, 1}},
    {1, 16, 24, {3000}, {9}, {1}, {8}, {0}, {1}},
    {1, 16, 16, {10, 301}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},  // rows of tiles are cut
    {37, 64, 16, {8, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
};

TEST(NnKernels, LargeConvolutionsMatchLoops) {
  for (ConvCase k : kCutConvs)
    for (const bool channels_first : {false, true}) {
      k.channels_first = channels_first;
      check_conv(k, DType::float32);
    }
}

// Beyond the caches, results in planes are written past them.
TEST(NnKernels, PlanesBeyondTheCachesEqualPixels) {
  ConvCase k{17, 16, 64, {64, 64}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  const int64_t pixels = 64 * 64;
  const Value x = random_value(DType::float32, k.data_dims(k.c, k.in), 1);
  const Value w = random_value(DType::float32, k.kernel_dims(), 2);
  const auto convolve = [&](const Value& images) {
    const TensorType y(DType::float32, Shape(k.data_dims(k.o, k.out())));
    return run(kernels::make_conv, conv_attrs<attrs::conv>(k), {images, w}, {y})[0];
  };
  const Numbers last = convolve(x);
  k.channels_first = true;
  Value planes = x;
  planes.type = TensorType(DType::float32, Shape(k.data_dims(k.c, k.in)));
  for (int64_t i = 0; i < k.n * pixels * k.c; ++i)
    planes.data[static_cast<size_t>((i / (pixels * k.c) * k.c + i % k.c) * pixels +
                                    i / k.c % pixels)] = x.data[static_cast<size_t>(i)];
  const Numbers first = convolve(planes);
  int64_t different = 0;
  for (int64_t i = 0; i < k.n * pixels * k.o; ++i)
    different += last[static_cast<size_t>(i)] !=
                 first[static_cast<size_t>((i / (pixels * k.o) * k.o + i % k.o) * pixels +
                                           i / k.o % pixels)];
  EXPECT_EQ(different, 0);
}

TEST(NnKernels, ConvolutionsDoNotDependOnThreads) {
  for (const ConvCase& k : kCutConvs) {
    const Value x = random_value(DType::float32, k.data_dims(k.c, k.in), 1);
    const Value w = random_value(DType::float32, k.kernel_dims(), 2);
    const Value dy = random_value(DType::float32, k.data_dims(k.o, k.out()), 3);
    set_thread_count(1);
    const ConvResults one = run_convs(k, x, w, dy);
    set_thread_count(3);
    const ConvResults three = run_convs(k, x, w, dy);
    set_thread_count(0);
    EXPECT_EQ(one.y, three.y) << k.text();
    EXPECT_EQ(one.dx, three.dx) << k.text();
    EXPECT_EQ(one.dw, three.dw) << k.text();
  }
}

TEST(NnKernels, EmptyConvolutions) {
  check_conv({0, 3, 4, {6, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, DType::float32);
  check_conv({2, 0, 4, {6, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, DType::float64);
  check_conv({2, 3, 0, {6, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, DType::float32);
}

TEST(NnKernels, OneConvolutionRunsOnSeveralThreadsAtOnce) {
  const ConvCase k{4, 16, 32, {20, 20}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1, true};
  const AttrRef attrs(new AttrsOf<attrs::conv>(conv_attrs<attrs::conv>(k)));
  const Value x = random_value(DType::float32, k.data_dims(k.c, k.in), 1);
  const Value w = random_value(DType::float32, k.kernel_dims(), 2);
  const TensorType y(DType::float32, Shape(k.data_dims(k.o, k.out()))), types[] = {x.type, w.type};
  const KernelPtr kernel = kernels::make_conv({types, {&y, 1}, attrs.get(), {}});
  const Numbers want = run(kernels::make_conv, conv_attrs<attrs::conv>(k), {x, w}, {y})[0];
  const std::vector<float> kernel_data(w.data.begin(), w.data.end());
  std::vector<Numbers> got(4);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < got.size(); ++t)
    threads.emplace_back([&, t] {
      // Each thread scales x by its own power of two, which is exact.
      const auto scale = static_cast<float>(1 << t);
      std::vector<float> in(x.data.begin(), x.data.end()), out(want.size());
      for (float& v : in) v *= scale;
      const Buffer scratch(kernel->scratch_bytes());
      RunContext context{.scratch = scratch.data()};
      const void* from[] = {in.data(), kernel_data.data()};
      void* to[] = {out.data()};
      for (int i = 0; i < 20; ++i) kernel->run(from, to, context);
      for (float v : out) got[t].push_back(v / scale);
    });
  for (std::thread& t : threads) t.join();
  for (const Numbers& g : got) EXPECT_EQ(g, want);
}

// Pools
// ----------------------------------------------------------------------------------------------

struct PoolCase {
  int64_t n, c;
  Ints in, window, strides, low, high;
};
const std::vector<PoolCase> kPoolCases = {
    {2, 16, {8, 8}, {2, 2}, {2, 2}, {0, 0}, {0, 0}},
    {2, 5, {9, 7}, {2, 2}, {2, 2}, {0, 0}, {1, 1}},   // "same"
    {3, 19, {7, 6}, {3, 3}, {1, 2}, {1, 1}, {1, 1}},  // overlapping
    {1, 4, {7, 9}, {2, 1}, {3, 2}, {0, 0}, {0, 0}},   // gaps
    {2, 3, {11}, {4}, {3}, {1}, {2}},
    {1, 130, {4, 4}, {4, 4}, {4, 4}, {0, 0}, {0, 0}},  // blocks of channels
    {2, 6, {4, 5, 6}, {2, 3, 2}, {2, 1, 2}, {0, 1, 0}, {0, 1, 0}},
    {0, 3, {4, 4}, {2, 2}, {2, 2}, {0, 0}, {0, 0}},
};

template <class A>
A pool_attrs(const PoolCase& k, const std::string& mode, bool channels_first) {
  A a;
  a.mode = mode;
  a.window = k.window;
  a.strides = k.strides;
  a.pad_low = k.low;
  a.pad_high = k.high;
  a.channels_first = channels_first;
  return a;
}

void check_pool(const PoolCase& k, const std::string& mode, bool channels_first, DType dtype) {
  // A pool walks windows as a depthwise convolution walks taps.
  ConvCase conv{
      k.n, k.c,           k.c, k.in, k.window, k.strides, k.low, k.high, Ints(k.in.size(), 1),
      k.c, channels_first};
  const Value x =
      random_value(is_float(dtype) ? DType::bfloat16 : dtype, conv.data_dims(k.c, k.in), 5);
  const Value in{TensorType(dtype, x.type.shape), x.data};  // few digits: there are ties
  const Value dy = random_value(dtype, conv.data_dims(k.c, conv.out()), 6);
  std::vector<std::vector<int64_t>> windows(dy.data.size());
  conv.for_products(
      [&](size_t i, size_t, size_t r) { windows[r].push_back(static_cast<int64_t>(i)); });
  Numbers y(dy.data.size()), dx(x.data.size());
  for (size_t r = 0; r < windows.size(); ++r) {
    int64_t best = windows[r][0];
    for (int64_t i : windows[r])
      if (x.data[i] > x.data[best]) best = i;
    const double n = static_cast<double>(windows[r].size());
    for (int64_t i : windows[r]) {
      if (mode == "avg") y[r] += x.data[i] / n;
      if (mode == "avg" || i == best) dx[i] += dy.data[r] / (mode == "avg" ? n : 1);
    }
    if (mode == "max") y[r] = x.data[best];
  }
  const std::string what = text_of(mode, " ", dtype, " ", conv.text());
  const Numbers got =
      run(kernels::make_pool, pool_attrs<attrs::pool>(k, mode, channels_first), {in}, {dy.type})[0];
  expect_close(got, y, dtype, "pool " + what);
  if (!is_float(dtype)) return;
  const Value out{dy.type, got};
  expect_close(run(kernels::make_pool_grad, pool_attrs<attrs::pool_grad>(k, mode, channels_first),
                   {in, out, dy}, {in.type})[0],
               dx, dtype, "pool_grad " + what);
}

TEST(NnKernels, PoolsMatchLoops) {
  for (const PoolCase& k : kPoolCases)
    for (const char* mode : {"max", "avg"})
      for (const bool channels_first : {false, true})
        for (const DType dtype : {DType::float32, DType::float64, DType::bfloat16})
          check_pool(k, mode, channels_first, dtype);
}

TEST(NnKernels, MaxPoolsOfIntegers) {
  for (const PoolCase& k : kPoolCases)
    for (const bool channels_first : {false, true})
      for (const DType dtype : {DType::int32, DType::uint8, DType::int64})
        check_pool(k, "max", channels_first, dtype);
}

/// Added one by one in float32, 4,000,000 terms lose 2e-3.
TEST(NnKernels, LongMeansKeepTheirDigits) {
  const PoolCase k{1, 3, {2000, 2000}, {2000, 2000}, {1, 1}, {0, 0}, {0, 0}};
  Value x{TensorType(DType::float32, Shape{1, 2000, 2000, 3}), Numbers(3 * 2000 * 2000)};
  for (size_t i = 0; i < x.data.size(); ++i) x.data[i] = i % 3 == 0 ? 0.1f : 0.7f;
  const Numbers y = run(kernels::make_pool, pool_attrs<attrs::pool>(k, "avg", false), {x},
                        {TensorType(DType::float32, Shape{1, 1, 1, 3})})[0];
  EXPECT_NEAR(y[0], 0.1, 1e-6);
  EXPECT_NEAR(y[1], 0.7, 7e-6);
}

TEST(NnKernels, MaxPoolKeepsNaN) {
  const double nan = std::nan("");
  const Value x{TensorType(DType::float32, Shape{1, 4, 1}), {nan, 1, 2, nan}};
  const PoolCase k{1, 1, {4}, {2}, {2}, {0}, {0}};
  const Numbers y = run(kernels::make_pool, pool_attrs<attrs::pool>(k, "max", false), {x},
                        {TensorType(DType::float32, Shape{1, 2, 1})})[0];
  EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]));
}

// Batch normalisation
// --------------------------------------------------------------------------------

struct NormCase {
  Ints dims, axes;
};
const std::vector<NormCase> kNormCases = {
    {{2, 5, 6, 7}, {0, 1, 2}},  {{2, 7, 5, 6}, {0, 2, 3}},
    {{40, 130}, {0}},           {{6, 50}, {1}},
    {{3, 4, 5}, {0}},           {{3, 4, 5}, {1}},
    {{3, 4, 5}, {0, 2}},        {{3, 4, 5}, {0, 1, 2}},
    {{2, 3, 4, 3, 2}, {1, 3}},  {{2, 3, 4, 3, 2}, {0, 2, 4}},
    {{1, 8, 1, 16}, {0, 1, 2}}, {{70000, 2}, {0}},
    {{2, 2, 40000}, {0, 2}},    {{4, 1300}, {0}},
};

struct NormReference {
  Numbers y, mean, var, dx, dgamma, dbeta;
};

NormReference loop_norm(const NormCase& k, const Numbers& x, const Numbers& gamma,
                        const Numbers& beta, const Numbers& dy, double epsilon) {
  std::vector<std::vector<int64_t>> members(gamma.size());
  std::vector<int64_t> channel(x.size());
  for_indices(k.dims, [&](const Ints& at) {
    int64_t c = 0;
    for (size_t i = 0; i < at.size(); ++i)
      if (std::find(k.axes.begin(), k.axes.end(), static_cast<int64_t>(i)) == k.axes.end())
        c = c * k.dims[i] + at[i];
    channel[flat(at, k.dims)] = c;
    members[c].push_back(flat(at, k.dims));
  });
  NormReference r{Numbers(x.size()), Numbers(gamma.size()), Numbers(gamma.size()),
                  Numbers(x.size()), Numbers(gamma.size()), Numbers(gamma.size())};
  for (size_t c = 0; c < members.size(); ++c) {
    const double n = static_cast<double>(members[c].size());
    for (int64_t i : members[c]) r.mean[c] += x[i] / n;
    for (int64_t i : members[c]) r.var[c] += (x[i] - r.mean[c]) * (x[i] - r.mean[c]) / n;
    const double rstd = 1 / std::sqrt(r.var[c] + epsilon);
    for (int64_t i : members[c]) {
      const double normal = (x[i] - r.mean[c]) * rstd;
      r.y[i] = normal * gamma[c] + beta[c];
      r.dbeta[c] += dy[i];
      r.dgamma[c] += dy[i] * normal;
    }
    for (int64_t i : members[c]) {
      const double normal = (x[i] - r.mean[c]) * rstd;
      r.dx[i] = gamma[c] * rstd * (dy[i] - r.dbeta[c] / n - normal * r.dgamma[c] / n);
    }
  }
  return r;
}

TEST(NnKernels, BatchNormMatchesLoops) {
  for (const NormCase& k : kNormCases)
    for (const DType dtype : {DType::float32, DType::float64}) {
      Ints kept;
      for (size_t i = 0; i < k.dims.size(); ++i)
        if (std::find(k.axes.begin(), k.axes.end(), static_cast<int64_t>(i)) == k.axes.end())
          kept.push_back(k.dims[i]);
      Value x = random_value(dtype, k.dims, 1);
      for (double& v : x.data) v = std::round((v + 100) * 64) / 64;  // a mean far from zero
      const Value gamma = random_value(dtype, kept, 2), beta = random_value(dtype, kept, 3);
      const Value dy = random_value(dtype, k.dims, 4);
      const NormReference want = loop_norm(k, x.data, gamma.data, beta.data, dy.data, 1e-3);
      const std::string what = text_of(dtype, " ", k.dims, " over ", k.axes);
      const auto got = run(kernels::make_batch_norm, attrs::batch_norm{k.axes, 1e-3},
                           {x, gamma, beta}, {x.type, gamma.type, gamma.type});
      // y is a small difference of large numbers; mean and var are not.
      expect_close(got[1], want.mean, dtype, "mean " + what);
      expect_close(got[2], want.var, dtype, "var " + what);
      const DType loose = dtype == DType::float32 ? DType::float16 : DType::float32;
      expect_close(got[0], want.y, loose, "y " + what);
      const Value mean{gamma.type, want.mean}, var{gamma.type, want.var};
      const auto grads = run(kernels::make_batch_norm_grad, attrs::batch_norm_grad{k.axes, 1e-3},
                             {x, gamma, mean, var, dy}, {x.type, gamma.type, gamma.type});
      expect_close(grads[0], want.dx, loose, "dx " + what);
      expect_close(grads[1], want.dgamma, loose, "dgamma " + what);
      expect_close(grads[2], want.dbeta, loose, "dbeta " + what);
    }
}

TEST(NnKernels, BatchNormDoesNotDependOnThreads) {
  for (const NormCase& k :
       {NormCase{{9, 30, 30, 24}, {0, 1, 2}}, NormCase{{9, 24, 30, 30}, {0, 2, 3}}}) {
    const Value x = random_value(DType::float32, k.dims, 1),
                gamma = random_value(DType::float32, {24}, 2);
    const auto both = [&] {
      auto r = run(kernels::make_batch_norm, attrs::batch_norm{k.axes, 1e-3}, {x, gamma, gamma},
                   {x.type, gamma.type, gamma.type});
      const Value mean{gamma.type, r[1]}, var{gamma.type, r[2]};
      for (Numbers& g : run(kernels::make_batch_norm_grad, attrs::batch_norm_grad{k.axes, 1e-3},
                            {x, gamma, mean, var, x}, {x.type, gamma.type, gamma.type}))
        r.push_back(std::move(g));
      return r;
    };
    set_thread_count(1);
    const auto one = both();
    set_thread_count(3);
    const auto three = both();
    set_thread_count(0);
    EXPECT_EQ(one, three);
  }
}

TEST(NnKernels, BatchNormOfNothing) {
  const Value x{TensorType(DType::float32, Shape{0, 3}), {}},
      c = random_value(DType::float32, {3}, 1);
  const auto y = run(kernels::make_batch_norm, attrs::batch_norm{{0}, 1e-3}, {x, c, c},
                     {x.type, c.type, c.type});
  for (double mean : y[1]) EXPECT_TRUE(std::isnan(mean));
  const auto g = run(kernels::make_batch_norm_grad, attrs::batch_norm_grad{{0}, 1e-3},
                     {x, c, c, c, x}, {x.type, c.type, c.type});
  EXPECT_EQ(g[2], Numbers(3));
}

}  // namespace
}  // namespace horngate::native
