// Threads call, train, set values, build functions and clear the session at once, while the process forks: no number
// is wrong, nothing hangs, in the process or in its children.
//   concurrent_calls [--threads 8] [--calls 100000] [--forks 200]
#include <atomic>
#include <thread>
#include <vector>

#include "horngate/horngate.h"
#include "soak.h"

namespace K = horngate;

namespace {

/// Two variables that always hold the same numbers, a product large enough for the pool, and a net whose weights are
/// packed.
struct Model {
  static constexpr int64_t kSize = 64;
  K::Variable a = K::variable(K::Array::zeros(K::DType::float32, {kSize})),
              b = K::variable(K::Array::zeros(K::DType::float32, {kSize}));
  K::Variable w = K::variable(K::Array::full(K::DType::float32, {kSize, kSize}, 0.5));
  K::Tensor x = K::placeholder({.shape = {K::None, kSize}});
  K::Function train = K::function({}, {},
                                  {K::update_add(a, K::constant(K::Array(1.0f))),
                                   K::update_add(b, K::constant(K::Array(1.0f)))});
  K::Function differ = K::function({}, {K::max(K::abs(a - b)), K::max(a) - K::min(a)});
  K::Function predict = K::function({x}, {K::dot(K::tanh(x * 0.0) + x, w)});

  bool calls_well(int64_t rows) const {
    const K::Arrays d = differ();
    const K::Array y = predict({K::Array::full(K::DType::float32, {rows, kSize}, 2.0)})[0];
    bool well = d[0].item<float>() == 0 && d[1].item<float>() == 0;
    for (int64_t i = 0; i < y.size(); ++i) well &= y.data<float>()[i] == float(kSize);
    return well;
  }
  bool trains_well() const {
    (void)train();
    return true;
  }
  bool sets_well(float value) const {
    const K::Array both = K::Array::full(K::DType::float32, {kSize}, value);
    K::batch_set_value({{a, both}, {b, both}});
    const K::Arrays got = K::batch_get_value({a, b});
    for (int64_t i = 0; i < kSize; ++i)
      if (got[0].data<float>()[i] != got[1].data<float>()[i]) return false;
    return true;
  }
  bool builds_well(int64_t number) const {
    const K::Tensor y = K::sum(K::square(x * w.shape().dim(0))) + static_cast<double>(number);
    const K::Function f = K::function({x}, {y, K::gradients(y, {x})[0]});
    const K::Array ones = K::Array::full(K::DType::float32, {1 + number % 7, kSize}, 1.0);
    const K::Arrays out = f({ones});
    const double want = double(kSize) * kSize * kSize * double(1 + number % 7) + double(number);
    return out[0].item<double>() == float(want) && out[1].data<float>()[0] == 2.0f * kSize * kSize;
  }
};

bool works(const Model& m, int thread, int64_t i) {
  switch ((i + thread) % 64) {
    case 1: return m.trains_well();
    case 2: return m.sets_well(static_cast<float>(i % 1000));
    case 3: return i / 64 % 16 ? true : m.builds_well(i % 1000);
    case 4:
      if (i % 1024 < 64) K::clear_session();
      return true;
    default: return m.calls_well(1 + (i % 3) * 40);
  }
}

/// All of it once more, in a child, also from threads of its own.
int child(const Model& m) {
  alarm(60);
  std::atomic<bool> well{true};
  const auto work = [&](int thread) {
    for (int64_t i = 0; i < 130; ++i)
      if (!works(m, thread, i)) well = false;
  };
  work(1);
  std::thread other([&] { work(2); });
  work(3);
  other.join();
  return well ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t threads = soak::argument(argc, argv, "threads", 8);
  const int64_t calls = soak::argument(argc, argv, "calls", 100000);
  const int64_t forks = soak::argument(argc, argv, "forks", 200);
  soak::Report report("concurrent_calls");
  const Model model;
  std::atomic<int64_t> wrong{0}, made{0}, running{threads};
  std::vector<std::thread> workers;
  for (int64_t t = 0; t < threads; ++t)
    workers.emplace_back([&, t] {
      for (int64_t i = 0; i < calls; ++i) {
        if (!works(model, static_cast<int>(t), i)) ++wrong;
        made.fetch_add(1, std::memory_order_relaxed);
      }
      --running;
    });
  int64_t forked = 0, children_wrong = 0, hung = 0;
  double slowest = 0;
  while (running > 0 && hung < 5) {
    const int64_t before = made;
    if (forked < forks && made >= forked * threads * calls / forks) {
      const double begin = soak::now();
      const pid_t pid = fork();
      if (pid == 0) _exit(child(model));
      ++forked;
      slowest = std::max(slowest, soak::now() - begin);
      const soak::Ended ended = soak::wait_for(pid, 90);
      children_wrong += ended == soak::Ended::wrong;
      hung += ended == soak::Ended::hung;
    } else {
      // A minute without any call is a hang.
      const double until = soak::now() + 60;
      while (running > 0 && made == before && soak::now() < until) usleep(1000);
      if (running > 0 && made == before) {
        hung += 100;
        break;
      }
      usleep(1000);
    }
  }
  report.add("threads", double(threads));
  report.add("calls", double(made));
  report.add("forks", double(forked));
  report.add("slowest_fork_s", slowest);
  report.limit("wrong", double(wrong), 0);
  report.limit("children_wrong", double(children_wrong), 0);
  report.limit("hung", double(hung), 0);
  if (hung) {
    (void)report.finish();
    _exit(1);  // threads that hang cannot be joined
  }
  for (std::thread& t : workers) t.join();
  return report.finish();
}
