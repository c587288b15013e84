// The tensorflow engine beside native and beside TensorFlow called directly. Skipped where TensorFlow is not installed.
#include <dlfcn.h>

#include <fstream>

#include "engine_testing.h"
#include "engines/tensorflow/api.h"

namespace horngate {
namespace {

/// TensorFlow's functions from the library that the engine has loaded.
tf::Api bind_loaded() {
  tf::Api api{};
  std::ifstream maps("/proc/self/maps");
  std::string line, path;
  while (path.empty() && std::getline(maps, line))
    if (line.find("libtensorflow_cc.so") != std::string::npos) path = line.substr(line.find('/'));
  void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (!library) throw std::runtime_error("TensorFlow is not among the loaded libraries");
#define FUNCTION(result, name, arguments) \
  api.name = reinterpret_cast<decltype(api.name)>(dlsym(library, "TF_" #name));
  HORNGATE_TF_FUNCTIONS(FUNCTION)
#undef FUNCTION
  return api;
}

/// tanh(x w), written against TensorFlow.
class Direct {
 public:
  explicit Direct(const tf::Api& api) : a_(api), graph_(api.NewGraph()), status_(api.NewStatus()) {
    x_ = input("x");
    w_ = input("w");
    tf::CDescription* product = a_.NewOperation(graph_, "MatMul", "product");
    a_.AddInput(product, x_);
    a_.AddInput(product, w_);
    tf::CDescription* tanh = a_.NewOperation(graph_, "Tanh", "tanh");
    a_.AddInput(tanh, {a_.FinishOperation(product, status_), 0});
    y_ = {a_.FinishOperation(tanh, status_), 0};
    tf::COptions* options = a_.NewSessionOptions();
    session_ = a_.NewSession(graph_, options, status_);
    a_.DeleteSessionOptions(options);
  }
  ~Direct() {
    a_.CloseSession(session_, status_);
    a_.DeleteSession(session_, status_);
    a_.DeleteGraph(graph_);
    a_.DeleteStatus(status_);
  }

  float run(const Array& x, const Array& w) {
    const auto keep = [](void*, size_t, void*) {};
    tf::CTensor* feeds[2] = {
        a_.NewTensor(tf::kFloat, x.dims().data(), 2, x.raw(), x.nbytes(), keep, nullptr),
        a_.NewTensor(tf::kFloat, w.dims().data(), 2, w.raw(), w.nbytes(), keep, nullptr)};
    const tf::COutput places[2] = {x_, w_};
    // On the calling thread, as the engine does.
    const unsigned char here[] = {0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
    const tf::CBuffer options{here, sizeof here, nullptr};
    tf::CTensor* result = nullptr;
    a_.SessionRun(session_, &options, places, feeds, 2, &y_, &result, 1, nullptr, 0, nullptr,
                  status_);
    EXPECT_EQ(a_.GetCode(status_), 0) << a_.Message(status_);
    const float first = *static_cast<const float*>(a_.TensorData(result));
    for (tf::CTensor* t : {feeds[0], feeds[1], result}) a_.DeleteTensor(t);
    return first;
  }

 private:
  tf::COutput input(const char* name) {
    tf::CDescription* d = a_.NewOperation(graph_, "Placeholder", name);
    a_.SetAttrType(d, "dtype", tf::kFloat);
    return {a_.FinishOperation(d, status_), 0};
  }
  const tf::Api& a_;
  tf::CGraphT* graph_;
  tf::CStatus* status_;
  tf::CSession* session_;
  tf::COutput x_, w_, y_;
};

class TensorFlowEngineTest : public testing::EngineTest {
 protected:
  TensorFlowEngineTest() : EngineTest("tensorflow") {}
};

TEST_F(TensorFlowEngineTest, TrainsTheDigitNetAsNativeDoes) { expect_digit_losses_of_native(); }

TEST_F(TensorFlowEngineTest, ACallCostsLittleMoreThanTheLibrary) {
  const tf::Api api = bind_loaded();
  const Array values = Array::full(DType::float32, {16, 16}, 0.01);
  const Array x = Array::full(DType::float32, {4, 16}, 0.5);
  const Variable w = variable(values);
  const Tensor in = placeholder({.shape = {None, 16}});
  const Function f = on_engine({in}, {tanh(dot(in, w))});
  Direct direct(api);
  EXPECT_FLOAT_EQ(f({x})[0].data<float>()[0], direct.run(x, values));
  expect_small_overhead([&] { (void)direct.run(x, values); }, [&] { (void)f({x}); });
}

TEST_F(TensorFlowEngineTest, ManyThreadsRunFunctions) {
  expect_threads_do_not_disturb_each_other();
}

}  // namespace
}  // namespace horngate
