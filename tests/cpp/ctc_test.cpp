// CTC loss and gradient against the enumeration of all paths.
#include "ctc_problem.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "engines/native/threads.h"
#include "simd_targets.h"

namespace horngate::native {
namespace kernels {
KernelPtr make_ctc_loss(const KernelCall& call);
KernelPtr make_ctc_loss_grad(const KernelCall& call);
}  // namespace kernels

namespace {

using namespace ctc_tests;

template <class T, class I = int32_t>
std::vector<double> loss(const Problem& p) {
  return run(Prim::ctc_loss, kernels::make_ctc_loss, operands<T, I>(p))[0];
}

template <class T, class I = int32_t>
std::vector<double> loss_grad(const Problem& p, const std::vector<double>& dloss) {
  std::vector<Operand> in = operands<T, I>(p);
  in.push_back(operand<T>(dloss, {p.batch}));
  return run(Prim::ctc_loss_grad, kernels::make_ctc_loss_grad, in)[0];
}

// Every instruction set of this machine.
class Ctc : public testing::SimdTargets {};
INSTANTIATE_TEST_SUITE_P(All, Ctc, testing::all_simd_targets(), testing::simd_target_name);

TEST_P(Ctc, LossEqualsEnumeration) {
  int infinite = 0;
  for (uint64_t seed = 0; seed < 20; ++seed)
    for (const int64_t classes : {1, 2, 3, 4}) {
      const Problem p = random_problem(seed, 4, 5, classes, 4);
      std::vector<double> expected;
      for (int64_t b = 0; b < p.batch; ++b) {
        expected.push_back(true_loss(p, b));
        infinite += std::isinf(expected.back());
      }
      expect_close(loss<double>(p), expected, 1e-12);
      expect_close(loss<float>(p), expected, 2e-6);
      expect_close(loss<float, int64_t>(p), expected, 2e-6);
    }
  EXPECT_GT(infinite, 10);  // both kinds were seen
}

TEST_P(Ctc, GradientEqualsFiniteDifferences) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const Problem p = random_problem(seed, 3, 5, 4, 3);
    const std::vector<double> dloss = {1.0, -0.5, 2.0};
    std::vector<double> expected;
    for (size_t i = 0; i < p.inputs.size(); ++i) {
      const size_t b = i / (p.inputs.size() / 3);
      constexpr double kStep = 1e-5;
      Problem up = p, down = p;
      up.inputs[i] += kStep;
      down.inputs[i] -= kStep;
      const double high = loss<double>(up)[b], low = loss<double>(down)[b];
      expected.push_back(std::isinf(high) ? 0 : dloss[b] * (high - low) / (2 * kStep));
    }
    expect_close(loss_grad<double>(p, dloss), expected, 1e-8);
    expect_close(loss_grad<float>(p, dloss), expected, 2e-6);
    expect_close(loss_grad<float, int64_t>(p, dloss), expected, 2e-6);
  }
}

TEST_P(Ctc, LongSequencesKeepFloatPrecision) {
  Problem p = random_problem(1, 2, 1000, 37, 150);
  p.input_length = {1000, 900};
  p.label_length = {150, 100};
  for (size_t i = 0; i < p.labels.size(); ++i) p.labels[i] = static_cast<int64_t>(i * 7 % 36);
  expect_close(loss<float>(p), loss<double>(p), 1e-6);
  expect_close(loss_grad<float>(p, {1, 1}), loss_grad<double>(p, {1, 1}), 1e-4);
}

TEST(CtcLoss, HalfTypes) {
  const Problem p = random_problem(3, 6, 5, 4, 3);
  Problem rounded = p;
  for (double& x : rounded.inputs) x = to_float(to_float16(static_cast<float>(x)));
  expect_close(loss<float16_t>(p), loss<float>(rounded), 1e-3);
  expect_close(loss_grad<float16_t>(p, std::vector<double>(6, 1)),
               loss_grad<float>(rounded, std::vector<double>(6, 1)), 1e-3);
  for (double& x : rounded.inputs) x = to_float(to_bfloat16(static_cast<float>(x)));
  expect_close(loss<bfloat16_t>(rounded), loss<float>(rounded), 8e-3);
}

TEST(CtcLoss, Edges) {
  Problem p{5,
            4,
            3,
            2,
            std::vector<double>(5 * 4 * 3, 0.0),
            {0, 1, 0, 0, 0, 0, -1, -1, 1, 99},
            {0, 4, 2, 0, 4},
            {2, 2, 2, 0, 1}};
  const std::vector<double> l = loss<float>(p);
  EXPECT_EQ(l[0], kInf);  // no time for two labels
  EXPECT_TRUE(std::isfinite(l[1]));
  EXPECT_EQ(l[2], kInf);  // a repeat needs a blank between
  EXPECT_EQ(l[3], 0);
  EXPECT_FALSE(std::signbit(l[3]));
  EXPECT_TRUE(std::isfinite(l[4]));  // what is beyond the length does not count
  const std::vector<double> g = loss_grad<float>(p, {1, 1, 1, 1, 1});
  for (const int64_t b : {0, 2, 3})
    for (int64_t i = 0; i < 12; ++i) EXPECT_EQ(g[b * 12 + i], 0);
}

TEST(CtcLoss, EmptyDimensions) {
  EXPECT_TRUE(loss<float>(random_problem(0, 0, 4, 3, 2)).empty());
  EXPECT_EQ(loss<float>(random_problem(0, 2, 4, 3, 0)).size(), 2u);
  const Problem no_time = random_problem(0, 2, 0, 3, 0);
  EXPECT_EQ(loss<float>(no_time), (std::vector<double>{0, 0}));
  EXPECT_TRUE(loss_grad<float>(no_time, {1, 1}).empty());
}

// Classes of probability 0 are legal; rows without a softmax are not, and say so.
TEST(CtcLoss, InfinitiesAndNan) {
  Problem p{4,           2, 3, 1, std::vector<double>(4 * 2 * 3, 0.0), {0, 0, 0, 0}, {2, 2, 2, 2},
            {1, 1, 1, 1}};
  p.inputs[0 * 6 + 2] = -kInf;  // no blank at first: label, then anything but class 1
  p.inputs[1 * 6 + 0] = p.inputs[1 * 6 + 3] = -kInf;  // the label never
  p.inputs[2 * 6 + 4] = std::nan("");
  p.inputs[3 * 6 + 1] = kInf;
  const std::vector<double> l = loss<float>(p);
  EXPECT_NEAR(l[0], -std::log(0.5 * 2 / 3), 1e-6);
  EXPECT_EQ(l[1], kInf);
  EXPECT_TRUE(std::isnan(l[2]) && std::isnan(l[3]));
  const std::vector<double> g = loss_grad<float>(p, {1, 1, 1, 1});
  EXPECT_NEAR(g[0], -0.5, 1e-6);
  EXPECT_EQ(g[2], 0);
  for (int i = 6; i < 12; ++i) EXPECT_EQ(g[i], 0);
  for (int i = 12; i < 24; ++i) EXPECT_TRUE(std::isnan(g[i]));
}

TEST(CtcLoss, HugeLogits) {
  Problem p = random_problem(5, 1, 5, 4, 2);
  p.input_length = {5};
  p.label_length = {2};
  p.labels = {0, 1};
  const double expected = loss<double>(p)[0];
  const std::vector<double> grads = loss_grad<double>(p, {1});
  for (double& x : p.inputs) x += 4096;  // softmax does not see it
  EXPECT_NEAR(loss<double>(p)[0], expected, 1e-9);
  expect_close(loss_grad<double>(p, {1}), grads, 1e-9);
  for (double& x : p.inputs) x = static_cast<float>(x);
  EXPECT_NEAR(loss<float>(p)[0], loss<double>(p)[0], 1e-5);
  expect_close(loss_grad<float>(p, {1}), loss_grad<double>(p, {1}), 1e-5);
  for (double& x : p.inputs) x = (x - 4096) * 1000;  // probabilities far below the range of float
  EXPECT_NEAR(loss<float>(p)[0] / loss<double>(p)[0], 1, 1e-6);
}

TEST(CtcLoss, BlankEndsTheLabels) {
  Problem p = random_problem(6, 3, 5, 4, 3);
  p.input_length = {5, 5, 4};
  p.labels = {3, 9, 9, 1, 3, 3, 0, 2, 3};
  p.label_length = {1, 3, 3};
  Problem shorter = p;
  shorter.label_length = {0, 1, 2};
  const std::vector<double> got = loss<double>(p), dloss = {1, 2, 3};
  for (int64_t b = 0; b < p.batch; ++b) EXPECT_NEAR(got[b], true_loss(shorter, b), 1e-12);
  expect_close(loss_grad<double>(p, dloss), loss_grad<double>(shorter, dloss), 1e-12);
}

TEST(CtcLoss, Errors) {
  const auto message = [](Problem p) -> std::string {
    try {
      loss<float>(p);
    } catch (const ValueError& e) {
      return e.what();
    }
    return "";
  };
  Problem p = random_problem(0, 2, 3, 4, 2);
  p.input_length = {3, 3};
  p.label_length = {1, 2};
  p.labels = {0, -1, 2, 4};
  EXPECT_EQ(message(p),
            "ctc_loss: labels must be in [0, 3) for 4 classes, of which the last is the blank; "
            "got 4 in sample 1.");
  p.labels = {0, -1, 3, 2};
  EXPECT_EQ(message(p), "ctc_loss: labels must not continue after a blank (3); got 2 in sample 1.");
  p.labels = {0, -1, 2, -1};
  EXPECT_EQ(message(p),
            "ctc_loss: labels must be in [0, 3) for 4 classes, of which the last is the blank; "
            "got -1 in sample 1.");
  p.label_length = {1, 3};
  EXPECT_EQ(message(p),
            "ctc_loss: label_length must be in [0, 2], the width of labels; got 3 for sample 1.");
  p.input_length = {4, 3};
  EXPECT_EQ(
      message(p),
      "ctc_loss: input_length must be in [0, 3], the time steps of inputs; got 4 for sample 0.");
  p.input_length = {-1, 3};
  EXPECT_EQ(
      message(p),
      "ctc_loss: input_length must be in [0, 3], the time steps of inputs; got -1 for sample 0.");
}

TEST(CtcLoss, ThreadsDoNotMatter) {
  const Problem p = random_problem(9, 33, 20, 6, 5);
  const std::vector<double> dloss(33, 1.0);
  set_thread_count(1);
  const auto one = loss<float>(p);
  const auto grad = loss_grad<float>(p, dloss);
  set_thread_count(4);
  EXPECT_EQ(loss<float>(p), one);
  EXPECT_EQ(loss_grad<float>(p, dloss), grad);
  set_thread_count(0);
}

std::string infer_error(Prim prim, const std::vector<TensorType>& in, const AttrRef& attrs = {}) {
  try {
    primitive(prim).infer({in, {}}, attrs.get());
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(CtcRules, Infer) {
  const TensorType x(DType::float32, {None, None, 5}), labels(DType::int32, {8, None}),
      length(DType::int64, {None});
  const auto loss =
      primitive(Prim::ctc_loss).infer({std::vector{x, labels, length, length}, {}}, nullptr);
  EXPECT_EQ(loss[0], TensorType(DType::float32, {8}));
  const TensorType dloss(DType::float32, {8});
  const auto grad = primitive(Prim::ctc_loss_grad)
                        .infer({std::vector{x, labels, length, length, dloss}, {}}, nullptr);
  EXPECT_EQ(grad[0], TensorType(DType::float32, {8, None, 5}));
  const auto greedy = primitive(Prim::ctc_greedy).infer({std::vector{x, length}, {}}, nullptr);
  EXPECT_EQ(greedy[0], TensorType(DType::int64, {None, None}));
  EXPECT_EQ(greedy[1], TensorType(DType::int64, {}));
  EXPECT_EQ(greedy[2], TensorType(DType::float32, {None, 1}));
  const AttrRef attrs(new AttrsOf<attrs::ctc_beam>({.beam_width = 9, .top_paths = 3}));
  const auto beam = primitive(Prim::ctc_beam).infer({std::vector{x, length}, {}}, attrs.get());
  EXPECT_EQ(beam[0], TensorType(DType::int64, {3, None, None}));
  EXPECT_EQ(beam[1], TensorType(DType::int64, {3}));
  EXPECT_EQ(beam[2], TensorType(DType::float32, {None, 3}));
}

TEST(CtcRules, Errors) {
  const TensorType x(DType::float32, {2, 7, 5}), length(DType::int32, {2});
  EXPECT_EQ(infer_error(Prim::ctc_greedy, {TensorType(DType::int32, {2, 7, 5}), length}),
            "ctc_greedy: inputs must have a float dtype; got int32.");
  EXPECT_EQ(infer_error(Prim::ctc_greedy, {TensorType(DType::float32, {2, 7}), length}),
            "ctc_greedy: inputs (batch, time, classes) must have 3 dimensions; got shape (2, 7).");
  EXPECT_EQ(infer_error(Prim::ctc_greedy, {TensorType(DType::float32, {2, 7, 0}), length}),
            "ctc_greedy: inputs must have a class for the blank; got shape (2, 7, 0).");
  EXPECT_EQ(infer_error(Prim::ctc_greedy, {x, TensorType(DType::int32, {3})}),
            "ctc_greedy: input_length must have one entry per sample of inputs (2, 7, 5); got "
            "shape (3,).");
  EXPECT_EQ(infer_error(Prim::ctc_loss, {x, TensorType(DType::int64, {3, 4}), length, length}),
            "ctc_loss: labels must have one row per sample of inputs (2, 7, 5); got shape (3, 4).");
  const auto attrs = [](int64_t width, int64_t paths) {
    return AttrRef(new AttrsOf<attrs::ctc_beam>({.beam_width = width, .top_paths = paths}));
  };
  EXPECT_EQ(infer_error(Prim::ctc_beam, {x, length}, attrs(0, 1)),
            "ctc_beam: beam_width must be at least 1; got 0.");
  EXPECT_EQ(infer_error(Prim::ctc_beam, {x, length}, attrs(2, 3)),
            "ctc_beam: top_paths must be in [1, 2], the beam_width; got 3.");
}

}  // namespace
}  // namespace horngate::native
