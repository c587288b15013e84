// Convolution and pooling: values against slow loops, open shapes, gradients, error texts.
#include <numeric>

#include "api_values.h"

namespace horngate {
namespace {

using namespace testing_api;

struct Geometry {
  Ints strides, dilation;
  Padding padding = Padding::valid;
};

/// Elements before the first one that windows need, and how many windows there are.
struct Fit {
  int64_t low, count;
};
Fit fit(int64_t n, int64_t k, int64_t s, int64_t d, Padding padding) {
  const int64_t span = (k - 1) * d + 1;
  if (padding == Padding::causal) return {span - 1, (n - 1) / s + 1};
  if (padding == Padding::valid) return {0, (n - span) / s + 1};
  const int64_t out = (n + s - 1) / s;
  return {std::max<int64_t>((out - 1) * s + span - n, 0) / 2, out};
}

/// Always with three spatial axes: those that are missing get size 1.
Value widened(const Value& v, size_t rank, size_t at) {
  Value w = v;
  for (size_t i = rank; i < 3; ++i) w.dims.insert(w.dims.begin() + at, 1);
  return w;
}
Ints widened(const Ints& v) {
  Ints w = v;
  while (w.size() < 3) w.insert(w.begin(), 1);
  return w;
}

/// channels_last; groups > 1 means depthwise, with a kernel (spatial.., in, multiplier).
Value slow_conv(const Value& x_given, const Value& k_given, const Geometry& given,
                bool depthwise = false) {
  const size_t rank = given.strides.size();
  const Value x = widened(x_given, rank, 1), k = widened(k_given, rank, 0);
  const Ints s = widened(given.strides), d = widened(given.dilation);
  Fit f[3];
  for (size_t i = 0; i < 3; ++i)
    f[i] = fit(x.dims[i + 1], k.dims[i], s[i], d[i], i < 3 - rank ? Padding::valid : given.padding);
  const int64_t in = k.dims[3], out = depthwise ? in * k.dims[4] : k.dims[4];
  Value y({x.dims[0], f[0].count, f[1].count, f[2].count, out});
  for (int64_t n = 0; n < y.dims[0]; ++n)
    for (int64_t o = 0; o < f[0].count * f[1].count * f[2].count * out; ++o) {
      const int64_t c_out = o % out, p2 = o / out % f[2].count,
                    p1 = o / out / f[2].count % f[1].count, p0 = o / out / f[2].count / f[1].count;
      double total = 0;
      for (int64_t a = 0; a < k.dims[0]; ++a)
        for (int64_t b = 0; b < k.dims[1]; ++b)
          for (int64_t c = 0; c < k.dims[2]; ++c) {
            const int64_t i0 = p0 * s[0] + a * d[0] - f[0].low,
                          i1 = p1 * s[1] + b * d[1] - f[1].low,
                          i2 = p2 * s[2] + c * d[2] - f[2].low;
            if (i0 < 0 || i1 < 0 || i2 < 0 || i0 >= x.dims[1] || i1 >= x.dims[2] || i2 >= x.dims[3])
              continue;
            if (depthwise) {
              const int64_t ch = c_out / k.dims[4];
              total += x.at({n, i0, i1, i2, ch}) * k.at({a, b, c, ch, c_out % k.dims[4]});
            } else {
              for (int64_t ch = 0; ch < in; ++ch)
                total += x.at({n, i0, i1, i2, ch}) * k.at({a, b, c, ch, c_out});
            }
          }
      y.at({n, p0, p1, p2, c_out}) = total;
    }
  y.dims = {y.dims[0]};
  for (size_t i = 3 - rank; i < 3; ++i) y.dims.push_back(f[i].count);
  y.dims.push_back(out);
  return y;
}

/// The last axis moved to place 1.
Value channels_first(const Value& x) {
  const int64_t n = x.dims[0], c = x.dims.back(), inner = x.size() / std::max<int64_t>(n * c, 1);
  Value y = x;
  y.dims = {n, c};
  for (size_t i = 1; i + 1 < x.dims.size(); ++i) y.dims.push_back(x.dims[i]);
  for (int64_t b = 0; b < n; ++b)
    for (int64_t i = 0; i < inner; ++i)
      for (int64_t j = 0; j < c; ++j)
        y.data[size_t((b * c + j) * inner + i)] = x.data[size_t((b * inner + i) * c + j)];
  return y;
}

/// An op of x, the kernel being a constant: its shape is known as that of weights is.
using KernelOp = std::function<Tensor(const Tensor& x, const Tensor& k, DataFormat format)>;
void expect_conv(const KernelOp& op, const Value& x, const Value& k, const Value& want,
                 bool both = true) {
  const auto with = [&](DataFormat format) {
    return [&, format](const Tensors& t) { return op(t[0], constant(k.array()), format); };
  };
  for (bool open : {false, true}) {
    expect_near(run(with(DataFormat::channels_last), {x}, open), want);
    if (both)
      expect_near(run(with(DataFormat::channels_first), {channels_first(x)}, open),
                  channels_first(want));
  }
  expect_near(run(
                  [&](const Tensors& t) {
                    return op(t[0], cast(constant(k.array()), DType::float32),
                              DataFormat::channels_last);
                  },
                  {x}, false, DType::float32),
              want, 1e-5);
}

TEST(ApiConv, Conv1d) {
  for (int64_t stride : {1, 2, 3})
    for (int64_t dilation : {1, 2})
      for (Padding padding : {Padding::valid, Padding::same, Padding::causal})
        for (int64_t n : {7, 8}) {
          const Value x = noise({2, n, 3}, 1), k = noise({3, 3, 4}, 2);
          const Value want = slow_conv(x, k, {{stride}, {dilation}, padding});
          expect_conv(
              [=](const Tensor& t, const Tensor& w, DataFormat f) {
                return conv1d(t, w,
                              {.strides = stride,
                               .padding = padding,
                               .data_format = f,
                               .dilation_rate = dilation});
              },
              x, k, want, padding != Padding::causal);
        }
}

TEST(ApiConv, Conv2d) {
  for (int64_t stride : {1, 2, 3})
    for (Padding padding : {Padding::valid, Padding::same})
      for (int64_t n : {6, 7, 8}) {
        const Value x = noise({2, n, 5, 3}, 3), k = noise({3, 2, 3, 4}, 4);
        const Value want = slow_conv(x, k, {{stride, 2}, {1, 1}, padding});
        expect_conv(
            [=](const Tensor& t, const Tensor& w, DataFormat f) {
              return conv2d(t, w, {.strides = {stride, 2}, .padding = padding, .data_format = f});
            },
            x, k, want);
      }
  const Value x = noise({1, 9, 8, 2}, 5), k = noise({3, 3, 2, 3}, 6);
  expect_conv(
      [=](const Tensor& t, const Tensor& w, DataFormat f) {
        return conv2d(t, w, {.padding = Padding::same, .data_format = f, .dilation_rate = {2, 3}});
      },
      x, k, slow_conv(x, k, {{1, 1}, {2, 3}, Padding::same}));
}

TEST(ApiConv, Conv3d) {
  const Value x = noise({2, 5, 4, 6, 2}, 7), k = noise({3, 2, 2, 2, 3}, 8);
  for (Padding padding : {Padding::valid, Padding::same})
    expect_conv(
        [=](const Tensor& t, const Tensor& w, DataFormat f) {
          return conv3d(t, w, {.strides = {2, 1, 2}, .padding = padding, .data_format = f});
        },
        x, k, slow_conv(x, k, {{2, 1, 2}, {1, 1, 1}, padding}));
}

TEST(ApiConv, DepthwiseAndSeparable) {
  const Value x = noise({2, 6, 5, 3}, 9), k = noise({3, 2, 3, 2}, 10),
              point = noise({1, 1, 6, 4}, 11);
  for (Padding padding : {Padding::valid, Padding::same}) {
    const Geometry g{{2, 2}, {1, 1}, padding};
    const Value middle = slow_conv(x, k, g, true);
    expect_conv(
        [=](const Tensor& t, const Tensor& w, DataFormat f) {
          return depthwise_conv2d(t, w, {.strides = {2, 2}, .padding = padding, .data_format = f});
        },
        x, k, middle);
    expect_conv(
        [=](const Tensor& t, const Tensor& w, DataFormat f) {
          return separable_conv2d(t, w, cast(constant(point.array()), w.dtype()),
                                  {.strides = {2, 2}, .padding = padding, .data_format = f});
        },
        x, k, slow_conv(middle, point, {{1, 1}, {1, 1}}));
  }
  const Value x1 = noise({2, 7, 3}, 12), k1 = noise({3, 3, 2}, 13), p1 = noise({1, 6, 2}, 14);
  expect_conv(
      [=](const Tensor& t, const Tensor& w, DataFormat f) {
        return separable_conv1d(t, w, cast(constant(p1.array()), w.dtype()),
                                {.padding = Padding::same, .data_format = f, .dilation_rate = 2});
      },
      x1, k1, slow_conv(slow_conv(x1, k1, {{1}, {2}, Padding::same}, true), p1, {{1}, {1}}));
}

/// y[i] = sum of g[p] * k[i - p * stride + low]: each g is spread over its window.
Value slow_transpose(const Value& g, const Value& k, const Ints& out, const Geometry& geometry) {
  Value y({g.dims[0], out[0], out[1], k.dims[2]});
  const Fit r = fit(out[0], k.dims[0], geometry.strides[0], geometry.dilation[0], geometry.padding);
  const Fit c = fit(out[1], k.dims[1], geometry.strides[1], geometry.dilation[1], geometry.padding);
  for (int64_t n = 0; n < g.dims[0]; ++n)
    for (int64_t p = 0; p < g.dims[1]; ++p)
      for (int64_t q = 0; q < g.dims[2]; ++q)
        for (int64_t a = 0; a < k.dims[0]; ++a)
          for (int64_t b = 0; b < k.dims[1]; ++b) {
            const int64_t i = p * geometry.strides[0] + a * geometry.dilation[0] - r.low;
            const int64_t j = q * geometry.strides[1] + b * geometry.dilation[1] - c.low;
            if (i < 0 || j < 0 || i >= out[0] || j >= out[1]) continue;
            for (int64_t o = 0; o < k.dims[2]; ++o)
              for (int64_t m = 0; m < k.dims[3]; ++m)
                y.at({n, i, j, o}) += g.at({n, p, q, m}) * k.at({a, b, o, m});
          }
  return y;
}

TEST(ApiConv, Conv2dTranspose) {
  for (int64_t stride : {1, 2, 3})
    for (Padding padding : {Padding::valid, Padding::same})
      for (int64_t more : {int64_t{0}, stride - 1}) {
        const Geometry geometry{{stride, 1}, {1, 1}, padding};
        const Value k = noise({3, 2, 2, 3}, 15);
        const int64_t rows = padding == Padding::same ? 4 * stride - more : 3 * stride + 3 + more;
        const int64_t cols = padding == Padding::same ? 5 : 6;
        const Value g = noise({2, 4, 5, 3}, 16);
        const Value want = slow_transpose(g, k, {rows, cols}, geometry);
        const auto op = [=](const Tensor& t, const Tensor& w, DataFormat f) {
          const ShapeArg shape = f == DataFormat::channels_last ? ShapeArg{None, rows, cols, 2}
                                                                : ShapeArg{None, 2, rows, cols};
          return conv2d_transpose(t, w, shape,
                                  {.strides = {stride, 1}, .padding = padding, .data_format = f});
        };
        expect_conv(op, g, k, want);
        // The same when only a call knows the shape.
        const Tensor x = input({None, None, None, 3}, DType::float64), s = input({4}, DType::int32);
        const Tensor y = conv2d_transpose(x, constant(k.array()), s,
                                          {.strides = {stride, 1}, .padding = padding});
        EXPECT_EQ(y.shape().dim(3), 2);
        const Array shape = Array::of<int32_t>({2, int32_t(rows), int32_t(cols), 2});
        expect_near(value_of(function({x, s}, {y})({g.array(), shape})[0]), want);
      }
}

TEST(ApiConv, TransposeKeepsKnownShapes) {
  const Tensor x = input({None, 7, 7, 3}), k = input({3, 3, 16, 3});
  const Tensor batch = cast(index(shape(x), 0), DType::int32);
  const Tensor y =
      conv2d_transpose(x, k, {batch, 14, 14, 16}, {.strides = {2, 2}, .padding = Padding::same});
  EXPECT_EQ(y.shape(), (Shape{None, 14, 14, 16}));
  const Tensor z = conv3d_transpose(input({2, 4, 4, 4, 3}), input({2, 2, 2, 5, 3}),
                                    {None, 8, 8, 8, 5}, {.strides = {2, 2, 2}});
  EXPECT_EQ(z.shape(), (Shape{2, 8, 8, 8, 5}));
  EXPECT_EQ(error_of([&] {
              (void)conv2d_transpose(x, k, {None, 9, 14, 16},
                                     {.strides = {2, 2}, .padding = Padding::same});
            }),
            "conv2d_transpose: x of shape (None, 7, 7, 3) has 7 elements on axis 1, but an "
            "output_shape of 9 "
            "there needs 5 (strides (2, 2), padding \"same\").");
}

TEST(ApiConv, Gradients) {
  const Value x = noise({2, 5, 4, 2}, 17), k = noise({3, 2, 2, 3}, 18);
  for (bool open : {false, true}) {
    check_gradient(
        [&](const Tensors& t) {
          const Tensor w = reshape(t[1], {3, 2, 2, 3});
          return conv2d(t[0], w, {.strides = {2, 1}, .padding = Padding::same});
        },
        {x, k}, open);
    check_gradient(
        [&](const Tensors& t) {
          return depthwise_conv2d(t[0], reshape(t[1], {3, 2, 2, 3}), {.padding = Padding::same});
        },
        {x, k}, open);
    check_gradient(
        [&](const Tensors& t) {
          return conv2d_transpose(t[0], reshape(t[1], {3, 2, 3, 2}), {None, 10, 4, 3},
                                  {.strides = {2, 1}, .padding = Padding::same});
        },
        {x, k}, open);
  }
}

Value slow_pool(const Value& x, const Ints& size, const Ints& strides, Padding padding,
                bool average) {
  const Fit r = fit(x.dims[1], size[0], strides[0], 1, padding),
            c = fit(x.dims[2], size[1], strides[1], 1, padding);
  Value y({x.dims[0], r.count, c.count, x.dims[3]});
  for (int64_t n = 0; n < x.dims[0]; ++n)
    for (int64_t p = 0; p < r.count; ++p)
      for (int64_t q = 0; q < c.count; ++q)
        for (int64_t ch = 0; ch < x.dims[3]; ++ch) {
          double top = -1e300, total = 0, count = 0;
          for (int64_t a = 0; a < size[0] * size[1]; ++a) {
            const int64_t i = p * strides[0] - r.low + a / size[1],
                          j = q * strides[1] - c.low + a % size[1];
            if (i < 0 || j < 0 || i >= x.dims[1] || j >= x.dims[2]) continue;
            top = std::max(top, x.at({n, i, j, ch}));
            total += x.at({n, i, j, ch});
            ++count;
          }
          y.at({n, p, q, ch}) = average ? total / count : top;
        }
  return y;
}

TEST(ApiConv, Pool2d) {
  for (PoolMode mode : {PoolMode::max, PoolMode::avg})
    for (Padding padding : {Padding::valid, Padding::same})
      for (int64_t stride : {1, 2, 3})
        for (int64_t n : {6, 7}) {
          const Value x = noise({2, n, 5, 3}, 19, -3, -1);  // zeros as padding would win
          const Value want = slow_pool(x, {3, 2}, {stride, 2}, padding, mode == PoolMode::avg);
          expect_conv(
              [=](const Tensor& t, const Tensor&, DataFormat f) {
                return pool2d(t, {3, 2},
                              {.strides = {stride, 2},
                               .padding = padding,
                               .data_format = f,
                               .pool_mode = mode});
              },
              x, Value({1}), want);
        }
  const Value x = noise({2, 5, 4, 2}, 20);
  for (bool open : {false, true})
    for (PoolMode mode : {PoolMode::max, PoolMode::avg})
      check_gradient(
          [=](const Tensors& t) {
            return pool2d(t[0], {3, 2},
                          {.strides = {2, 2}, .padding = Padding::same, .pool_mode = mode});
          },
          {x}, open);
  EXPECT_EQ(pool3d(input({None, 6, 6, 6, 2}), {2, 2, 2}, {.strides = {2, 2, 2}}).shape(),
            (Shape{None, 3, 3, 3, 2}));
}

TEST(ApiConv, Local) {
  const Value x = noise({2, 7, 3}, 21), k = noise({3, 6, 4}, 22);
  Value want({2, 3, 4});
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t p = 0; p < 3; ++p)
      for (int64_t f = 0; f < 4; ++f)
        for (int64_t i = 0; i < 6; ++i)
          want.at({n, p, f}) += x.at({n, p * 2 + i / 3, i % 3}) * k.at({p, i, f});
  expect_near(run([&](const Tensors& t) { return local_conv1d(t[0], constant(k.array()), 2, 2); },
                  {x}, true),
              want);

  const Value x2 = noise({2, 5, 4, 3}, 23), k2 = noise({6, 12, 2}, 24);
  Value want2({2, 2, 3, 2}), want_first({2, 2, 3, 2});
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t p = 0; p < 6; ++p)
      for (int64_t f = 0; f < 2; ++f)
        for (int64_t i = 0; i < 12; ++i) {
          const int64_t a = i / 6, b = i / 3 % 2, c = i % 3;
          const double v = x2.at({n, p / 3 * 2 + a, p % 3 + b, c});
          want2.at({n, p / 3, p % 3, f}) += v * k2.at({p, i, f});
          want_first.at({n, p / 3, p % 3, f}) += v * k2.at({p, c * 4 + a * 2 + b, f});
        }
  const auto op = [&](DataFormat format) {
    return [&, format](const Tensors& t) {
      return local_conv2d(t[0], constant(k2.array()), {2, 2}, {2, 1}, {2, 3}, format);
    };
  };
  for (bool open : {false, true}) {
    expect_near(run(op(DataFormat::channels_last), {x2}, open), want2);
    expect_near(run(op(DataFormat::channels_first), {channels_first(x2)}, open),
                channels_first(want_first));
  }
  check_gradient(op(DataFormat::channels_last), {x2});
}

/// With sizes that only a call knows.
TEST(ApiConv, WindowsThatDoNotFitAreNone) {
  const Tensor image = input({None, None, None, 3}), lines = input({None, None, 3});
  const Tensor k = variable(Array::zeros(DType::float32, {3, 3, 3, 8}));
  const Tensor k1 = constant(Array::zeros(DType::float32, {5, 3, 2}));
  const Tensor y = conv2d(image, k), pooled = pool2d(y, {2, 2}, {.padding = Padding::same});
  const Tensors grads = gradients(sum(y) + sum(pooled), {image, k});
  const Function f = function({image, lines}, {y, pooled, grads[0], grads[1], conv1d(lines, k1)});
  const auto shapes = [&](int64_t rows, int64_t cols, int64_t steps) {
    std::vector<Shape> made;
    for (const Array& a : f({Array::zeros(DType::float32, {2, rows, cols, 3}),
                             Array::zeros(DType::float32, {2, steps, 3})}))
      made.push_back(a.shape());
    return made;
  };
  const Shape kernel{3, 3, 3, 8};
  EXPECT_EQ(shapes(2, 2, 4),
            (std::vector<Shape>{{2, 0, 0, 8}, {2, 0, 0, 8}, {2, 2, 2, 3}, kernel, {2, 0, 2}}));
  EXPECT_EQ(shapes(1, 5, 0),
            (std::vector<Shape>{{2, 0, 3, 8}, {2, 0, 3, 8}, {2, 1, 5, 3}, kernel, {2, 0, 2}}));
  EXPECT_EQ(shapes(4, 3, 5),
            (std::vector<Shape>{{2, 2, 1, 8}, {2, 2, 1, 8}, {2, 4, 3, 3}, kernel, {2, 1, 2}}));
}

TEST(ApiConv, Errors) {
  const Tensor image = input({None, 28, 28, 3}), k = input({3, 3, 3, 8});
  EXPECT_EQ(error_of([&] { (void)conv2d(image, input({3, 3, 16})); }),
            "conv2d: kernel must have 4 dimensions (rows, cols, in, out); got shape (3, 3, 16).");
  EXPECT_EQ(error_of([&] { (void)conv2d(image, input({3, 3, 1, 32})); }),
            "conv2d: x has 3 channels (shape (None, 28, 28, 3), channels_last) but kernel takes 1 "
            "(shape (3, 3, 1, 32)).");
  EXPECT_EQ(error_of([&] { (void)conv2d(image, k, {.padding = Padding::full}); }),
            "conv2d: padding must be \"valid\" or \"same\"; got \"full\".");
  EXPECT_EQ(error_of([&] { (void)conv2d(image, k, {.strides = {0, 1}}); }),
            "conv2d: strides must be at least 1; got (0, 1).");
  EXPECT_EQ(error_of([&] { (void)conv2d(input({28, 28, 3}), k); }),
            "conv2d: x must have 4 dimensions; got shape (28, 28, 3).");
  EXPECT_EQ(
      error_of([&] { (void)conv2d(input({None, 2, 28, 3}), k); }),
      "conv2d: windows of 3 elements do not fit on axis 1 of x of shape (None, 2, 28, 3) with "
      "padding \"valid\".");
  EXPECT_EQ(
      error_of([&] { (void)pool2d(input({None, 0, 28, 3}), {2, 2}, {.padding = Padding::same}); }),
      "pool2d: windows of 2 elements do not fit on axis 1 of x of shape (None, 0, 28, 3) with "
      "padding \"same\".");
  EXPECT_EQ(error_of([&] { (void)conv2d_transpose(input({None, None, 4, 8}), k, {2, 2, 6, 3}); }),
            "conv2d_transpose: output_shape must have at least the 3 elements of a window on axis "
            "1; got 2.");
  EXPECT_EQ(
      error_of([&] {
        (void)conv1d(input({2, 3, 9}), input({3, 3, 8}),
                     {.padding = Padding::causal, .data_format = DataFormat::channels_first});
      }),
      "conv1d: data_format must be \"channels_last\" with causal padding; got \"channels_first\".");
  EXPECT_EQ(error_of([&] { (void)pool2d(image, {0, 2}); }),
            "pool2d: pool_size must be at least 1; got (0, 2).");
  EXPECT_EQ(
      error_of([&] { (void)separable_conv2d(image, input({3, 3, 3, 2}), input({1, 1, 5, 8})); }),
      "separable_conv2d: depthwise_kernel of shape (3, 3, 3, 2) gives 6 channels but "
      "pointwise_kernel "
      "takes 5 (shape (1, 1, 5, 8)).");
  EXPECT_EQ(
      error_of([&] { (void)local_conv1d(input({2, 5, 3}), input({4, 6, 2}), 2, 2); }),
      "local_conv1d: the last of 4 windows ends at 8, beyond axis 1 of inputs of shape (2, 5, 3).");
}

/// A kernel's gradient is a sum over all pixels, which float32 must not lose one after the other.
TEST(ApiConv, FilterGradientsOfManyPixelsKeepTheirDigits) {
  const Shape shape{257, 1, 256, 1};
  std::vector<float> pixels(257 * 256);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(i * 7919 % 4);
  const double sum = std::accumulate(pixels.begin(), pixels.end(), 0.0);
  const Variable w = variable(zeros_array({1, 3, 1, 16}));
  const Tensor y = conv2d(constant(Array::of(pixels, shape.dims())), w,
                          {.padding = Padding::same, .data_format = DataFormat::channels_last});
  const Array dw = eval(gradients(horngate::sum(1.1f * y), {w})[0]);
  for (int64_t o = 0; o < 16; ++o) EXPECT_NEAR(dw(0, 1, 0, o) / (sum * 1.1f), 1, 2e-5);
}

}  // namespace
}  // namespace horngate
