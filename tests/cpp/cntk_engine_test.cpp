// The cntk engine beside native in one process: the digit net's loss curve, what a call costs on top of the library
// itself, and many threads. Skipped where CNTK is not installed.
#include "cntk/build.h"
#include "engine_testing.h"

namespace horngate {
namespace {

class CntkEngineTest : public testing::EngineTest {
 protected:
  CntkEngineTest() : EngineTest("cntk") {}
};

TEST_F(CntkEngineTest, TrainsTheDigitNetAsNativeDoes) { expect_digit_losses_of_native(); }

TEST_F(CntkEngineTest, ACallCostsLittleMoreThanTheLibrary) {
  const Tensor x = placeholder({.shape = {4, 3}, .name = "x"});
  const Array w0 = testing::random_array({3, 5}, 1).cast(DType::float32);
  const Variable w = variable(w0), b = variable(Array::zeros(DType::float32, {5}));
  const Function f = on_engine({x}, {softmax(relu(dot(x, w) + b))});
  const Array fed = testing::random_array({4, 3}, 2).cast(DType::float32);
  const Array got = f({fed})[0];

  // The same by calls of the library: its operations, with arguments as a program of CNTK's users has them.
  namespace ck = cntk;
  ck::Library library;
  ck::load(library);
  library.set_loop_threads(1);
  ck::Build build(library);
  const auto argument = [&](const ck::Dims& dims) {
    return build.argument(ck::DataType::kFloat, dims);
  };
  const ck::Val cx = argument({4, 3}), cw = argument({3, 5}), cb = argument({5});
  const ck::Val sum = build.add(build.product(cx, cw, false), cb);
  const ck::Val h = build.bin(ck::Bin::kMax, 0, sum);
  const ck::Val e =
      build.un(ck::Un::kExp, build.bin(ck::Bin::kMinus, h, build.reduce(L"Max", h, {1})));
  const ck::Val y = build.bin(ck::Bin::kDivide, e, build.reduce(L"Sum", e, {1}));
  const ck::FunctionPtr function = build.combine({y});
  const Array zeros = Array::zeros(DType::float32, {5});
  Array out = Array::zeros(DType::float32, {4, 5});
  ck::ValueMap in_map, out_map;
  const auto value = [&](const Array& a, const ck::Dims& dims) {
    return ck::make_value(library, ck::make_view(library, ck::DataType::kFloat, ck::reversed(dims),
                                                 a.raw(), a.nbytes(), false));
  };
  in_map[cx.v] = value(fed, {4, 3});
  in_map[cw.v] = value(w0, {3, 5});
  in_map[cb.v] = value(zeros, {5});
  out_map[library.outputs(function.get()).at(0)] = value(out, {4, 5});
  const auto direct = [&] { library.evaluate(function.get(), in_map, out_map, ck::Device{}); };
  direct();
  for (int64_t i = 0; i < out.size(); ++i)
    EXPECT_NEAR(got.data<float>()[i], out.data<float>()[i], 1e-6);

  expect_small_overhead(direct, [&] { (void)f({fed}); });
}

TEST_F(CntkEngineTest, ErrorsOfTheLibraryAreCaughtAndSilent) {
  cntk::Library library;
  cntk::load(library);
  cntk::Build build(library);
  const cntk::Val a = build.argument(cntk::DataType::kFloat, {3}),
                  b = build.argument(cntk::DataType::kFloat, {4});
  ::testing::internal::CaptureStderr();
  EXPECT_THROW((void)build.add(a, b), std::exception);
  const std::string said = ::testing::internal::GetCapturedStderr();
  // What takes its messages cannot be put in front of it under a sanitizer (library.cpp).
  if (testing::kSanitized) return;
  EXPECT_EQ(said, "");
}

TEST_F(CntkEngineTest, ManyThreadsRunFunctions) { expect_threads_do_not_disturb_each_other(); }

}  // namespace
}  // namespace horngate
