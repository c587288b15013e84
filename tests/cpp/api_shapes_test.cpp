// K functions on the graph alone: shapes with None, dtypes, error texts. No engine runs.
#include <gtest/gtest.h>

#include "api/args.h"
#include "api_values.h"

namespace horngate {
namespace {

namespace K = horngate;
using testing_api::error_of;
using testing_api::input;

std::string shape_of(const Tensor& t) { return t.shape().str(); }

const Tensor& open_image() {
  static const Tensor x = input({None, None, None, 3});
  return x;
}

TEST(ApiArgs, CommonDtype) {
  using enum DType;
  EXPECT_EQ(common_dtype(float32, int64), float32);
  EXPECT_EQ(common_dtype(float16, float64), float64);
  EXPECT_EQ(common_dtype(float16, bfloat16), float32);
  EXPECT_EQ(common_dtype(bool_, int8), int8);
  EXPECT_EQ(common_dtype(bool_, bool_), bool_);
  EXPECT_EQ(common_dtype(int32, int64), int64);
  EXPECT_EQ(common_dtype(uint8, int8), int16);
  EXPECT_EQ(common_dtype(uint8, int32), int32);
  EXPECT_EQ(common_dtype(uint32, int16), int64);
  EXPECT_EQ(common_dtype(uint64, int64), int64);
}

TEST(ApiArgs, WeakScalar) {
  const auto both = [](DType dtype, double value) {
    Tensor x = input({2}, dtype);
    const Tensor s = weak_scalar(value, &x);
    EXPECT_EQ(s.dtype(), x.dtype());
    return x.dtype();
  };
  EXPECT_EQ(both(DType::float16, 0.5), DType::float16);
  EXPECT_EQ(both(DType::int32, 2.0), DType::int32);
  EXPECT_EQ(both(DType::int32, 0.5), floatx());
  EXPECT_EQ(both(DType::uint8, -1.0), DType::int64);
  EXPECT_EQ(both(DType::int8, 128.0), DType::int64);
  EXPECT_EQ(both(DType::int8, -128.0), DType::int8);
  EXPECT_EQ(both(DType::int64, 1e30), floatx());
  EXPECT_EQ(both(DType::bool_, 1.0), floatx());
}

TEST(ApiArgs, ShapesFromTheGraph) {
  const Tensor x = input({None, 4, 5});
  const Tensor s = K::shape(x);
  const SymShape known = sym_shape_of("f", {K::index(s, 1), K::index(s, 2) * 2});
  EXPECT_TRUE(known.is_static());
  EXPECT_EQ(known.dims, (Ints{4, 10}));
  const SymShape open = sym_shape_of("f", {K::index(s, 0), 7, None});
  EXPECT_EQ(open.dims, (Ints{kFromOperand, 7, kInfer}));
  EXPECT_EQ(shape_of(open.operand), "(3,)");
  EXPECT_EQ(open.operand.dtype(), DType::int64);
  EXPECT_EQ(sym_shape_of("f", s).dims, (Ints{kFromOperand, 4, 5}));
  EXPECT_EQ(sym_shape_of("f", {s}).dims, (Ints{kFromOperand, 4, 5}));
  EXPECT_EQ(error_of([&] { return sym_shape_of("f", {2, -3}).operand; }),
            "f: shape must have entries of at least 0, or -1 for what is left; got (2, -3).");
  EXPECT_EQ(error_of([&] { return full_shape_of("f", {None, 3}).operand; }),
            "f: shape must have entries of at least 0, and no None; got (None, 3).");
  EXPECT_EQ(error_of<TypeError>([&] { return sym_shape_of("f", {x, 2}).operand; }),
            "f: shape must have an integer dtype when it is a tensor; got float32.");
}

TEST(ApiArgs, VariablesInsideControlDependencies) {
  const Variable v = K::variable(Array(1.f));
  const Tensor update = emit(attrs::assign{.kind = "add"}, {v, prim::scalar(1, DType::float32)});
  EXPECT_TRUE(operand(v).same_as(v));
  push_control_dependencies({update});
  const Tensor after = operand(v);
  const Tensor same = K::identity(input({2}));
  pop_control_dependencies();
  EXPECT_EQ(after.node()->prim, Prim::after);
  EXPECT_TRUE(after.node()->in[1].same_as(update));
  EXPECT_EQ(same.node()->in.size(), 2u);
  EXPECT_TRUE(operand(v).same_as(v));
  EXPECT_EQ(K::cast(v, DType::float32).node()->prim, Prim::after);
}

TEST(ApiValues, KindsOfResults) {
  EXPECT_TRUE(K::is_variable(K::zeros({3, 4})));
  EXPECT_FALSE(K::is_variable(K::zeros({K::index(K::shape(input({None, 2})), 0), 4})));
  EXPECT_EQ(shape_of(K::ones({K::index(K::shape(input({None, 2})), 0), 4})), "(None, 4)");
  EXPECT_EQ(K::zeros({2}, {.dtype = DType::int32}).dtype(), DType::int32);
  EXPECT_EQ(shape_of(K::eye({2, 3})), "(2, 3)");
  EXPECT_EQ(shape_of(K::zeros_like(input({None, 3}))), "(None, 3)");
  EXPECT_EQ(K::ones_like(input({2}, DType::int32)).dtype(), DType::int32);
  EXPECT_EQ(K::zeros_like(input({2}), {.dtype = DType::bool_}).dtype(), DType::bool_);
  EXPECT_EQ(K::identity(input({2}), "copy_of_x").name(), "copy_of_x");
  EXPECT_EQ(K::shape(input({None, 2})).dtype(), DType::int32);
  EXPECT_EQ(K::shape(input({int64_t{1} << 40, 2})).dtype(), DType::int64);
  EXPECT_EQ(K::ndim(input({2, 4, 5})), 3);
  EXPECT_EQ(K::int_shape(input({None, 4})), (Shape{None, 4}));
  EXPECT_EQ(K::count_params(K::zeros({2, 3})), 6);
  EXPECT_EQ(error_of([] { return K::count_params(input({None, 3})); }),
            "count_params: x must have a known shape; got (None, 3).");
  EXPECT_EQ(error_of([] { return K::zeros({None, 3}); }),
            "zeros: shape must have entries of at least 0, and no None; got (None, 3).");
}

TEST(ApiElementwise, DtypesAgree) {
  const Tensor f = input({2, 3}), h = input({2, 3}, DType::float16);
  const Tensor i = input({2, 3}, DType::int32), b = input({2, 3}, DType::bool_);
  EXPECT_EQ((f + i).dtype(), DType::float32);
  EXPECT_EQ((h * 0.1).dtype(), DType::float16);
  EXPECT_EQ((i * 2).dtype(), DType::int32);
  EXPECT_EQ((0.5 * i).dtype(), floatx());
  EXPECT_EQ((i / 2).dtype(), floatx());
  EXPECT_EQ((1 - b).dtype(), floatx());
  EXPECT_EQ((b + b).dtype(), floatx());
  EXPECT_EQ(K::exp(i).dtype(), floatx());
  EXPECT_EQ(K::abs(i).dtype(), DType::int32);
  EXPECT_EQ(K::pow(i, 2).dtype(), DType::int32);
  EXPECT_EQ(K::pow(i, 0.5).dtype(), floatx());
  EXPECT_EQ(K::clip(i, 0, None).dtype(), DType::int32);
  EXPECT_EQ(K::equal(b, b).dtype(), DType::bool_);
  EXPECT_EQ(K::greater(b, b).dtype(), DType::bool_);
  EXPECT_EQ(K::mean(i).dtype(), floatx());
  EXPECT_EQ(K::sum(b).dtype(), floatx());
  EXPECT_EQ(K::sum(i).dtype(), DType::int32);
  EXPECT_EQ(K::any(f).dtype(), DType::bool_);
  EXPECT_EQ(K::argmax(f).dtype(), DType::int64);
  EXPECT_EQ(K::one_hot(i, 4).dtype(), DType::float32);
}

TEST(ApiElementwise, Errors) {
  const Tensor x = input({2, 3}), y = input({4});
  EXPECT_EQ(error_of([&] { return K::greater(x, y); }),
            "greater: shapes (2, 3) and (4,) do not broadcast together.");
  EXPECT_EQ(error_of([&] { return x + y; }),
            "add: shapes (2, 3) and (4,) do not broadcast together.");
  EXPECT_EQ(error_of<TypeError>([&] { return K::maximum(x, None); }),
            "maximum: y must be a tensor or a number; got None.");
  EXPECT_EQ(error_of<TypeError>([&] { return K::pow(2, 3); }),
            "pow: x or a must be a tensor; got the numbers 2 and 3.");
  EXPECT_EQ(error_of([&] { return K::pow(input({2}, DType::int32), -1); }),
            "pow: a must be at least 0 for x of dtype int32; got a=-1.");
  EXPECT_EQ(error_of<TypeError>([&] { return K::abs(Tensor()); }),
            "abs: x must be a tensor; got an empty one (gradients returns one where nothing "
            "connects).");
  const Tensor sparse = K::placeholder({.shape = Shape{2, 2}, .sparse = true});
  EXPECT_EQ(error_of<TypeError>([&] { return K::sum(sparse); }),
            "sum: x must be dense; got a sparse tensor of shape (2, 2). Convert it with to_dense.");
  EXPECT_EQ(error_of([&] { return K::sum(x, {.axis = 2}); }),
            "sum: axis must be in [-2, 2) for x of shape (2, 3); got axis=2.");
  EXPECT_EQ(error_of([&] { return K::sum(x, {.axis = {0, -2}}); }),
            "sum: axis must name each axis once; got (0, -2).");
}

TEST(ApiReductions, Shapes) {
  const Tensor x = input({None, 3, 4});
  EXPECT_EQ(shape_of(K::sum(x)), "()");
  EXPECT_EQ(shape_of(K::max(x, {.axis = -1})), "(None, 3)");
  EXPECT_EQ(shape_of(K::mean(x, {.axis = {0, 2}})), "(3,)");
  EXPECT_EQ(shape_of(K::var(x, {.axis = {1, 2}, .keepdims = true})), "(None, 1, 1)");
  EXPECT_EQ(shape_of(K::logsumexp(x, {.axis = 1})), "(None, 4)");
  EXPECT_EQ(shape_of(K::cumsum(x, -1)), "(None, 3, 4)");
  EXPECT_EQ(shape_of(K::argmin(x, 0)), "(3, 4)");
  EXPECT_EQ(shape_of(K::all(x, {.axis = 0, .keepdims = true})), "(1, 3, 4)");
}

TEST(ApiLinalg, Shapes) {
  EXPECT_EQ(shape_of(K::dot(input({None, 28, 3}), input({3, 4}))), "(None, 28, 4)");
  EXPECT_EQ(shape_of(K::dot(input({2, 3}), input({4, 3, 5}))), "(2, 4, 5)");
  EXPECT_EQ(shape_of(K::batch_dot(input({None, 20}), input({None, 30, 20}), {1, 2})), "(None, 30)");
  EXPECT_EQ(shape_of(K::batch_dot(input({32, 20, 1}), input({32, 30, 20}), {1, 2})), "(32, 1, 30)");
  EXPECT_EQ(shape_of(K::batch_dot(input({None, 2}), input({None, 2}), 1)), "(None, 1)");
  EXPECT_EQ(shape_of(K::transpose(input({None, 3, 4}))), "(4, 3, None)");
  EXPECT_EQ(shape_of(K::gather(input({10, 8}), input({None, 5}, DType::int32))), "(None, 5, 8)");
}

TEST(ApiLinalg, Errors) {
  EXPECT_EQ(
      error_of([] { return K::dot(input({2, 3}), input({4, 5})); }),
      "dot: the summed axes must have the same length; got 3 (axis 1 of x, shape (2, 3)) and 4 "
      "(axis 0 of y, shape (4, 5)).");
  const Tensor x = input({4, 3}), y = input({5, 3});
  EXPECT_EQ(error_of([&] { return K::batch_dot(x, y); }),
            "batch_dot: x and y must have the same batch size; got shapes (4, 3) and (5, 3).");
  EXPECT_EQ(error_of([&] { return K::batch_dot(x, x, 0); }),
            "batch_dot: axes must not name axis 0, the batch; got (0, 0). expand_dims(x, 0) gives "
            "x a batch axis.");
  EXPECT_EQ(error_of([&] { return K::batch_dot(x, x, {1, 1, 1}); }),
            "batch_dot: axes must be one axis or a pair of them; got (1, 1, 1).");
  EXPECT_EQ(error_of([&] { return K::batch_dot(x, x, {1, 2}); }),
            "batch_dot: axes[1] must be in [-2, 2) for y of shape (4, 3); got axes[1]=2.");
  EXPECT_EQ(error_of([&] { return K::batch_dot(x, input({4})); }),
            "batch_dot: x and y must have at least 2 dimensions; got shapes (4, 3) and (4,).");
  EXPECT_EQ(error_of<TypeError>([&] { return K::gather(x, y); }),
            "gather: indices must have an integer dtype; got float32.");
}

TEST(ApiShape, ShapesWithNone) {
  const Tensor x = input({None, 3, 4});
  EXPECT_EQ(shape_of(K::concatenate({x, input({2, 3, 5})})), "(2, 3, 9)");
  EXPECT_EQ(shape_of(K::stack({x, x}, -1)), "(None, 3, 4, 2)");
  EXPECT_EQ(shape_of(K::reshape(x, {-1, 12})), "(None, 12)");
  EXPECT_EQ(shape_of(K::reshape(x, {K::index(K::shape(x), 0), 2, 6})), "(None, 2, 6)");
  EXPECT_EQ(shape_of(K::batch_flatten(x)), "(None, 12)");
  EXPECT_EQ(shape_of(K::flatten(input({2, 3}))), "(6,)");
  EXPECT_EQ(shape_of(K::repeat_elements(x, 2, 1)), "(None, 6, 4)");
  EXPECT_EQ(shape_of(K::repeat(input({None, 3}), 5)), "(None, 5, 3)");
  EXPECT_EQ(shape_of(K::tile(x, {2, 1, 3})), "(None, 3, 12)");
  EXPECT_EQ(shape_of(K::resize_images(open_image(), 2, 2, DataFormat::channels_last)),
            "(None, None, None, 3)");
  EXPECT_EQ(shape_of(K::resize_images(input({None, 3, 5, 6}), 2, 3, DataFormat::channels_first,
                                      Interpolation::bilinear)),
            "(None, 3, 10, 18)");
  EXPECT_EQ(shape_of(K::temporal_padding(x)), "(None, 5, 4)");
  EXPECT_EQ(shape_of(K::one_hot(input({None, 2}, DType::int32), 7)), "(None, 2, 7)");
  EXPECT_EQ(shape_of(K::slice(x, {0, 1, 0}, {2, 2, None})), "(2, 2, 4)");
  EXPECT_EQ(shape_of(K::arange(K::index(K::shape(x), 1))), "(3,)");
  EXPECT_EQ(shape_of(K::arange(K::index(K::shape(x), 0))), "(None,)");
}

TEST(ApiShape, Indexing) {
  const Tensor x = input({None, 3, 4});
  const auto at = [&](std::initializer_list<Index> i) { return shape_of(K::getitem(x, i)); };
  EXPECT_EQ(at({0}), "(3, 4)");
  EXPECT_EQ(at({Slice{}, -1}), "(None, 4)");
  EXPECT_EQ(at({Ellipsis, Slice{.start = 1, .stop = -1}}), "(None, 3, 2)");
  EXPECT_EQ(at({Ellipsis, Slice{.step = -1}}), "(None, 3, 4)");
  EXPECT_EQ(at({Slice{}, None, 1, Slice{.stop = 2}, None}), "(None, 1, 2, 1)");
  EXPECT_EQ(at({Slice{}, input({}, DType::int32)}), "(None, 4)");
  EXPECT_EQ(at({Slice{}, input({5}, DType::int32)}), "(None, 5, 4)");
  EXPECT_EQ(at({Slice{}, Slice{.stop = K::index(K::shape(x), 2)}}), "(None, 3, 4)");
  EXPECT_EQ(at({Slice{.stop = 2}}), "(None, 3, 4)");
  // A known dimension is a number at once.
  EXPECT_EQ(K::index(K::shape(x), -1).node()->prim, Prim::constant);
}

TEST(ApiShape, Errors) {
  const Tensor x = input({2, 3}), open = input({None, 3});
  EXPECT_EQ(error_of([&] { return K::concatenate({x, input({4, 3})}, 1); }),
            "concatenate: shapes must agree except on axis=1; got (2, 3) and (4, 3), which differ "
            "on axis 0.");
  EXPECT_EQ(error_of([&] { return K::stack({x, input({4, 3})}); }),
            "stack: shapes must agree; got (2, 3) and (4, 3), which differ on axis 0.");
  EXPECT_EQ(error_of([&] { return K::reshape(x, {4, -1}); }),
            "reshape: (2, 3) has 6 elements and cannot become (4, -1): 6 is not a multiple of 4.");
  EXPECT_EQ(error_of([&] { return K::permute_dimensions(x, {0, 0}); }),
            "permute_dimensions: pattern must name each of the 2 axes of x (shape (2, 3)) once; "
            "got (0, 0).");
  EXPECT_EQ(error_of([&] { return K::expand_dims(x, 3); }),
            "expand_dims: axis must be in [-3, 3) for x of shape (2, 3); got axis=3.");
  EXPECT_EQ(error_of([&] { return K::squeeze(x, 1); }),
            "squeeze: axis 1 of x must have size 1; got shape (2, 3).");
  EXPECT_EQ(error_of<NotImplementedError>([&] { return K::tile(x, {1, 1, 2}); }),
            "tile: n must have at most one entry per axis of x; got 3 for shape (2, 3).");
  EXPECT_EQ(error_of([&] { return K::temporal_padding(x); }),
            "temporal_padding: x must have 3 dimensions; got shape (2, 3).");
  EXPECT_EQ(
      error_of([&] { return K::resize_images(open_image(), 0, 1, DataFormat::channels_last); }),
      "resize_images: height_factor must be at least 1; got 0.");
  EXPECT_EQ(error_of([&] { return K::slice(x, {0}, {2, 2}); }),
            "slice: start and size must have one entry per axis of x; got 1 and 2 for shape "
            "(2, 3).");
  EXPECT_EQ(error_of([&] { return K::slice(x, {0, 2}, {2, 2}); }),
            "slice: start + size must be at most 3 on axis 1 of x of shape (2, 3); got 2 + 2.");
  EXPECT_EQ(error_of<IndexError>([&] { return K::index(x, 2); }),
            "getitem: an index on axis 0 of x of shape (2, 3) must be in [-2, 2); got 2.");
  EXPECT_EQ(error_of<IndexError>([&] { return K::getitem(open, {0, 0, 0}); }),
            "getitem: there must be at most 2 indices for x of shape (None, 3); got 3.");
  EXPECT_EQ(error_of<TypeError>([&] { return K::index(x, K::greater(x, 0)); }),
            "getitem: a bool tensor cannot be an index: the size of the result would depend on "
            "it.");
  EXPECT_EQ(error_of([] { return K::arange(0, {.stop = 3, .step = 0}); }),
            "arange: start, stop and step must be finite, and step not 0; got 0, 3 and 0.");
}

}  // namespace
}  // namespace horngate
