// Learns to write like a text, character by character: generate_text [FILE [EPOCHS]]
#include <horngate/keras.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <set>

namespace K = horngate;
namespace keras = horngate::keras;

namespace {

constexpr size_t kWindow = 24;

const char* const kRhyme =
    "the first gate is of horn, and the dreams that leave by it are true. "
    "the second gate is of ivory, and the dreams that leave by it are not. ";

std::string text_of(const char* path) {
  if (!path) return std::string(kRhyme) + kRhyme + kRhyme;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw K::RuntimeError(std::string("generate_text: cannot read ") + path + ".");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string text = text_of(argc > 1 ? argv[1] : nullptr);
  if (text.size() <= kWindow) throw K::ValueError("generate_text: the text is too short.");
  const std::set<char> found(text.begin(), text.end());
  const std::vector<char> letters(found.begin(), found.end());
  std::vector<int> numbers;
  for (const char c : text)
    numbers.push_back(static_cast<int>(std::distance(found.begin(), found.find(c))));

  // Each window of the text, and the character after it.
  const size_t n = text.size() - kWindow;
  K::Array windows(K::DType::int32, {n, kWindow}), next(K::DType::int32, {n, 1});
  for (size_t i = 0; i < n; ++i) {
    std::copy_n(numbers.begin() + static_cast<int64_t>(i), kWindow,
                windows[static_cast<int64_t>(i)].data<int>());
    next.at<int>(i, 0) = numbers[i + kWindow];
  }
  keras::Sequential net({keras::Embedding(letters.size(), 16, {.input_length = kWindow}),
                         keras::LSTM(64), keras::Dense(letters.size(), {.activation = "softmax"})});
  net.compile({.optimizer = keras::Adam({.learning_rate = 0.01}),
               .loss = "sparse_categorical_crossentropy"});
  const auto history =
      net.fit(windows, next, {.epochs = argc > 2 ? std::atoi(argv[2]) : 20, .verbose = 2});

  std::mt19937 random(1);
  std::vector<int> window(numbers.begin(), numbers.begin() + kWindow);
  std::cout << text.substr(0, kWindow) << "|";
  for (int k = 0; k < 200; ++k) {
    // Likely characters, with a little chance: the square makes the likely ones likelier.
    std::vector<double> weights;
    for (const float p : net.predict(K::Array::of(window, {1, kWindow})).to_vector<float>())
      weights.push_back(p * p);
    const int c = std::discrete_distribution<int>(weights.begin(), weights.end())(random);
    std::cout << letters[static_cast<size_t>(c)];
    window.erase(window.begin());
    window.push_back(c);
  }
  std::cout << "\nloss: " << history["loss"].front() << " to " << history["loss"].back() << "\n";
} catch (const K::Error& e) {
  std::cerr << e.what() << "\n";
  return 1;
}
