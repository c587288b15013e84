// Trains a net on the 1,797 handwritten digits of the UCI repository with fit, saves it and loads it again:
// fit_digits [EPOCHS]
#include <horngate/keras.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace K = horngate;
namespace keras = horngate::keras;

namespace {

/// One line per digit: its label, a space, 64 characters '0'..'9', 'a'..'g' for the pixel values 0..16.
std::pair<K::Array, K::Array> read_digits(const std::string& path) {
  std::vector<float> images, labels;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line) && line.size() == 66;) {
    labels.push_back(static_cast<float>(line[0] - '0'));
    for (size_t i = 2; i < 66; ++i)
      images.push_back(static_cast<float>(line[i] <= '9' ? line[i] - '0' : line[i] - 'a' + 10) /
                       16.0f);
  }
  const auto n = static_cast<int64_t>(labels.size());
  return {K::Array::of(images, {n, 64}), K::Array::of(labels, {n, 1})};
}

}  // namespace

int main(int argc, char** argv) try {
  const auto [images, labels] = read_digits(HORNGATE_EXAMPLE_DATA "/digits.txt");
  keras::Sequential net({keras::Dense(128, {.activation = "relu", .input_shape = {64}}),
                         keras::Dropout(0.2), keras::Dense(10, {.activation = "softmax"})});
  net.compile(
      {.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  const auto history = net.fit(images, labels,
                               {.epochs = argc > 1 ? std::atoi(argv[1]) : 15,
                                .callbacks = {keras::EarlyStopping({.patience = 3})},
                                .validation_split = 0.2});
  std::printf("accuracy on digits that it did not see: %.3f\n", history["val_accuracy"].back());
  net.save("digits.h5");
  const auto again = keras::load_model("digits.h5");
  std::printf("loaded again: %s\n",
              again.evaluate(images, labels)[1] == net.evaluate(images, labels)[1] ? "the same"
                                                                                   : "different");
} catch (const K::Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
