// Typical fused element-wise chains against loops written by hand, one thread, in nanoseconds per
// element: `bench_fused [rows cols [program]]`.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "horngate/horngate.h"
#include "lib/measure.h"
#include "lib/programs.h"

namespace K = horngate;
using namespace horngate::bench;

namespace {

using Tensors = std::vector<K::Tensor>;

/// What an input is: all elements, one per row, or one per column.
enum class Kind { full, row, column, positive };

struct Case {
  const char* name;
  std::vector<Kind> inputs;
  Tensors (*build)(const Tensors& in);
  void (*loop)(const LoopCall&);
};

constexpr double kRoot = 0.7978845608, kCube = 0.044715;

Tensors gate(const Tensors& in) {
  const K::Tensor x = in[0];
  return {K::sigmoid(x * 1.1 + 0.3) * K::tanh(x) + K::exp(-(x * x))};
}
Tensors gelu(const Tensors& in) {
  const K::Tensor x = in[0];
  return {0.5 * x * (1.0 + K::tanh(kRoot * (x + kCube * x * x * x)))};
}
Tensors gelu_grad(const Tensors& in) {
  return K::gradients(K::sum(gelu(in)[0] * K::stop_gradient(in[1])), {in[0]});
}
Tensors adam(const Tensors& in) {
  const K::Tensor m = 0.9 * in[1] + 0.1 * in[3], v = 0.999 * in[2] + 0.001 * in[3] * in[3];
  return {in[0] - 1e-3 * m / (K::sqrt(v) + 1e-7), m, v};
}
Tensors lstm(const Tensors& in) {
  const K::Tensor c = K::sigmoid(in[1]) * in[4] + K::sigmoid(in[0]) * K::tanh(in[3]);
  return {c, K::sigmoid(in[2]) * K::tanh(c)};
}
Tensors normalise(const Tensors& in) { return {(in[0] - in[1]) * in[2] * in[3] + in[4]}; }
Tensors swish_grad(const Tensors& in) {
  const K::Tensor y = in[0] * K::sigmoid(in[0]);
  return K::gradients(K::sum(y * K::stop_gradient(in[1])), {in[0]});
}

const Case kCases[] = {
    {"gate", {Kind::full}, gate, gate_loop},
    {"gelu", {Kind::full}, gelu, gelu_loop},
    {"gelu gradient", {Kind::full, Kind::full}, gelu_grad, gelu_grad_loop},
    {"Adam", {Kind::full, Kind::full, Kind::positive, Kind::full}, adam, adam_loop},
    {"LSTM gates", {Kind::full, Kind::full, Kind::full, Kind::full, Kind::full}, lstm, lstm_loop},
    {"normalise",
     {Kind::full, Kind::row, Kind::positive, Kind::column, Kind::column},
     normalise,
     normalise_loop},
    {"swish gradient", {Kind::full, Kind::full}, swish_grad, swish_grad_loop},
};

K::Array filled(Kind kind, bool per_row, int64_t rows, int64_t cols, unsigned seed) {
  K::Ints dims = {rows, cols};
  if (kind == Kind::row || per_row) dims = {rows, 1};
  if (kind == Kind::column) dims = {1, cols};
  K::Array a(K::DType::float32, dims);
  std::mt19937 bits(seed);
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < a.size(); ++i) {
    const float v = normal(bits);
    a.data<float>()[i] = kind == Kind::positive ? std::fabs(v) + 0.1f : v;
  }
  return a;
}

void run(const Case& c, int64_t rows, int64_t cols) {
  Tensors in;
  std::vector<K::Array> arrays;
  std::vector<const float*> in_data;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const bool per_row = c.inputs.size() == 5 && c.inputs[i] == Kind::positive;
    arrays.push_back(filled(c.inputs[i], per_row, rows, cols, static_cast<unsigned>(i)));
    in.push_back(K::placeholder({.shape = {arrays[i].shape()[0], arrays[i].shape()[1]}}));
  }
  for (const K::Array& a : arrays) in_data.push_back(a.data<float>());
  const Tensors out = c.build(in);
  const K::Function f = K::function(in, out);
  std::vector<K::Array> loop_out;
  std::vector<float*> out_data;
  for (size_t i = 0; i < out.size(); ++i)
    loop_out.emplace_back(K::DType::float32, K::Ints{rows, cols});
  for (K::Array& a : loop_out) out_data.push_back(a.data<float>());
  const LoopCall call = {in_data.data(), out_data.data(), rows, cols};
  c.loop(call);
  const std::vector<K::Array> ours = f(arrays);
  double worst = 0;
  for (size_t o = 0; o < out.size(); ++o)
    for (int64_t i = 0; i < rows * cols; ++i)
      worst = std::max(worst, std::fabs(double{ours[o].data<float>()[i]} - out_data[o][i]));
  const auto times = in_turn({{"ours", [&] { (void)f(arrays); }}, {"loop", [&] { c.loop(call); }}},
                             {.seconds = 1.0, .threads = 1, .cpu_time = true});
  const double scale = 1e9 / static_cast<double>(rows * cols);
  std::printf("%-16s %9.3f %9.3f %7.2f   %.1e\n", c.name, times[0].min() * scale,
              times[1].min() * scale, times[0].min() / times[1].min(), worst);
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** words) {
  const int64_t rows = count > 2 ? std::atoll(words[1]) : 32;
  const int64_t cols = count > 2 ? std::atoll(words[2]) : 1024;
  setenv("HORNGATE_NUM_THREADS", "1", 1);
  try {
    K::set_quiet(true);
    std::printf("%lld x %lld, one thread, ns per element\n", static_cast<long long>(rows),
                static_cast<long long>(cols));
    std::printf("%-16s %9s %9s %7s   %s\n", "program", "ours", "loop", "ratio", "difference");
    for (const Case& c : kCases)
      if (count < 4 || std::string(words[3]) == c.name) run(c, rows, cols);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_fused: %s\n", e.what());
    return 1;
  }
}
