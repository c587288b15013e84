// explain_gradient: the node that cut the way is named, and the remedy; None exactly where gradients gives none.
#include "error_of.h"
#include "gtest/gtest.h"
#include "horngate/horngate.h"

namespace horngate {
namespace {

using testing::error_of;

Variable weights() {
  clear_session();
  return variable(Array::of({1.f, -2.f, 3.f}), {.name = "w"});
}

void expect_words(const std::string& text, std::initializer_list<const char*> words) {
  for (const char* w : words) EXPECT_NE(text.find(w), std::string::npos) << w << "\n in: " << text;
}

/// The text, after checking that gradients agrees.
std::string explained(const Tensor& loss, const Tensor& x) {
  const std::string text = explain_gradient(loss, x);
  const bool is_none = !gradients(loss, std::vector<Tensor>{x})[0].defined();
  EXPECT_EQ(text.rfind("The gradient is None because ", 0) == 0, is_none) << text;
  return text;
}

TEST(ExplainGradient, NamesWhatCutsThePath) {
  const Variable w = weights();
  const Tensor f = w;
  const struct {
    Tensor loss;
    const char *function, *why;
  } rows[] = {
      {sum(cast(argmax(f, 0), DType::float32)), "argmax", "it gives positions"},
      {sum(cast(greater(f, 0.0), DType::float32)), "greater", "true or false"},
      {sum(cast(cast(f, DType::int32), DType::float32)), "cast",
       "integers and bool have no derivative"},
      {sum(stop_gradient(f * f)), "stop_gradient", "blocking gradients is its purpose"},
      {sum(round(f)), "round", "flat between its jumps"},
      {sum(update(w, w * 2.0)), "update", "an update changes a variable"},
  };
  for (const auto& row : rows) {
    const std::string text = explained(row.loss, w);
    expect_words(text, {"The gradient is None because ", row.function, " has no gradient (node \"",
                        "between the loss and variable \"w\"): ", row.why});
  }
}

TEST(ExplainGradient, WhatOnlyTheShapeIsUsedOf) {
  const Variable w = weights();
  const Tensor x = placeholder({.shape = {None}, .name = "x"});
  expect_words(
      explained(sum(ones_like(x) * w), x),
      {"because ones_like has no gradient (node \"", "between the loss and placeholder \"x\"): ",
       "only the shape is used, not the values. Compute the loss from the values."});
  // What else is cut is of more interest.
  expect_words(explained(sum(ones_like(x) * round(x)), x),
               {"because round has no gradient", "Other paths end at ones_like (node \""});
}

TEST(ExplainGradient, LossesAndTargetsThatAreIntegers) {
  const Variable w = weights();
  expect_words(explained(argmax(w, 0), w), {"because argmax has no gradient"});
  const Variable n = variable(Array::of(std::vector<int32_t>{1, 2}), {.name = "n"});
  EXPECT_EQ(explained(sum(cast(n, DType::float32)), n),
            "The gradient is None because variable \"n\" is int32, and only floats have a "
            "derivative. Make it float32.");
}

TEST(ExplainGradient, WithoutAPath) {
  const Variable w = weights();
  const Variable other = variable(Array::of({1.f}), {.name = "other"});
  const Tensor loss = sum(w * w);
  EXPECT_EQ(explained(loss, other),
            "The gradient is None because the loss does not depend on variable \"other\". It reads "
            "variable \"w\". Compute the loss from it; what went through eval, get_value or NumPy "
            "is a constant.");
  const Variable again = variable(Array::of({1.f}), {.name = "w"});
  expect_words(explained(loss, again), {"It reads variable \"w\": is that one meant?"});
  expect_words(explained(loss, w * w),
               {"Both are computed from variable \"w\"", "use the very tensor"});
}

TEST(ExplainGradient, ThePathThatIsCutInALoop) {
  const Variable w = weights();
  const Tensor steps =
      foldl([&](const Tensor& acc, const Tensor& x) { return acc + x * round(sum(w)); },
            constant(Array::of({1.f, 2.f})));
  expect_words(explained(sum(steps), w), {"because round has no gradient (node \""});
  const Tensor mapped =
      map_fn([](const Tensor& x) { return cast(greater(x, 1.0), DType::float32); }, w);
  expect_words(explained(sum(mapped), w), {"because greater has no gradient"});
}

TEST(ExplainGradient, Zeros) {
  const Variable w = weights();
  const std::string text = explained(sum(sign(w) * 3.0), w);
  expect_words(text, {"The gradient is zero everywhere because sign passes on zero (node \"",
                      "stop_gradient(y - x)"});
  EXPECT_EQ(eval(gradients(sum(sign(w) * 3.0), {w})[0]).to_vector<float>(),
            (std::vector<float>{0, 0, 0}));
  expect_words(explained(sum(w * zeros_like(w)), w),
               {"zero everywhere because mul", "constant zero"});
}

TEST(ExplainGradient, WhatFlows) {
  const Variable w = weights();
  const std::string text = explained(sum(relu(w) + round(w) + sign(w)), w);
  expect_words(text, {"The gradient is not None: it flows from the loss to variable \"w\" through ",
                      "Other paths end at round (node \"", "Zero comes from sign (node \"",
                      "Where its values are zero, look at relu (node \""});
  expect_words(explained(w, w), {"through 0 nodes."});
}

TEST(ExplainGradient, StrictSaysTheSame) {
  const Variable w = weights();
  const Tensor loss = sum(round(w));
  const std::string text = explain_gradient(loss, w), start = "The gradient is None because ";
  EXPECT_EQ(error_of<ValueError>([&] { (void)gradients(loss, {w}, {.strict = true}); }),
            "gradients (strict): " + text.substr(start.size()));
  EXPECT_EQ(error_of<ValueError>([&] { (void)explain_gradient(Tensor(), w); }),
            "explain_gradient: the loss is empty.");
  EXPECT_EQ(error_of<ValueError>([&] { (void)explain_gradient(loss, Tensor()); }),
            "explain_gradient: x is empty.");
}

}  // namespace
}  // namespace horngate
