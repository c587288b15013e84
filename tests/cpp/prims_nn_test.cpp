// Shape rules, error texts and gradients of convolutions, pools, products and batch normalisation.
#include <gtest/gtest.h>

#include <functional>

#include "grad/reverse.h"
#include "prims/build.h"

namespace horngate {
namespace {

Tensor input(Shape shape, DType dtype = DType::float32, bool sparse = false) {
  return emit(attrs::placeholder{.dtype = dtype, .shape = shape.dims(), .sparse = sparse}, {});
}

template <class E = ValueError>
void expect_error(const std::string& text, const std::function<void()>& f) {
  try {
    f();
    ADD_FAILURE() << "no error; expected: " << text;
  } catch (const E& e) {
    EXPECT_EQ(text, e.what());
  }
}

TEST(NnPrims, ConvInfersOpenDimensions) {
  const Tensor x = input({None, 28, None, 3}), w = input({3, 3, 3, 32});
  EXPECT_EQ(
      emit(attrs::conv{.strides = {2, 1}, .pad_low = {1, 1}, .pad_high = {1, 1}}, {x, w}).shape(),
      (Shape{None, 14, None, 32}));
  EXPECT_EQ(emit(attrs::conv{.dilation = {2}, .channels_first = true},
                 {input({4, 5, 10}), input({3, 5, 7})})
                .shape(),
            (Shape{4, 7, 6}));
  EXPECT_EQ(emit(attrs::conv{.groups = 3}, {x, input({1, 1, 1, 6})}).shape(),
            (Shape{None, 28, None, 6}));
}

TEST(NnPrims, ConvGradsInferWhatTheyCan) {
  const Tensor dy = input({8, 14, 14, 32}), w = input({3, 3, 3, 32});
  attrs::conv_input_grad a;
  a.strides = {2, 2};
  a.pad_low = a.pad_high = {1, 1};
  a.shape = {kFromOperand, 28, 28, kFromOperand};
  EXPECT_EQ(emit(a, {dy, w, input({4}, DType::int64)}).shape(), (Shape{8, 28, 28, 3}));
  attrs::conv_filter_grad f;
  f.strides = {2, 2};
  f.pad_low = f.pad_high = {1, 1};
  f.shape = {3, 3, 3, 32};
  EXPECT_EQ(emit(f, {input({None, 28, 28, 3}), dy}).shape(), (Shape{3, 3, 3, 32}));
}

TEST(NnPrims, ConvErrors) {
  const Tensor x = input({None, 28, 28, 3});
  const auto conv = [](const Tensor& a, const Tensor& b, attrs::conv attributes = {}) {
    return [=] { emit(attributes, {a, b}); };
  };
  expect_error(
      "conv: x has 3 channels (shape (None, 28, 28, 3), channels_last) but kernel takes 1 (shape "
      "(3, 3, 1, 32)).",
      conv(x, input({3, 3, 1, 32})));
  expect_error(
      "conv: x has 3 channels (shape (None, 28, 28, 3), channels_last) but kernel takes 2 in each "
      "of "
      "3 groups (shape (3, 3, 2, 6)).",
      conv(x, input({3, 3, 2, 6}), {.groups = 3}));
  expect_error("conv: kernel must give a multiple of groups=3 channels; got shape (3, 3, 1, 4).",
               conv(x, input({3, 3, 1, 4}), {.groups = 3}));
  expect_error(
      "conv: kernel must have 4 dimensions (spatial axes, in, out) for x of shape "
      "(None, 28, 28, 3); got shape (3, 3, 3).",
      conv(x, input({3, 3, 3})));
  EXPECT_EQ(
      emit(attrs::conv{.pad_low = {1}, .pad_high = {1}}, {input({None, 2, 3}), input({5, 3, 8})})
          .shape(),
      (Shape{None, 0, 8}));  // no window fits
  expect_error("conv: strides must have 2 entries, one per spatial axis; got (1, 1, 1).",
               conv(x, input({3, 3, 3, 8}), {.strides = {1, 1, 1}}));
  expect_error("conv: dilation must be at least 1; got (0, 1).",
               conv(x, input({3, 3, 3, 8}), {.dilation = {0, 1}}));
  expect_error<TypeError>("conv: x must have a float dtype; got int32.",
                          conv(input({1, 4, 1}, DType::int32), input({2, 1, 1}, DType::int32)));
  expect_error<TypeError>("conv: x and kernel must have the same dtype; got float32 and float64.",
                          conv(input({1, 4, 1}), input({2, 1, 1}, DType::float64)));
  attrs::conv_input_grad a;
  a.shape = {2, 9, 3};
  expect_error(
      "conv_input_grad: y must have 7 elements on axis 1 for x (2, 9, 3) and kernel (3, 3, 8); got "
      "shape (2, 5, 8).",
      [&] { emit(a, {input({2, 5, 8}), input({3, 3, 8})}); });
}

TEST(NnPrims, PoolInfersAndChecks) {
  const Tensor x = input({None, 28, None, 3});
  const auto pool = [&](attrs::pool a) { return emit(a, {x}); };
  EXPECT_EQ(pool({.window = {2, 2}, .strides = {2, 2}}).shape(), (Shape{None, 14, None, 3}));
  EXPECT_EQ(
      pool({.window = {3, 3}, .strides = {2, 2}, .pad_low = {0, 0}, .pad_high = {1, 1}}).shape(),
      (Shape{None, 14, None, 3}));
  expect_error("pool: mode must be \"max\" or \"avg\"; got \"sum\".",
               [&] { pool({.mode = "sum", .window = {2, 2}}); });
  expect_error(
      "pool: window must have 2 entries, one per spatial axis of x with shape (None, 28, None, 3); "
      "got (2,).",
      [&] { pool({.window = {2}}); });
  EXPECT_EQ(pool({.window = {30, 2}, .pad_high = {1, 0}}).shape(), (Shape{None, 0, None, 3}));
  expect_error("pool: padding must be smaller than the window (2, 2); got (2, 0) and (0, 0).",
               [&] { pool({.window = {2, 2}, .pad_low = {2, 0}, .pad_high = {0, 0}}); });
  expect_error<TypeError>("pool: x must have a float dtype; got int32.", [&] {
    emit(attrs::pool{.mode = "avg", .window = {2}}, {input({1, 4, 1}, DType::int32)});
  });
}

TEST(NnPrims, DotGeneralInfersAndChecks) {
  const Tensor a = input({None, 3, 4}), b = input({7, 4, 5});
  EXPECT_EQ(prim::dot_general(a, b, {0}, {0}, {2}, {1}).shape(), (Shape{7, 3, 5}));
  EXPECT_EQ(prim::dot_general(a, b, {}, {}, {2}, {1}).shape(), (Shape{None, 3, 7, 5}));
  expect_error(
      "dot_general: axis 1 of shape (None, 3, 4) and axis 1 of shape (7, 4, 5) must have the same "
      "size.",
      [&] { prim::dot_general(a, b, {}, {}, {1}, {1}); });
  expect_error(
      "dot_general: contract_a must be in [0, 3) for an operand of shape (None, 3, 4); got (3,).",
      [&] { prim::dot_general(a, b, {}, {}, {3}, {1}); });
  expect_error("dot_general: each axis may be batch or contracted only once; got (0,) and (0,).",
               [&] { prim::dot_general(a, b, {0}, {0}, {0}, {1}); });
}

TEST(NnPrims, GradientsOfMatrixProductsNeedNoTransposition) {
  for (const int64_t i : {0, 1})
    for (const int64_t j : {0, 1}) {
      const Tensor a = input(i == 1 ? Shape{None, 4} : Shape{4, None});
      const Tensor b = input(j == 0 ? Shape{4, 5} : Shape{5, 4});
      const Tensor y = prim::dot_general(a, b, {}, {}, {i}, {j});
      for (const Tensor& g : reverse({y}, {prim::full_like(y, 1.0)}, {a, b}, false)) {
        EXPECT_EQ(g.node()->prim, Prim::dot_general);
      }
    }
}

TEST(NnPrims, SparseDotInfersAndChecks) {
  const Tensor a = input({None, 4}, DType::float32, true), b = input({4, 5});
  EXPECT_EQ(emit(attrs::sparse_dot{}, {a, b}).shape(), (Shape{None, 5}));
  EXPECT_EQ(emit(attrs::sparse_dot{.transpose_a = true}, {a, input({9, 5})}).shape(),
            (Shape{4, 5}));
  EXPECT_FALSE(emit(attrs::to_dense{}, {a}).is_sparse());
  expect_error<TypeError>("sparse_dot: a must be sparse and b dense; got a dense and b dense.",
                          [&] { emit(attrs::sparse_dot{}, {b, b}); });
  expect_error(
      "sparse_dot: axis 1 of a with shape (None, 4) and axis 0 of b with shape (3, 5) must have "
      "the "
      "same size.",
      [&] { emit(attrs::sparse_dot{}, {a, input({3, 5})}); });
  expect_error<TypeError>("to_dense: x must be sparse; got a dense tensor of shape (4, 5).",
                          [&] { emit(attrs::to_dense{}, {b}); });
}

TEST(NnPrims, BatchNormInfersAndChecks) {
  const Tensor x = input({None, 8, 8, 16}), c = input({16});
  const Tensors y = outputs_of(emit(attrs::batch_norm{.axes = {0, 1, 2}}, {x, c, c}));
  ASSERT_EQ(y.size(), 3u);
  EXPECT_EQ(y[0].shape(), x.shape());
  EXPECT_EQ(y[2].shape(), (Shape{16}));
  expect_error("batch_norm: gamma must have shape (16,) for x of shape (None, 8, 8, 16); got (8,).",
               [&] { emit(attrs::batch_norm{.axes = {0, 1, 2}}, {x, input({8}), c}); });
}

}  // namespace
}  // namespace horngate
