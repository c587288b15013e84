// Memory stays flat: models that come and go, ever new batch sizes, ever new sizes of results.
//   memory [--rounds 10000] [--sizes 20000]
#include "horngate/horngate.h"
#include "soak.h"

namespace K = horngate;

namespace {

K::Variable weights(int64_t rows, int64_t columns) {
  return K::random_normal_variable({rows, columns}, 0, 0.1, {.seed = 1});
}

void build_step_predict_clear(int64_t) {
  const K::Tensor x = K::placeholder({.shape = {K::None, 32}}),
                  y = K::placeholder({.shape = {K::None, 1}});
  const K::Variable w = weights(32, 64), v = weights(64, 1);
  const K::Tensor out = K::dot(K::dropout(K::relu(K::dot(x, w)), 0.1), v);
  const K::Tensor loss = K::mean(K::square(out - y));
  const K::Tensors g = K::gradients(loss, {w, v});
  const K::Function step =
      K::function({x, y}, {loss}, {K::update_sub(w, g[0] * 0.01), K::update_sub(v, g[1] * 0.01)});
  const K::Function predict = K::function({x}, {out});
  const K::Array xs = K::Array::full(K::DType::float32, {16, 32}, 0.5),
                 ys = K::Array::full(K::DType::float32, {16, 1}, 1.0);
  (void)step({xs, ys});
  (void)predict({xs});
  K::clear_session();
}

/// Runs `work` n times. By how many megabytes the second half of it grew.
template <class F>
void watch(soak::Report& report, const char* name, int64_t n, F work) {
  const int64_t half = n / 2;
  for (int64_t i = 0; i < half; ++i) work(i);
  const double before = soak::megabytes();
  for (int64_t i = half; i < n; ++i) work(i);
  const double after = soak::megabytes();
  report.add((std::string(name) + "_mb").c_str(), after);
  // Plans are kept within a budget, and which of them are there changes: some percent of the whole.
  report.limit((std::string(name) + "_growth_mb").c_str(), after - before, 4 + 0.05 * before);
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t rounds = soak::argument(argc, argv, "rounds", 10000);
  const int64_t sizes = soak::argument(argc, argv, "sizes", 20000);
  soak::Report report("memory");
  report.add("rounds", double(rounds));
  report.add("sizes", double(sizes));

  watch(report, "models", rounds, build_step_predict_clear);

  {
    const K::Tensor x = K::placeholder({.shape = {K::None, 8}});
    const K::Variable w = weights(8, 16);
    const K::Function f = K::function({x}, {K::sum(K::tanh(K::dot(x, w)))});
    watch(report, "batch_sizes", sizes,
          [&](int64_t i) { (void)f({K::Array::zeros(K::DType::float32, {1 + i, 8})}); });
  }
  {
    // From 64 kB to some MB, hardly one like another; the work itself is small.
    const K::Tensor x = K::placeholder({.shape = {K::None}});
    const K::Function f = K::function({x}, {x + 1.0});
    watch(report, "result_sizes", sizes, [&](int64_t i) {
      const int64_t n = 16384 + (i * 7919) % 1'000'003;
      (void)f({K::Array(K::DType::float32, {n})});
    });
  }
  return report.finish();
}
