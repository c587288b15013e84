// One seed, one result: training with dropout gives the same bits with 1, 2 and 7 threads, run after run.
//   determinism [--runs 100]
// With --child it trains and prints a number made of all weights.
#include <spawn.h>

#include <array>
#include <vector>

#include "horngate/horngate.h"
#include "soak.h"

extern char** environ;
namespace K = horngate;

namespace {

struct Hash {
  uint64_t value = 1469598103934665603ull;
  void add(const K::Array& a) {
    const auto* bytes = static_cast<const unsigned char*>(a.raw());
    for (size_t i = 0; i < a.nbytes(); ++i) value = (value ^ bytes[i]) * 1099511628211ull;
  }
};

K::Variable weights(const K::Shape& shape) { return K::random_normal_variable(shape, 0, 0.1); }

K::Array noise(const K::Ints& dims, uint32_t seed) {
  K::Array a(K::DType::float32, dims);
  uint32_t state = seed * 2654435761u + 1;
  for (int64_t i = 0; i < a.size(); ++i) {
    state = state * 1664525u + 1013904223u;
    a.data<float>()[i] = static_cast<float>(state >> 8) / 16777216.0f - 0.5f;
  }
  return a;
}

/// Some steps of plain gradient descent; the loss of each and the weights in the end go into the hash.
void train(Hash& hash, const K::Tensor& x, const K::Tensor& out,
           const std::vector<K::Variable>& ws) {
  const K::Tensor loss = K::mean(K::square(out - 0.3));
  const std::vector<K::Tensor> targets(ws.begin(), ws.end());
  const K::Tensors g = K::gradients(loss, targets);
  std::vector<K::Update> updates;
  for (size_t i = 0; i < ws.size(); ++i) updates.push_back(K::update_sub(ws[i], g[i] * 0.1));
  const K::Function step = K::function({x, K::learning_phase()}, {loss}, updates);
  K::Ints dims = x.shape().dims();
  dims[0] = 48;
  for (uint32_t i = 0; i < 4; ++i) hash.add(step({noise(dims, i + 1), K::Array(true)})[0]);
  for (const K::Variable& w : ws) hash.add(K::get_value(w));
}

void train_mlp(Hash& hash) {
  const K::Tensor x = K::placeholder({.shape = {K::None, 200}});
  const K::Variable a = weights({200, 300}), b = weights({300, 10});
  const auto hidden = K::relu(K::dot(x, a));
  train(hash, x, K::softmax(K::dot(K::in_train_phase(K::dropout(hidden, 0.4), hidden), b)), {a, b});
}

void train_cnn(Hash& hash) {
  const K::Tensor x = K::placeholder({.shape = {K::None, 16, 16, 3}});
  const K::Variable a = weights({3, 3, 3, 16}), b = weights({3, 3, 16, 32}), c = weights({512, 10});
  K::Tensor h = K::relu(K::conv2d(x, a, {.padding = K::Padding::same}));
  h = K::pool2d(h, {2, 2}, {.strides = {2, 2}});
  h = K::in_train_phase(K::dropout(h, 0.25), h);
  h = K::relu(K::conv2d(h, b, {.strides = {2, 2}, .padding = K::Padding::same}));
  train(hash, x, K::dot(K::batch_flatten(h), c), {a, b, c});
}

void train_lstm(Hash& hash) {
  constexpr int64_t kUnits = 32;
  const K::Tensor x = K::placeholder({.shape = {K::None, 12, 24}});
  const K::Variable w = weights({24, 4 * kUnits}), r = weights({kUnits, 4 * kUnits});
  const K::Tensor dropped = K::in_train_phase(K::dropout(x, 0.2), x);
  const K::Tensor zeros =
      K::dot(x * 0.0, K::constant(K::Array::zeros(K::DType::float32, {24, kUnits})));
  const K::Tensor first = K::sum(zeros, {.axis = {1}});
  const auto step = [&](const K::Tensor& in, const K::Tensors& s) {
    const K::Tensor z = K::dot(in, w) + K::dot(s[0], r);
    const auto gate = [&](int64_t k) { return K::slice(z, {0, k * kUnits}, {-1, kUnits}); };
    const K::Tensor c = K::sigmoid(gate(0)) * s[1] + K::sigmoid(gate(1)) * K::tanh(gate(2));
    const K::Tensor h = K::sigmoid(gate(3)) * K::tanh(c);
    return K::RnnStep{h, {h, c}};
  };
  train(hash, x, K::rnn(step, dropped, {first, first}).last_output, {w, r});
}

int child() {
  K::set_random_seed(7);
  Hash hash;
  train_mlp(hash);
  train_cnn(hash);
  train_lstm(hash);
  std::printf("%016llx\n", static_cast<unsigned long long>(hash.value));
  return 0;
}

/// What a child with that many threads prints.
std::string run(const char* self, const char* threads) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  setenv("HORNGATE_NUM_THREADS", threads, 1);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  std::string name = self, word = "--child";
  std::array<char*, 3> arguments = {name.data(), word.data(), nullptr};
  pid_t pid = 0;
  const int failed = posix_spawn(&pid, self, &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  char buffer[256];
  for (ssize_t n; !failed && (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(n));
  close(ends[0]);
  if (failed) return "not started";
  return soak::wait_for(pid, 300) == soak::Ended::well ? text : "failed: " + text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--child") == 0) return child();
  const int64_t runs = soak::argument(argc, argv, "runs", 100);
  soak::Report report("determinism");
  const std::string first = run("/proc/self/exe", "1");
  const bool is_number = first.size() == 17;
  int64_t other = !is_number;
  for (int64_t i = 0; i < runs; ++i) {
    const char* const threads[] = {"1", "2", "7"};
    const std::string text = run("/proc/self/exe", threads[i % 3]);
    if (text != first) {
      ++other;
      std::fprintf(stderr, "%s threads: %sfirst: %s", threads[i % 3], text.c_str(), first.c_str());
    }
  }
  report.add("runs", double(runs));
  report.limit("different", double(other), 0);
  return report.finish();
}
