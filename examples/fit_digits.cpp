// Trains a net on the 1,797 handwritten digits of the UCI repository with fit, saves it and loads it again.
#include <horngate/keras.h>

#include <cstdio>

#include "digits_data.h"

namespace K = horngate;
namespace keras = horngate::keras;

int main() try {
  const digits::Data data = digits::read_digits(HORNGATE_EXAMPLE_DATA "/digits.txt");
  const auto n = static_cast<int64_t>(data.size());
  const K::Array images = K::Array::of(data.images, {n, 64}),
                 labels = K::Array::of(data.labels, {n, 1});
  keras::Sequential net({keras::Dense(128, {.activation = "relu", .input_shape = {64}}),
                         keras::Dropout(0.2), keras::Dense(10, {.activation = "softmax"})});
  net.compile(
      {.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  auto history = net.fit(images, labels,
                         {.epochs = 15,
                          .callbacks = {keras::EarlyStopping({.patience = 3})},
                          .validation_split = 0.2});
  std::printf("accuracy on digits that it did not see: %.3f\n", history["val_accuracy"].back());
  net.save("digits.h5");
  auto again = keras::load_model("digits.h5");
  std::printf("loaded again: %s\n",
              again.evaluate(images, labels)[1] == net.evaluate(images, labels)[1] ? "the same"
                                                                                   : "different");
} catch (const K::Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
