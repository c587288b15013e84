// Shape and dtype rules of the primitives, None included, and the texts of their errors.
#include <gtest/gtest.h>

#include "horngate/horngate.h"
#include "prims/build.h"
#include "prims/rules.h"

namespace horngate {
namespace {

using Operands = std::vector<TensorType>;

template <class A>
Types infer(A a, const Operands& in) {
  const AttrRef attrs(new AttrsOf<A>(std::move(a)));
  return primitive(A::kPrim).infer(InferCall{in, {}}, attrs.get());
}
Types infer(Prim prim, const Operands& in) {
  return primitive(prim).infer(InferCall{in, {}}, nullptr);
}

TensorType f32(Shape shape) { return {DType::float32, std::move(shape)}; }
TensorType i64(Shape shape) { return {DType::int64, std::move(shape)}; }
TensorType boolean(Shape shape) { return {DType::bool_, std::move(shape)}; }

template <class A>
std::string shape_of(A a, const Operands& in) {
  return infer(std::move(a), in)[0].shape.str();
}

template <class E, class F>
void expect_error(F f, const std::string& text) {
  try {
    f();
    ADD_FAILURE() << "no error: " << text;
  } catch (const E& e) {
    EXPECT_EQ(e.what(), text);
  }
}

const std::vector<Prim> kArithmetic = {Prim::add, Prim::sub,      Prim::mul,
                                       Prim::div, Prim::floordiv, Prim::mod,
                                       Prim::pow, Prim::maximum,  Prim::minimum};
const std::vector<Prim> kComparisons = {Prim::eq, Prim::ne, Prim::lt, Prim::le, Prim::gt, Prim::ge};

TEST(PrimShapes, UnaryKeepsTheType) {
  constexpr Prim kAll[] = {
#define UNARY(name, cost) Prim::name,
#define BINARY(name, cost)
#define PRIM(name, how, attributes)
#include "ir/prims.def"
      Prim::stop_gradient};
  for (Prim p : kAll) {
    if (p == Prim::logical_not) continue;
    EXPECT_EQ(infer(p, {f32({None, 3})})[0], f32({None, 3})) << primitive(p).name;
  }
  EXPECT_EQ(infer(Prim::neg, {i64({2})})[0], i64({2}));
  EXPECT_EQ(infer(Prim::logical_not, {boolean({2})})[0], boolean({2}));
  EXPECT_EQ(infer(attrs::cast{.dtype = DType::int64}, {f32({None, 2})})[0], i64({None, 2}));
}

TEST(PrimShapes, UnaryDTypes) {
  expect_error<TypeError>([] { infer(Prim::exp, {i64({2})}); },
                          "exp: x must have a float dtype; got int64.");
  expect_error<TypeError>([] { infer(Prim::neg, {boolean({2})}); },
                          "neg: x must have a numeric dtype; got bool.");
  expect_error<TypeError>([] { infer(Prim::logical_not, {f32({2})}); },
                          "logical_not: x must be bool; got float32.");
  expect_error<TypeError>(
      [] { infer(Prim::exp, {TensorType(DType::float32, {2, 3}, true)}); },
      "exp: operands must be dense; got a sparse tensor of shape (2, 3). Convert it with "
      "to_dense.");
}

TEST(PrimShapes, Broadcasting) {
  struct Case {
    Shape a, b, y;
  };
  const std::vector<Case> cases = {
      {{2, 3}, {2, 3}, {2, 3}},
      {{2, 3}, {3}, {2, 3}},
      {{2, 1}, {1, 3}, {2, 3}},
      {{}, {4}, {4}},
      {{5, 1, 3}, {2, 1}, {5, 2, 3}},
      {{0, 3}, {1, 3}, {0, 3}},
      {{None, 3}, {1, 3}, {None, 3}},
      {{None, 3}, {4, 3}, {4, 3}},
      {{None, 3}, {None, 3}, {None, 3}},
      {{None, 3}, {None, 1, 3}, {None, None, 3}},
      {{None}, {0}, {0}},
      {{}, {}, {}},
  };
  for (const Case& c : cases) {
    for (Prim p : kArithmetic) {
      EXPECT_EQ(infer(p, {f32(c.a), f32(c.b)})[0], f32(c.y));
      EXPECT_EQ(infer(p, {f32(c.b), f32(c.a)})[0], f32(c.y));
    }
    for (Prim p : kComparisons) EXPECT_EQ(infer(p, {f32(c.a), f32(c.b)})[0], boolean(c.y));
    for (Prim p : {Prim::logical_and, Prim::logical_or})
      EXPECT_EQ(infer(p, {boolean(c.a), boolean(c.b)})[0], boolean(c.y));
    EXPECT_EQ(infer(Prim::select, {boolean(c.a), f32(c.b), f32({})})[0], f32(c.y));
    EXPECT_EQ(infer(Prim::select, {boolean({}), f32(c.a), f32(c.b)})[0], f32(c.y));
  }
}

TEST(PrimShapes, BinaryErrors) {
  expect_error<ValueError>([] { infer(Prim::add, {f32({2, 3}), f32({4, 3})}); },
                           "add: shapes (2, 3) and (4, 3) do not broadcast together.");
  expect_error<TypeError>([] { infer(Prim::add, {f32({2}), i64({2})}); },
                          "add: operands must have the same dtype; got float32 and int64.");
  expect_error<TypeError>([] { infer(Prim::mul, {boolean({2}), boolean({2})}); },
                          "mul: operands must have a numeric dtype; got bool.");
  expect_error<TypeError>([] { infer(Prim::div, {i64({2}), i64({2})}); },
                          "div: operands must have a float dtype; got int64.");
  expect_error<TypeError>([] { infer(Prim::logical_or, {i64({2}), i64({2})}); },
                          "logical_or: operands must be bool; got int64.");
  expect_error<TypeError>([] { infer(Prim::select, {f32({2}), f32({2}), f32({2})}); },
                          "select: condition must be bool; got float32.");
  expect_error<ValueError>([] { infer(Prim::select, {boolean({3}), f32({2}), f32({2})}); },
                           "select: shapes (3,) and (2,) do not broadcast together.");
  EXPECT_EQ(infer(Prim::eq, {boolean({2}), boolean({2})})[0], boolean({2}));
}

TEST(PrimShapes, Reductions) {
  const Operands x = {f32({2, None, 4})};
  EXPECT_EQ(shape_of(attrs::reduce_sum{.axes = {1}}, x), "(2, 4)");
  EXPECT_EQ(shape_of(attrs::reduce_sum{.axes = {0, 2}}, x), "(None,)");
  EXPECT_EQ(shape_of(attrs::reduce_max{.axes = {0, 1, 2}}, x), "()");
  EXPECT_EQ(shape_of(attrs::reduce_min{.axes = {1}, .keepdims = true}, x), "(2, 1, 4)");
  EXPECT_EQ(shape_of(attrs::reduce_prod{}, x), "(2, None, 4)");
  EXPECT_EQ(infer(attrs::reduce_any{.axes = {0}}, {boolean({2, 3})})[0], boolean({3}));
  EXPECT_EQ(infer(attrs::reduce_all{.axes = {1}}, {boolean({2, 3})})[0], boolean({2}));
  expect_error<ValueError>(
      [&] { infer(attrs::reduce_sum{.axes = {1, 0}}, x); },
      "reduce_sum: axes must be in [0, 3), sorted and without repeats; got (1, 0).");
  expect_error<ValueError>(
      [&] { infer(attrs::reduce_sum{.axes = {3}}, x); },
      "reduce_sum: axes must be in [0, 3), sorted and without repeats; got (3,).");
  expect_error<TypeError>([&] { infer(attrs::reduce_any{.axes = {0}}, x); },
                          "reduce_any: x must be bool; got float32.");
}

TEST(PrimShapes, PositionsAndRunningSums) {
  EXPECT_EQ(infer(attrs::argmax{.axis = -1}, {f32({None, 3})})[0], i64({None}));
  EXPECT_EQ(infer(attrs::argmin{.axis = 0}, {f32({None, 3})})[0], i64({3}));
  EXPECT_EQ(infer(attrs::cumsum{.axis = 1}, {f32({None, 3})})[0], f32({None, 3}));
  EXPECT_EQ(infer(attrs::cumprod{.axis = -1}, {i64({2, 3})})[0], i64({2, 3}));
  EXPECT_EQ(infer(attrs::log_softmax{}, {f32({None, 3})})[0], f32({None, 3}));
  expect_error<ValueError>([] { infer(attrs::argmax{.axis = 2}, {f32({32, 10})}); },
                           "argmax: axis must be in [-2, 2) for x of shape (32, 10); got axis=2.");
  expect_error<ValueError>([] { infer(attrs::argmax{.axis = 1}, {f32({2, 0})}); },
                           "argmax: axis 1 of x must not be empty; got shape (2, 0).");
  expect_error<ValueError>([] { infer(attrs::cumsum{.axis = -3}, {f32({2, 3})}); },
                           "cumsum: axis must be in [-2, 2) for x of shape (2, 3); got axis=-3.");
}

TEST(PrimShapes, Reshape) {
  const auto to = [](Shape from, Ints dims) {
    return shape_of(attrs::reshape{.shape = std::move(dims)}, {f32(std::move(from))});
  };
  EXPECT_EQ(to({2, 3}, {3, 2}), "(3, 2)");
  EXPECT_EQ(to({2, 3}, {-1}), "(6,)");
  EXPECT_EQ(to({2, 3, 4}, {4, -1}), "(4, 6)");
  EXPECT_EQ(to({1, 1}, {}), "()");
  EXPECT_EQ(to({None, 4, 5}, {-1, 20}), "(None, 20)");
  EXPECT_EQ(to({None, 4}, {-1, 3}), "(None, 3)");
  EXPECT_EQ(to({None, 4}, {2, 6}), "(2, 6)");
  EXPECT_EQ(to({0, 3}, {-1, 3}), "(0, 3)");
  EXPECT_EQ(to({0, 3}, {0, -1}), "(0, 0)");
  EXPECT_EQ(to({0, 3}, {5, 0}), "(5, 0)");
  const Operands with_shape = {f32({2, 3, 4}), i64({2})};
  EXPECT_EQ(shape_of(attrs::reshape{.shape = {kFromOperand, 12}}, with_shape), "(2, 12)");
  EXPECT_EQ(shape_of(attrs::reshape{.shape = {kFromOperand, kFromOperand}}, with_shape),
            "(None, None)");
  EXPECT_EQ(shape_of(attrs::reshape{.shape = {kFromOperand, -1}}, with_shape), "(None, None)");
}

TEST(PrimShapes, ReshapeErrors) {
  const auto fails = [](Shape from, Ints dims, const std::string& text) {
    expect_error<ValueError>([&] { infer(attrs::reshape{.shape = dims}, {f32(from)}); }, text);
  };
  fails({2, 3}, {4, -1},
        "reshape: (2, 3) has 6 elements and cannot become (4, -1): 6 is not a multiple of 4.");
  fails({2, 3}, {4, 2}, "reshape: (2, 3) has 6 elements and cannot become (4, 2), which has 8.");
  fails({None, 4}, {3, 5}, "reshape: (None, 4) cannot become (3, 5): 15 is not a multiple of 4.");
  fails({2, 3}, {0, -1},
        "reshape: (2, 3) has 6 elements and cannot become (0, -1): 6 is not a multiple of 0.");
  fails({2, 3}, {-1, -1}, "reshape: shape must have at most one -1; got (-1, -1).");
  fails({2, 3}, {-2, 3}, "reshape: shape must have entries of at least 0, or one -1; got (-2, 3).");
}

TEST(PrimShapes, ExpandAndSqueeze) {
  EXPECT_EQ(shape_of(attrs::expand_dims{.axes = {0, 2}}, {f32({None, 3})}), "(1, None, 1, 3)");
  EXPECT_EQ(shape_of(attrs::expand_dims{.axes = {0}}, {f32({})}), "(1,)");
  EXPECT_EQ(shape_of(attrs::squeeze{.axes = {0, 2}}, {f32({1, 4, None})}), "(4,)");
  expect_error<ValueError>(
      [] { infer(attrs::expand_dims{.axes = {3}}, {f32({2, 3})}); },
      "expand_dims: axes must be in [0, 3), sorted and without repeats; got (3,).");
  expect_error<ValueError>([] { infer(attrs::squeeze{.axes = {1}}, {f32({1, 4})}); },
                           "squeeze: removed axes must have size 1; got axis 1 of (1, 4).");
}

TEST(PrimShapes, BroadcastAndSumTo) {
  EXPECT_EQ(shape_of(attrs::broadcast{.shape = {2, 3, 4}}, {f32({3, 1})}), "(2, 3, 4)");
  EXPECT_EQ(shape_of(attrs::broadcast{.shape = {5, 4}}, {f32({None, 4})}), "(5, 4)");
  EXPECT_EQ(shape_of(attrs::broadcast{.shape = {kFromOperand, kFromOperand}}, {f32({4}), i64({2})}),
            "(None, 4)");
  EXPECT_EQ(shape_of(attrs::broadcast{.shape = {kFromOperand}}, {f32({1}), i64({1})}), "(None,)");
  expect_error<ValueError>([] { infer(attrs::broadcast{.shape = {2, 4}}, {f32({3})}); },
                           "broadcast: (3,) does not broadcast to (2, 4).");
  expect_error<ValueError>([] { infer(attrs::broadcast{.shape = {4}}, {f32({2, 4})}); },
                           "broadcast: (2, 4) does not broadcast to (4,).");
  expect_error<TypeError>(
      [] { infer(attrs::broadcast{.shape = {kFromOperand}}, {f32({}), f32({1})}); },
      "broadcast: shape must be int64; got float32.");
  expect_error<ValueError>(
      [] { infer(attrs::broadcast{.shape = {kFromOperand}}, {f32({}), i64({2})}); },
      "broadcast: shape must be 1-D with 1 entries; got shape (2,).");

  EXPECT_EQ(shape_of(attrs::sum_to{.shape = {3, 1}}, {f32({2, 3, 4})}), "(3, 1)");
  EXPECT_EQ(shape_of(attrs::sum_to{.shape = {1, 4}}, {f32({None, 4})}), "(1, 4)");
  EXPECT_EQ(shape_of(attrs::sum_to{.shape = {kFromOperand, 4}}, {f32({5, 4}), i64({2})}),
            "(None, 4)");
  EXPECT_EQ(shape_of(attrs::sum_to{.shape = {}}, {f32({None, 4})}), "()");
  expect_error<ValueError>([] { infer(attrs::sum_to{.shape = {2, 4}}, {f32({3, 4})}); },
                           "sum_to: (3, 4) does not sum to (2, 4).");
}

TEST(PrimShapes, TransposeReverseShape) {
  EXPECT_EQ(shape_of(attrs::transpose{.perm = {2, 0, 1}}, {f32({None, 3, 4})}), "(4, None, 3)");
  expect_error<ValueError>([] { infer(attrs::transpose{.perm = {0, 0}}, {f32({2, 3})}); },
                           "transpose: perm must be a permutation of the 2 axes of x; got (0, 0).");
  EXPECT_EQ(shape_of(attrs::reverse{.axes = {0, -1}}, {f32({None, 3})}), "(None, 3)");
  expect_error<ValueError>([] { infer(attrs::reverse{.axes = {2}}, {f32({2, 3})}); },
                           "reverse: axis must be in [-2, 2) for x of shape (2, 3); got axis=2.");
  EXPECT_EQ(infer(Prim::shape_of, {f32({None, 3})})[0], i64({2}));
  EXPECT_EQ(infer(attrs::print{.message = "x"}, {boolean({None})})[0], boolean({None}));
}

TEST(PrimShapes, Concat) {
  EXPECT_EQ(shape_of(attrs::concat{.axis = 1}, {f32({2, 3}), f32({2, 4})}), "(2, 7)");
  EXPECT_EQ(shape_of(attrs::concat{.axis = -1}, {f32({None, 3}), f32({2, 4}), f32({None, 1})}),
            "(2, 8)");
  EXPECT_EQ(shape_of(attrs::concat{.axis = 0}, {f32({None, 3}), f32({2, None})}), "(None, 3)");
  expect_error<ValueError>(
      [] { infer(attrs::concat{.axis = 1}, {f32({2, 3}), f32({4, 3})}); },
      "concat: shapes must agree except on axis=1; got (2, 3) and (4, 3), which differ on "
      "axis 0.");
  expect_error<ValueError>(
      [] { infer(attrs::concat{}, {f32({2, 3}), f32({2})}); },
      "concat: operands must have the same number of dimensions; got shapes (2, 3) and (2,).");
  expect_error<TypeError>([] { infer(attrs::concat{}, {f32({2}), i64({2})}); },
                          "concat: operands must have the same dtype; got float32 and int64.");
}

TEST(PrimShapes, Slice) {
  const auto of = [](Shape x, Ints starts, Ints stops, Ints steps) {
    return shape_of(
        attrs::slice{
            .starts = std::move(starts), .stops = std::move(stops), .steps = std::move(steps)},
        {f32(std::move(x))});
  };
  EXPECT_EQ(of({5, 6}, {1, -2}, {3, kToEnd}, {}), "(2, 2)");
  EXPECT_EQ(of({5, 6}, {4, 0}, {0, kToEnd}, {-2, 4}), "(2, 2)");
  EXPECT_EQ(of({5, 6}, {-1, kToEnd}, {kToEnd, kToEnd}, {-1, -1}), "(5, 6)");
  EXPECT_EQ(of({5}, {9}, {12}, {1}), "(0,)");
  // None: the axis may turn out shorter than the bounds.
  EXPECT_EQ(of({None}, {0}, {kToEnd}, {1}), "(None,)");
  EXPECT_EQ(of({None}, {0}, {3}, {1}), "(None,)");
  EXPECT_EQ(of({None}, {-1}, {kToEnd}, {1}), "(None,)");
  EXPECT_EQ(of({None}, {3}, {3}, {1}), "(0,)");
  EXPECT_EQ(of({None}, {-2}, {-4}, {1}), "(0,)");
  EXPECT_EQ(of({None}, {2}, {-2}, {1}), "(None,)");
  EXPECT_EQ(of({None}, {1}, {3}, {-1}), "(0,)");
  const attrs::slice open{
      .starts = {kFromOperand, 0}, .stops = {kToEnd, kFromOperand}, .steps = {1, 1}};
  EXPECT_EQ(shape_of(open, {f32({5, 6}), i64({2}), i64({2})}), "(None, None)");
  EXPECT_EQ(shape_of(open, {f32({0, 6}), i64({2}), i64({2})}), "(0, None)");
  expect_error<ValueError>([&] { of({5}, {0}, {1}, {0}); },
                           "slice: steps must not be 0; got 0 on axis 0.");
  expect_error<ValueError>(
      [&] { of({5, 6}, {0}, {1}, {}); },
      "slice: starts, stops and steps must have one entry per axis of x; got (0,) and (1,) "
      "for shape (5, 6).");
}

TEST(PrimShapes, Pad) {
  EXPECT_EQ(shape_of(attrs::pad{.low = {1, 2}, .high = {0, 3}}, {f32({None, 4})}), "(None, 9)");
  expect_error<ValueError>([] { infer(attrs::pad{.low = {-1}, .high = {0}}, {f32({4})}); },
                           "pad: low and high must be at least 0; got (-1,) and (0,).");
  expect_error<ValueError>(
      [] { infer(attrs::pad{.low = {1}, .high = {1}}, {f32({4, 4})}); },
      "pad: low and high must have one entry per axis of x; got (1,) and (1,) for shape (4, 4).");
}

TEST(PrimShapes, GatherAndScatter) {
  EXPECT_EQ(shape_of(attrs::gather{.axis = 1}, {f32({2, 5, 4}), i64({None, 3})}),
            "(2, None, 3, 4)");
  EXPECT_EQ(shape_of(attrs::gather{.axis = -1}, {f32({2, 5}), i64({})}), "(2,)");
  expect_error<TypeError>([] { infer(attrs::gather{}, {f32({2}), f32({2})}); },
                          "gather: indices must be int32 or int64; got float32.");
  expect_error<ValueError>([] { infer(attrs::gather{.axis = 1}, {f32({2}), i64({2})}); },
                           "gather: axis must be in [-1, 1) for x of shape (2,); got axis=1.");

  const attrs::scatter_add rows{.axis = 0, .shape = {10, 4}};
  EXPECT_EQ(shape_of(rows, {i64({3}), f32({3, 4})}), "(10, 4)");
  EXPECT_EQ(shape_of(rows, {i64({None, 2}), f32({None, 2, None})}), "(10, 4)");
  EXPECT_EQ(shape_of(attrs::scatter_add{.axis = 1, .shape = {kFromOperand, kFromOperand, 4}},
                     {i64({3}), f32({2, 3, 4}), i64({3})}),
            "(2, None, 4)");
  expect_error<ValueError>(
      [&] { infer(rows, {i64({3}), f32({2, 4})}); },
      "scatter_add: updates of shape (2, 4) do not fit indices of shape (3,) on axis 0 of "
      "(10, 4).");
}

TEST(PrimShapes, Iota) {
  EXPECT_EQ(infer(attrs::iota{.shape = {5}}, {})[0], i64({5}));
  EXPECT_EQ(infer(attrs::iota{.dtype = DType::float32, .shape = {kFromOperand}}, {i64({1})})[0],
            f32({None}));
  expect_error<ValueError>([] { infer(attrs::iota{.shape = {2, 3}}, {}); },
                           "iota: shape must have one entry; got (2, 3).");
}

TEST(PrimShapes, TopK) {
  const Types y = infer(attrs::top_k{.k = 2}, {f32({None, 5})});
  EXPECT_EQ(y[0], f32({None, 2}));
  EXPECT_EQ(y[1], TensorType(DType::int32, {None, 2}));
  EXPECT_EQ(shape_of(attrs::top_k{.k = 9}, {f32({3, None})}), "(3, 9)");
  expect_error<ValueError>(
      [] { infer(attrs::top_k{.k = 7}, {f32({2, 5})}); },
      "top_k: k must be at least 0 and at most the last dimension of (2, 5); got k=7.");
  expect_error<ValueError>([] { infer(attrs::top_k{}, {f32({})}); },
                           "top_k: x must have at least one dimension; got shape ().");

  EXPECT_EQ(infer(attrs::in_top_k{.k = 2}, {f32({None, 5}), i64({3})})[0], boolean({3}));
  expect_error<ValueError>(
      [] { infer(attrs::in_top_k{}, {f32({2, 5}), i64({3})}); },
      "in_top_k: predictions and targets must have the same number of rows; got shapes (2, 5) and "
      "(3,).");
  expect_error<ValueError>([] { infer(attrs::in_top_k{}, {f32({5}), i64({5})}); },
                           "in_top_k: predictions must have 2 dimensions; got shape (5,).");
}

TEST(PrimShapes, EveryPrimitiveDifferentiatesOrSaysThatItDoesNot) {
  for (Prim p :
       {Prim::neg,         Prim::sign,        Prim::abs,     Prim::exp,     Prim::cast,
        Prim::add,         Prim::pow,         Prim::maximum, Prim::select,  Prim::reduce_sum,
        Prim::reduce_prod, Prim::cumsum,      Prim::cumprod, Prim::reshape, Prim::broadcast,
        Prim::sum_to,      Prim::transpose,   Prim::concat,  Prim::slice,   Prim::pad,
        Prim::gather,      Prim::scatter_add, Prim::top_k,   Prim::print,   Prim::recurrence})
    EXPECT_TRUE(primitive(p).grad) << primitive(p).name;
  for (Prim p :
       {Prim::floor, Prim::round, Prim::floordiv, Prim::eq, Prim::logical_and, Prim::reduce_any,
        Prim::argmax, Prim::iota, Prim::shape_of, Prim::in_top_k, Prim::stop_gradient})
    EXPECT_TRUE(primitive(p).flags & kNoGradient) << primitive(p).name;
  EXPECT_TRUE(primitive(Prim::print).flags & kEffect);
}

// A builder's own zeros and ones are left out only if they do not give the result its shape.
TEST(Builders, NothingOfALargerShapeStays) {
  const Tensor x = placeholder({.shape = {3}}), larger = placeholder({.shape = {2, 3}});
  const Tensor zeros = prim::zeros_like(larger), ones = prim::full_like(larger, 1.0);
  for (const Tensor& y : {prim::sub(x, zeros), prim::add(x, zeros), prim::add(zeros, x),
                          prim::mul(x, ones), prim::mul(ones, x), prim::div(x, ones)})
    EXPECT_EQ(y.shape(), larger.shape());
  EXPECT_TRUE(prim::sub(larger, zeros).same_as(larger));
}

}  // namespace
}  // namespace horngate
