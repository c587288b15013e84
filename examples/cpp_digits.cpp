// Trains a small convolutional net on the 1,797 handwritten digits of the UCI repository and shows where it errs.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <numeric>

#include "digits_data.h"
#include "digits_net.h"

namespace K = horngate;

namespace {

using digits::Data;

struct Batch {
  K::Array images, labels;
};

Batch make_batch(const Data& data, const std::vector<size_t>& order, size_t begin, size_t end) {
  const auto n = static_cast<int64_t>(end - begin);
  Batch b{K::Array(K::DType::float32, {n, 8, 8, 1}), K::Array::zeros(K::DType::float32, {n, 10})};
  for (size_t i = begin; i < end; ++i) {
    std::copy_n(data.images.data() + order[i] * 64, 64, b.images.data<float>() + (i - begin) * 64);
    b.labels.data<float>()[(i - begin) * 10 + static_cast<size_t>(data.labels[order[i]])] = 1.0f;
  }
  return b;
}

void show_progress(bool live, int epoch, int epochs, double loss, double accuracy) {
  const int width = 30, filled = width * epoch / epochs;
  std::string bar;
  for (int i = 0; i < width; ++i) bar += i < filled ? "#" : ".";
  if (live) std::printf("\r");
  std::printf("[%s] epoch %2d/%d  loss %.4f  held-out accuracy %.2f %%", bar.c_str(), epoch, epochs,
              loss, 100 * accuracy);
  if (!live || epoch == epochs) std::printf("\n");
  std::fflush(stdout);
}

void show_digits(const Data& data, const std::vector<size_t>& which,
                 const std::vector<int>& guesses) {
  static const char* const kShades[] = {"  ", "\u2591\u2591", "\u2592\u2592", "\u2593\u2593",
                                        "\u2588\u2588"};
  for (size_t row = 0; row < 8; ++row) {
    for (size_t d : which) {
      for (size_t col = 0; col < 8; ++col)
        std::cout
            << kShades[std::min(4, static_cast<int>(data.images[d * 64 + row * 8 + col] * 5))];
      std::cout << "   ";
    }
    std::cout << '\n';
  }
  for (size_t i = 0; i < which.size(); ++i) {
    const std::string text =
        "it is " + std::to_string(data.labels[which[i]]) + ", read " + std::to_string(guesses[i]);
    std::cout << text << std::string(19 - text.size(), ' ');
  }
  std::cout << '\n';
}

int run(const std::string& path, int epochs) {
  using Clock = std::chrono::steady_clock;
  const Data data = digits::read_digits(path);
  std::vector<size_t> order(data.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::mt19937_64 random(7);
  std::shuffle(order.begin(), order.end(), random);
  const size_t held_out = data.size() / 5, batch_size = 32;
  const std::vector<size_t> test(order.begin(), order.begin() + static_cast<int64_t>(held_out));
  std::vector<size_t> train(order.begin() + static_cast<int64_t>(held_out), order.end());

  const digits::Net net = digits::make_net(K::DType::float32);
  const K::Function step =
      K::function({net.images, net.labels}, {net.loss}, digits::adam(net.loss, net.weights, 2e-3));
  const K::Function evaluate =
      K::function({net.images, net.labels}, {net.accuracy, net.probabilities});
  const Batch held = make_batch(data, test, 0, test.size());

  std::printf("%zu digits to learn from, %zu held out, %zu weights' arrays, engine %s\n",
              train.size(), test.size(), net.weights.size(), K::backend().c_str());
  const bool live = isatty(STDOUT_FILENO);
  double seconds = 0;
  size_t steps = 0;
  double accuracy = 0;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    std::shuffle(train.begin(), train.end(), random);
    double loss = 0;
    size_t batches = 0;
    for (size_t at = 0; at < train.size(); at += batch_size, ++batches) {
      const Batch b = make_batch(data, train, at, std::min(at + batch_size, train.size()));
      const auto start = Clock::now();
      loss += step({b.images, b.labels})[0].item<double>();
      seconds += std::chrono::duration<double>(Clock::now() - start).count();
      ++steps;
    }
    accuracy = evaluate({held.images, held.labels})[0].item<double>();
    if (live || epoch == epochs || epoch % 5 == 0)
      show_progress(live, epoch, epochs, loss / static_cast<double>(batches), accuracy);
  }

  const K::Array p = evaluate({held.images, held.labels})[1];
  std::vector<size_t> wrong;
  std::vector<int> guesses;
  for (size_t i = 0; i < test.size(); ++i) {
    const float* row = p.data<float>() + i * 10;
    const int guess = static_cast<int>(std::max_element(row, row + 10) - row);
    if (guess == data.labels[test[i]] || wrong.size() == 5) continue;
    wrong.push_back(test[i]);
    guesses.push_back(guess);
  }
  std::printf(
      "\n%.2f %% of the held-out digits are read right; %.0f us per training step (%zu steps of "
      "%zu digits).\n",
      100 * accuracy, 1e6 * seconds / static_cast<double>(steps), steps, batch_size);
  if (!wrong.empty()) {
    std::printf("Some that are not:\n\n");
    show_digits(data, wrong, guesses);
  }
  std::printf(
      "\nNext: examples/digits_net.h is the net, README.md shows Python, docs/start/cpp.md goes "
      "on.\n");
  if (accuracy >= 0.97) return 0;
  std::printf("The accuracy is below 97 %%: something is wrong.\n");
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? argv[1] : HORNGATE_EXAMPLE_DATA "/digits.txt",
               argc > 2 ? std::atoi(argv[2]) : 30);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
