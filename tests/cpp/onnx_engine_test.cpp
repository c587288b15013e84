// The onnx engine beside native in one process: the digit net's loss curve, and what a call costs on top of the
// runtime itself. Skipped where ONNX Runtime is not installed.
#include <fstream>
#include <sstream>

#include "engine_testing.h"
#include "engines/onnx/runtime.h"

namespace horngate {
namespace {

class OnnxEngineTest : public testing::EngineTest {
 protected:
  OnnxEngineTest() : EngineTest("onnx") {}
};

TEST_F(OnnxEngineTest, TrainsTheDigitNetAsNativeDoes) { expect_digit_losses_of_native(); }

TEST_F(OnnxEngineTest, ACallCostsLittleMoreThanTheRuntime) {
  const Tensor x = placeholder({.shape = {4, 3}, .name = "overhead_x"});
  const Variable w = variable(testing::random_array({3, 5}, 1).cast(DType::float32)),
                 b = variable(Array::zeros(DType::float32, {5}));
  const Tensor y = softmax(relu(dot(x, w) + b));
  const Function f = on_engine({x}, {y});
  const Array fed = testing::random_array({4, 3}, 2).cast(DType::float32);
  const Array got = f({fed})[0];

  const std::string path = ::testing::TempDir() + "horngate_overhead.onnx";
  export_onnx(f, path);
  std::stringstream model;
  model << std::ifstream(path, std::ios::binary).rdbuf();
  std::remove(path.c_str());
  // Never ends, as in the engine: the library keeps its threads.
  static const onnx::Runtime runtime;
  onnx::OrtSession* session = runtime.make_session(model.str(), "");
  Array out = Array::zeros(DType::float32, {4, 5});
  const int64_t in_dims[] = {4, 3}, out_dims[] = {4, 5};
  onnx::OrtValue* in = runtime.make_tensor(fed.raw(), fed.nbytes(), in_dims, 2, 1);
  onnx::OrtValue* result = runtime.make_tensor(out.raw(), out.nbytes(), out_dims, 2, 1);
  const char *in_name = "overhead_x", *out_name = "output_0";
  const auto direct = [&] {
    const onnx::OrtValue* given = in;
    runtime.run(session, &in_name, &given, 1, &out_name, 1, &result);
  };
  direct();
  for (int64_t i = 0; i < out.size(); ++i)
    EXPECT_NEAR(got.data<float>()[i], out.data<float>()[i], 1e-6);

  expect_small_overhead(direct, [&] { (void)f({fed}); });
  runtime.release(in);
  runtime.release(result);
  runtime.release(session);
}

TEST_F(OnnxEngineTest, ManyThreadsRunFunctions) { expect_threads_do_not_disturb_each_other(); }

}  // namespace
}  // namespace horngate
