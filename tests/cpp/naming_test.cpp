// Errors that only a call can find: they name the K function that the user called.
#include <gtest/gtest.h>
#include <horngate/horngate.h>

#include <functional>

#include "ir/name.h"

namespace horngate {
namespace {

namespace K = horngate;

Tensor open_input(size_t rank, DType dtype = DType::float32) {
  return K::placeholder({.ndim = static_cast<int64_t>(rank), .dtype = dtype});
}

/// The text of the error of one call with arrays of ones in these shapes.
template <class E = ValueError>
std::string call_error(const std::function<Tensor(const Tensors&)>& f, std::vector<Ints> shapes) {
  Tensors xs;
  Arrays feeds;
  for (const Ints& s : shapes) {
    xs.push_back(open_input(s.size()));
    feeds.push_back(Array::full(DType::float32, s, 1.0));
  }
  const Function g = K::function(xs, {f(xs)});
  try {
    (void)g(feeds);
  } catch (const E& e) {
    return e.what();
  }
  return "no error";
}

TEST(Naming, TheFunctionThatWasCalled) {
  const std::string shapes = ": shapes (2, 3) and (4, 3) do not broadcast together.";
  const std::vector<Ints> two{{2, 3}, {4, 3}};
  EXPECT_EQ(call_error([](auto& x) { return x[0] - x[1]; }, two), "subtract" + shapes);
  EXPECT_EQ(call_error([](auto& x) { return x[0] * x[1]; }, two), "multiply" + shapes);
  EXPECT_EQ(call_error([](auto& x) { return x[0] / x[1]; }, two), "divide" + shapes);
  EXPECT_EQ(call_error([](auto& x) { return K::greater(x[0], x[1]); }, two), "greater" + shapes);
  EXPECT_EQ(call_error([](auto& x) { return K::binary_crossentropy(x[0], x[1]); }, two),
            "binary_crossentropy" + shapes);
  EXPECT_EQ(call_error([](auto& x) { return K::dot(x[0], x[1]); }, two),
            "dot: axis 1 of shape (2, 3) and axis 0 of shape (4, 3) must have the same size.");
  EXPECT_EQ(
      call_error([](auto& x) { return K::batch_dot(x[0], x[1]); }, {{2, 3}, {2, 4}}),
      "batch_dot: axis 1 of shape (2, 3) and axis 1 of shape (2, 4) must have the same size.");
  EXPECT_EQ(
      call_error([](auto& x) { return K::stack({x[0], x[1]}, 0); }, two),
      "stack: shapes must agree except on axis=0; got (1, 2, 3) and (1, 4, 3), which differ on "
      "axis 1.");
}

TEST(Naming, AnIndexThatIsNotThere) {
  const auto at = [](int64_t i) {
    return call_error<IndexError>([i](auto& x) { return K::getitem(x[0], {i}); }, {{3, 2}});
  };
  const std::string range =
      "getitem: an index on axis 0 of x of shape (3, 2) must be in [-3, 3); got ";
  EXPECT_EQ(at(7), range + "7.");
  EXPECT_EQ(at(-4), range + "-4.");
  EXPECT_EQ(at(2), "no error");
  EXPECT_EQ(at(-1), "no error");
  EXPECT_EQ(K::getitem(open_input(2), {1, Slice{}}).shape(), (Shape{None}));
}

TEST(Naming, LoopsAndWhatTheyCall) {
  const FoldFunction plus = [](const Tensor& a, const Tensor& b) { return a + b; };
  const std::string empty = ": an index on axis 0 of x of shape (0, 2) must be in [0, 0); got ";
  EXPECT_EQ(call_error<IndexError>([&](auto& x) { return K::foldl(plus, x[0]); }, {{0, 2}}),
            "foldl" + empty + "0.");
  EXPECT_EQ(call_error<IndexError>([&](auto& x) { return K::foldr(plus, x[0]); }, {{0, 2}}),
            "foldr" + empty + "-1.");
  const auto both = [](const Tensors& x) { return Tensors{x[0] + x[1]}; };
  EXPECT_EQ(call_error([&](auto& x) { return K::map_fn(both, Tensors{x[0], x[1]})[0]; },
                       {{3, 2}, {4, 2}}),
            "map_fn: sequences must have the same length; got 3 and 4.");
  // What the user's function calls has its own name, in the plan and in the run.
  EXPECT_EQ(call_error(
                [](auto& x) {
                  return K::map_fn([&](const Tensor& row) { return K::dot(row, x[1]); }, x[0]);
                },
                {{3, 2}, {4, 2}}),
            "dot: axis 0 of shape (2,) and axis 0 of shape (4, 2) must have the same size.");
  EXPECT_EQ(
      call_error<IndexError>(
          [](auto& x) {
            return K::map_fn(
                [&](const Tensor& row) { return K::gather(x[1], K::cast(row, DType::int32)); },
                x[0]);
          },
          {{2}, {1}}),
      "gather: index 1 is out of range for axis 0 of size 1.");
}

TEST(Naming, FunctionsMadeOfOthersAndGradients) {
  // An embedding's lookup, and its gradient, both of them with the user's name of the node.
  const Variable table = K::variable(K::ones_array({2, 3}));
  const Tensor i = K::placeholder({.shape = {None}, .dtype = DType::int32});
  Tensor y;
  {
    const NameScope scope("lookup");
    y = K::gather(table, i);
  }
  const Tensor g = K::gradients(K::sum(y), {table})[0];
  const auto error = [&](const Tensor& t) -> std::string {
    try {
      (void)K::function({i}, {t})({Array::of<int32_t>({7})});
    } catch (const IndexError& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_EQ(error(y),
            "gather: index 7 is out of range for axis 0 of size 2. (node \"lookup/gather\")");
  EXPECT_EQ(error(g), "gather: index 7 is out of range for axis 0 of size 2.");
}

TEST(Naming, Updates) {
  const Variable v = K::variable(K::ones_array({2}));
  const Tensor x = open_input(1);
  const auto error = [&](const Tensor& op) -> std::string {
    try {
      (void)K::function({x}, {}, {op})({Array::of({1.f, 2.f, 3.f})});
    } catch (const ValueError& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_EQ(error(K::update(v, x)), "update: the variable has shape (2,) but the value has (3,).");
  EXPECT_EQ(error(K::update_add(v, x)),
            "update_add: the variable has shape (2,) but the value has (3,).");
  EXPECT_EQ(error(K::moving_average_update(v, x, 0.5)),
            "moving_average_update: the variable has shape (2,) but the value has (3,).");
}

TEST(Naming, EqualStepsOfTwoFunctions) {
  const Variable table = K::variable(K::ones_array({2}));
  const Tensor ids = K::placeholder({.shape = {None}, .dtype = DType::int32});
  std::vector<Function> all;  // kept, so that the second could meet the first one's step
  for (const char* name : {"first", "second"}) {
    const Tensor y = K::map_fn(
        [&](const Tensor& i) {
          const CalledInstead called(name);
          return K::gather(table, i);
        },
        ids, {.dtype = DType::float32});
    all.push_back(K::function({ids}, {y}));
    try {
      (void)all.back()({Array::of<int32_t>({0, 7})});
      ADD_FAILURE() << "nothing was raised";
    } catch (const IndexError& e) {
      EXPECT_EQ(std::string(e.what()).rfind(std::string(name) + ": index 7", 0), 0u) << e.what();
    }
  }
}

TEST(Naming, BranchesThatDiffer) {
  const Tensor c = K::placeholder({.shape = Shape{}, .dtype = DType::bool_});
  const Tensor a = open_input(1), b = open_input(1);
  const Tensor y = K::map_fn(
      [&](const Tensor& one) {
        return K::switch_(c, [&] { return a + one; }, [&] { return b * 2.0; });
      },
      a);
  try {
    (void)K::function({c, a, b}, {y})({Array(true), Array::of({1.f, 2.f}), Array::of({1.f})});
    ADD_FAILURE() << "nothing was raised";
  } catch (const ValueError& e) {
    EXPECT_STREQ(e.what(),
                 "switch: both branches must give the same shape in a step function or branch; got "
                 "(2,) and (1,).");
  }
}

}  // namespace
}  // namespace horngate
