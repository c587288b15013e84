// A stateful LSTM listens to a stream: one value at a time comes in, and it says what comes next.
#include <horngate/keras.h>

#include <cmath>
#include <iostream>

namespace K = horngate;
namespace keras = horngate::keras;

namespace {

/// The stream: two waves, one over the other.
float value_at(int64_t t) {
  return static_cast<float>(0.6 * std::sin(0.30 * static_cast<double>(t)) +
                            0.4 * std::sin(0.11 * static_cast<double>(t)));
}

keras::Sequential make_net(int64_t samples, int64_t steps) {
  return {keras::LSTM(24, {.stateful = true, .batch_input_shape = {samples, steps, 1}}),
          keras::Dense(1)};
}

}  // namespace

int main() try {
  // To learn: 16 pieces of the stream side by side, 20 values at a time; states go from batch to batch.
  constexpr int64_t kPieces = 16, kSteps = 20, kBatches = 10;
  const keras::Sequential student = make_net(kPieces, kSteps);
  student.compile({.optimizer = keras::Adam({.learning_rate = 0.01}), .loss = "mse"});
  double loss = 0;
  for (int epoch = 0; epoch < 30; ++epoch) {
    student.reset_states();
    for (int64_t batch = 0; batch < kBatches; ++batch) {
      K::Array x(K::DType::float32, {kPieces, kSteps, 1}), y(K::DType::float32, {kPieces, 1});
      for (int64_t piece = 0; piece < kPieces; ++piece) {
        const int64_t begin = 37 * piece + batch * kSteps;
        for (int64_t k = 0; k < kSteps; ++k) x.at<float>(piece, k, 0) = value_at(begin + k);
        y.at<float>(piece, 0) = value_at(begin + kSteps);
      }
      loss = student.train_on_batch(x, y)[0];
    }
  }
  std::cout << "loss after training: " << loss << "\n";

  // To listen: the same weights, one value at a time. Its state is all that it remembers.
  const keras::Sequential listener = make_net(1, 1);
  listener.set_weights(student.get_weights());
  double wrong = 0;
  for (int64_t t = 5000; t < 5200; ++t) {
    const float guess = listener.predict(K::Array::of({value_at(t)}, {1, 1, 1})).item<float>();
    if (t >= 5100) wrong += std::abs(guess - value_at(t + 1)) / 100;
  }
  std::cout << "wrong by " << wrong << " on average, after 100 values\n";
} catch (const K::Error& e) {
  std::cerr << e.what() << "\n";
  return 1;
}
