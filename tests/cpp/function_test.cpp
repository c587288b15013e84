// Functions: feeds, updates as transactions, plans, data-dependent shapes, errors.
#include <gtest/gtest.h>
#include <horngate/horngate.h>

#include <random>

#include "error_of.h"
#include "finite_differences.h"
#include "ir/warn.h"
#include "plan/function_impl.h"
#include "prims/build.h"

namespace horngate {
namespace {

Array floats(std::initializer_list<float> v) { return Array::of(v); }
std::vector<float> values(const Array& a) { return a.to_vector<float>(); }

using testing::error_of;

TEST(Function, AddsOne) {
  const Tensor x = placeholder({.shape = {None}, .name = "x"});
  const Function f = function({x}, {x + 1.0, x * 2.0});
  const Arrays out = f({floats({1, 2, 3})});
  EXPECT_EQ(values(out[0]), (std::vector<float>{2, 3, 4}));
  EXPECT_EQ(values(out[1]), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(values(f({floats({5})})[0]), (std::vector<float>{6}));
  EXPECT_EQ(f.impl()->plan_count(), 2u);
}

TEST(Function, CastsAndChecksFeeds) {
  clear_session();
  const Tensor x = placeholder({.shape = {None, 3}, .name = "x"});
  const Function f = function({x}, {sum(x)});
  EXPECT_EQ(f({Array::of<int64_t>({1, 2, 3}, {1, 3})})[0].item<float>(), 6.0f);
  EXPECT_EQ(error_of([&] { (void)f({floats({1, 2, 3})}); }),
            "function: input 0 \"x\" takes shape (None, 3); got an array of shape (3,). Did you "
            "forget the batch dimension?");
  EXPECT_EQ(error_of([&] { (void)f({}); }),
            "function: takes 1 input; got 0: input 0 \"x\" is missing.");
  EXPECT_EQ(error_of([&] { (void)function({}, {x}); }),
            "function: placeholder \"x\" of shape (None, 3) is needed but not among the inputs.");
}

TEST(Function, FeedsAnIntermediateTensorAndAVariable) {
  const Tensor x = placeholder({.shape = {None}});
  const Tensor y = exp(x);
  const Tensor z = y * 3.0;
  EXPECT_EQ(values(function({y}, {z})({floats({2})})[0]), (std::vector<float>{6}));
  const Variable v = variable(floats({1, 1}));
  EXPECT_EQ(values(function({v}, {v + 1.0})({floats({5, 6})})[0]), (std::vector<float>{6, 7}));
  EXPECT_EQ(values(get_value(v)), (std::vector<float>{1, 1}));
}

TEST(Function, OutputsMayBeInputsConstantsAndRepeated) {
  const Tensor x = placeholder({.shape = {2}});
  const Tensor c = constant(floats({7, 8}));
  const Tensor y = x + c;
  const Arrays out = function({x}, {x, c, y, y, y})({floats({1, 2})});
  EXPECT_EQ(values(out[0]), (std::vector<float>{1, 2}));
  EXPECT_EQ(values(out[1]), (std::vector<float>{7, 8}));
  for (size_t i = 2; i < 5; ++i) EXPECT_EQ(values(out[i]), (std::vector<float>{8, 10}));
}

TEST(Updates, OutputsSeeOldValues) {
  const Variable v = variable(floats({1}));
  const Function f = function({}, {v * 10.0}, {update_add(v, constant(floats({1})))});
  EXPECT_EQ(f()[0].item<float>(), 10.0f);
  EXPECT_EQ(f()[0].item<float>(), 20.0f);
  EXPECT_EQ(get_value(v).item<float>(), 3.0f);
}

TEST(Updates, TwoOfOneVariableChain) {
  const Variable v = variable(floats({1, 2}));
  const Tensor a = constant(floats({10, 10})), b = constant(floats({5, 6}));
  (void)function({}, {}, {update_add(v, a), update_add(v, b)})();
  EXPECT_EQ(values(get_value(v)), (std::vector<float>{16, 18}));
  (void)function({}, {}, {update(v, a), update_sub(v, b)})();
  EXPECT_EQ(values(get_value(v)), (std::vector<float>{5, 4}));
  (void)function({}, {}, {moving_average_update(v, a, 0.5), moving_average_update(v, b, 0.5)})();
  EXPECT_EQ(values(get_value(v)), (std::vector<float>{6.25f, 6.5f}));
}

std::vector<std::string> warnings_of(const std::function<void()>& f) {
  std::vector<std::string> warnings;
  set_warning_handler([&](const std::string& text) { warnings.push_back(text); });
  f();
  set_warning_handler({});
  return warnings;
}

TEST(Updates, TheLastThatSetsCountsAndAWarningSaysSo) {
  clear_session();
  const Variable v = variable(floats({1}), {.name = "v"});
  Function f;
  const std::vector<std::string> said{
      "function: variable \"v\" has several updates; the last one that sets it overrides those "
      "before it."};
  EXPECT_EQ(warnings_of([&] { f = function({}, {v * 1.0}, {{v, v + 10.0}, {v, v * 5.0}}); }), said);
  EXPECT_EQ(values(f()[0]), (std::vector<float>{1}));
  EXPECT_EQ(values(get_value(v)), (std::vector<float>{5}));
  const Tensor one = constant(1.0f);
  EXPECT_EQ(warnings_of([&] { f = function({}, {}, {update_add(v, one), {v, v * 5.0}}); }), said);
  f();
  EXPECT_EQ(values(get_value(v)), (std::vector<float>{25}));
}

TEST(Updates, NothingIsSaidWhereNothingIsLost) {
  const Variable v = variable(floats({1}));
  const Tensor one = constant(1.0f), y = v * 3.0;
  Function f;
  const auto quiet = [&](const std::vector<Update>& updates) {
    EXPECT_EQ(warnings_of([&] { f = function({}, {}, updates); }), std::vector<std::string>());
    f();
    return values(get_value(v))[0];
  };
  EXPECT_EQ(quiet({{v, y}, update_add(v, one)}), 4);
  EXPECT_EQ(quiet({update_add(v, one), update_add(v, one)}), 6);
  EXPECT_EQ(quiet({moving_average_update(v, one, 0.5), moving_average_update(v, one, 0.5)}), 2.25);
  EXPECT_EQ(quiet({{v, y}, {v, y}}), 6.75);  // the same value twice
  const Tensor first = update(v, v + 1.0);
  EXPECT_EQ(quiet({first, first}), 7.75);
  EXPECT_EQ(quiet({first, {v, first * 2.0}}), 17.5);  // the second is made of the first
}

TEST(Updates, OfAVariableThatIsFedBeginWithTheFedValue) {
  const Variable v = variable(floats({1, 2})), w = variable(floats({0, 0}));
  const Tensor one = constant(1.0f);
  const Function f = function({v}, {v * 1.0}, {update_add(v, one), {w, v * 2.0}});
  EXPECT_EQ(values(f({floats({10, 20})})[0]), (std::vector<float>{10, 20}));
  EXPECT_EQ(values(get_value(v)), (std::vector<float>{11, 21}));
  EXPECT_EQ(values(get_value(w)), (std::vector<float>{20, 40}));
  const Function average = function({v}, {}, {moving_average_update(v, one, 0.5)});
  average({floats({3, 5})});
  EXPECT_EQ(values(get_value(v)), (std::vector<float>{2, 3}));
  const Function set = function({w, v}, {w + v}, {{w, v}, {v, w}, update_sub(v, one)});
  EXPECT_EQ(values(set({floats({1, 1}), floats({5, 6})})[0]), (std::vector<float>{6, 7}));
  EXPECT_EQ(values(get_value(w)), (std::vector<float>{5, 6}));
  EXPECT_EQ(values(get_value(v)), (std::vector<float>{0, 0}));
  // Fed and not updated: it keeps its own value.
  EXPECT_EQ(values(function({w}, {w * 2.0})({floats({7, 7})})[0]), (std::vector<float>{14, 14}));
  EXPECT_EQ(values(get_value(w)), (std::vector<float>{5, 6}));
}

TEST(Updates, OfAFedVariableHappenTogetherOrNotAtAll) {
  const Variable v = variable(floats({1, 2}));
  const Tensor i = placeholder({.shape = {None}, .dtype = DType::int32});
  const Function f = function({v, i}, {gather(v, i)}, {update_add(v, constant(1.0f))});
  EXPECT_THROW(f({floats({10, 20}), Array::of<int32_t>({5})}), IndexError);
  EXPECT_EQ(values(get_value(v)), (std::vector<float>{1, 2}));
  f({floats({10, 20}), Array::of<int32_t>({1})});
  EXPECT_EQ(values(get_value(v)), (std::vector<float>{11, 21}));
}

TEST(Updates, SwapTwoVariables) {
  const Variable a = variable(floats({1, 2, 3})), b = variable(floats({4, 5, 6}));
  const Function swap = function({}, {}, {Update(a, b), Update(b, a)});
  (void)swap();
  EXPECT_EQ(values(get_value(a)), (std::vector<float>{4, 5, 6}));
  EXPECT_EQ(values(get_value(b)), (std::vector<float>{1, 2, 3}));
  const Function mix = function({}, {}, {Update(a, a + b), Update(b, a - b)});
  (void)mix();
  EXPECT_EQ(values(get_value(a)), (std::vector<float>{5, 7, 9}));
  EXPECT_EQ(values(get_value(b)), (std::vector<float>{3, 3, 3}));
}

TEST(Updates, AnUpdateIsATensor) {
  const Variable v = variable(floats({1}));
  const Tensor u = update_add(v, constant(floats({2})));
  EXPECT_EQ(function({}, {u})()[0].item<float>(), 3.0f);
  EXPECT_EQ(eval(u).item<float>(), 5.0f);
  EXPECT_EQ(get_value(v).item<float>(), 5.0f);
}

TEST(Updates, MetricsReadAfterTheirUpdate) {
  const Variable total = variable(floats({0})), count = variable(floats({0}));
  const Tensor u1 = update_add(total, constant(floats({100}))),
               u2 = update_add(count, constant(floats({2})));
  Tensor result;
  {
    const auto scope = control_dependencies({u1, u2});
    result = total / count;
  }
  EXPECT_EQ(eval(result).item<float>(), 50.0f);
  EXPECT_EQ(get_value(total).item<float>(), 100.0f);
  EXPECT_EQ(eval(result).item<float>(), 50.0f);
  EXPECT_EQ(get_value(count).item<float>(), 4.0f);
}

TEST(Updates, AFailingCallChangesNothing) {
  const Tensor i = placeholder({.shape = {1}, .dtype = DType::int64});
  const Variable v = variable(floats({1, 2, 3}));
  const Function f = function({i}, {gather(v, i)}, {update_add(v, constant(floats({1, 1, 1})))});
  EXPECT_THROW((void)f({Array::of<int64_t>({9})}), IndexError);
  EXPECT_EQ(values(get_value(v)), (std::vector<float>{1, 2, 3}));
  (void)f({Array::of<int64_t>({2})});
  EXPECT_EQ(values(get_value(v)), (std::vector<float>{2, 3, 4}));
}

TEST(Updates, OldValueHeldElsewhereStays) {
  const Variable v = variable(floats({1}));
  const Array before = get_value(v);
  const Function f = function({}, {v + 0.0}, {update_add(v, constant(floats({1})))});
  const Array out = f()[0];
  (void)f();
  EXPECT_EQ(before.item<float>(), 1.0f);
  EXPECT_EQ(out.item<float>(), 1.0f);
}

TEST(SetValue, ChecksShapeAndCasts) {
  clear_session();
  const Variable v = variable(floats({1, 2}), {.name = "v"});
  EXPECT_EQ(error_of([&] { set_value(v, floats({1, 2, 3})); }),
            "set_value: variable \"v\" has shape (2,); got a value of shape (3,).");
  set_value(v, Array::of<int64_t>({3, 4}));
  EXPECT_EQ(values(get_value(v)), (std::vector<float>{3, 4}));
  const Variable w = variable(floats({0}));
  batch_set_value({{v, floats({5, 6})}, {w, floats({7})}});
  const Arrays got = batch_get_value({w, v});
  EXPECT_EQ(values(got[0]), (std::vector<float>{7}));
  EXPECT_EQ(values(got[1]), (std::vector<float>{5, 6}));
}

TEST(LearningPhase, IsPartOfTheKeyAndDefaultsToTest) {
  clear_session();
  const Tensor x = placeholder({.shape = {None}});
  const Tensor y = in_train_phase(x * 10.0, x * 1.0);
  const Function f = function({x, learning_phase()}, {y});
  EXPECT_EQ(f({floats({2}), Array(1)})[0].item<float>(), 20.0f);
  EXPECT_EQ(f({floats({2}), Array(0)})[0].item<float>(), 2.0f);
  EXPECT_EQ(f({floats({2}), floats({1})})[0].item<float>(), 20.0f);
  EXPECT_EQ(function({x}, {y})({floats({2})})[0].item<float>(), 2.0f);
}

TEST(Shapes, ReshapeByAFedShapeAndByComputedOnes) {
  const Tensor x = placeholder({.shape = {None}}),
               s = placeholder({.shape = {2}, .dtype = DType::int64});
  const Function f = function({x, s}, {reshape(x, s)});
  EXPECT_EQ(f({floats({1, 2, 3, 4, 5, 6}), Array::of<int64_t>({2, 3})})[0].shape().str(), "(2, 3)");
  EXPECT_EQ(f({floats({1, 2, 3, 4, 5, 6}), Array::of<int64_t>({3, 2})})[0].shape().str(), "(3, 2)");
  // The length is computed from data: a plan in two parts.
  const Tensor n = cast(max(x), DType::int64);
  const Tensor r = prim::iota(SymShape{{kFromOperand}, prim::expand_dims(n, {0})}, DType::float32);
  const Function g = function({x}, {r, sum(r) + sum(x)});
  EXPECT_EQ(values(g({floats({1, 3})})[0]), (std::vector<float>{0, 1, 2}));
  EXPECT_EQ(g({floats({1, 4})})[1].item<float>(), 11.0f);
}

TEST(Shapes, SeveralStagesOfComputedSizes) {
  // The gradient of a tile by a computed count needs the count, and then shapes made of it.
  const Tensor x = placeholder({.shape = {None}});
  const Tensor n = cast(sum(square(x)), DType::int32);
  const Tensor y = tile(x, {n});
  const Arrays out = function({x}, {y, gradients(y, {x})[0]})({floats({1, 1, 1})});
  EXPECT_EQ(out[0].shape().str(), "(9,)");
  EXPECT_EQ(values(out[1]), (std::vector<float>{3, 3, 3}));
}

TEST(PlanCache, IsBounded) {
  const Tensor x = placeholder({.shape = {None}});
  const Function f = function({x}, {sum(x * x)});
  for (int64_t n = 1; n < 200; ++n)
    EXPECT_EQ(f({ones_array({n})})[0].item<float>(), static_cast<float>(n));
  EXPECT_EQ(f.impl()->plan_count(), 64u);
}

/// Restores the budget.
struct Budget {
  const size_t before = plan_budget();
  explicit Budget(size_t bytes) { set_plan_budget(bytes); }
  ~Budget() { set_plan_budget(before); }
};

TEST(PlanCache, AllFunctionsShareABudget) {
  const Tensor x = placeholder({.shape = {None}});
  std::vector<Function> functions;
  for (int i = 0; i < 40; ++i)
    functions.push_back(function({x}, {sum(x * static_cast<double>(i) + 1.0)}));
  (void)functions[0]({ones_array({1})});
  const size_t start = plan_bytes(), budget = start + 200'000;
  const Budget scope(budget);
  std::mt19937 random(3);
  size_t most = 0, plans = 0;
  for (int call = 0; call < 10'000; ++call) {
    const auto i = static_cast<size_t>(random() % functions.size());
    const auto n = static_cast<int64_t>(random() % 500 + 1);
    ASSERT_EQ(functions[i]({ones_array({n})})[0].item<float>(),
              static_cast<float>(n) * static_cast<float>(i + 1));
    most = std::max(most, plan_bytes());
  }
  for (const Function& f : functions) plans += f.impl()->plan_count();
  EXPECT_LE(most, budget + 20'000);  // the newest plan comes before others go
  EXPECT_LT(plans, 200u);
  EXPECT_GT(plans, 10u);
}

TEST(PlanCache, WhatIsUsedStays) {
  const Tensor x = placeholder({.shape = {None}});
  const Function often = function({x}, {exp(x)}), seldom = function({x}, {exp(x) * 2.0});
  (void)often({ones_array({3})});
  const Budget scope(plan_bytes() + 50'000);
  for (int64_t n = 1; n < 300; ++n) {
    (void)seldom({ones_array({n})});
    (void)often({ones_array({3})});
  }
  EXPECT_EQ(often.impl()->plans_made(), 1u);
  EXPECT_LT(seldom.impl()->plan_count(), 64u);
}

TEST(PlanCache, PlansOfComputedSizesCount) {
  const Tensor x = placeholder({.shape = {None}});
  const Function f = function({x}, {tile(x, {cast(sum(x), DType::int32)})});
  (void)f({ones_array({2})});
  const Budget scope(plan_bytes() + 30'000);
  for (int64_t n = 1; n < 300; ++n)
    EXPECT_EQ(f({ones_array({n % 40 + 1})})[0].size(), (n % 40 + 1) * (n % 40 + 1));
  EXPECT_LE(plan_bytes(), plan_budget() + 30'000);
}

// What is derived from weights (they are packed for products) is part of a plan.
TEST(PlanCache, DerivedValuesCount) {
  const Tensor x = placeholder({.shape = {None, 256}});
  const Variable w = variable(Array::full(DType::float32, {256, 256}, 0.5));
  const Function f = function({x}, {dot(x, w)});
  const auto call = [&](int64_t n) {
    return f({Array::full(DType::float32, {n, 256}, 1.0)})[0].data<float>()[0];
  };
  const size_t before = plan_bytes();
  EXPECT_EQ(call(2), 128.0f);
  const size_t one = plan_bytes() - before;
  EXPECT_GT(one, 256u * 256u * 4u);
  const Budget scope(before + 5 * one);
  for (int64_t n = 3; n < 40; ++n) {
    EXPECT_EQ(call(n), 128.0f);
    EXPECT_LE(plan_bytes(), plan_budget());
  }
  EXPECT_GE(f.impl()->plan_count(), 3u);
  EXPECT_LE(f.impl()->plan_count(), 5u);
}

TEST(PlanCache, ShapesThatComeAgainAreNotNewOnes) {
  const Tensor x = placeholder({.shape = {None}, .name = "data"});
  const Function f = function({x}, {x + 1.0}, {}, {.name = "again"});
  std::vector<std::string> warnings;
  set_warning_handler([&](const std::string& text) { warnings.push_back(text); });
  {
    const Budget scope(1);
    for (int i = 0; i < 100; ++i) (void)f({ones_array({1 + i % 2})});
    EXPECT_EQ(f.impl()->plans_made(), 100u);
    EXPECT_EQ(warnings, std::vector<std::string>{});
    for (int64_t n = 3; n < 60; ++n) (void)f({ones_array({n})});
  }
  set_warning_handler({});
  EXPECT_EQ(
      warnings,
      std::vector<std::string>{
          "again: 33 different input shapes so far; axis 0 of input \"data\" varies. Each new "
          "shape is planned once: padding to a few sizes is faster."});
}

TEST(Draws, AFailedCallDrawsNothing) {
  const Tensor x = placeholder({.shape = {None, 1}, .dtype = DType::int32});
  const Tensor y = random_uniform({4}, {.seed = 5}) + sum(gather(ones({3, 1}), x)) * 0.0;
  const Function f = function({x}, {y}), g = function({x}, {y});
  const auto good = Array::of<int32_t>({0, 1}, {2, 1}), bad = Array::of<int32_t>({0, 9}, {2, 1});
  const std::vector<float> first = f({good})[0].to_vector<float>();
  EXPECT_THROW((void)f({bad}), Error);
  const std::vector<float> second = f({good})[0].to_vector<float>();
  const Tensor again = random_uniform({4}, {.seed = 5});
  const Function h = function({}, {again});
  EXPECT_EQ(h()[0].to_vector<float>(), first);
  EXPECT_EQ(h()[0].to_vector<float>(), second);
}

TEST(Names, AreUniquePerScope) {
  clear_session();
  const Variable a = variable(floats({0}), {.name = "w"}), b = variable(floats({0}), {.name = "w"});
  EXPECT_EQ(a.name(), "w");
  EXPECT_EQ(b.name(), "w_1");
  const auto scope = name_scope("dense");
  EXPECT_EQ(variable(floats({0}), {.name = "w"}).name(), "dense/w");
}

}  // namespace
}  // namespace horngate
