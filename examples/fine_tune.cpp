// Teaches a trained net something else: a net that knows the digits 0 to 4 keeps its first layers and learns 5 to 9.
#include <horngate/keras.h>

#include <iostream>

#include "digits_data.h"

namespace K = horngate;
namespace keras = horngate::keras;

namespace {

struct Set {
  K::Array images, labels;
};

/// The digits from..from + 4, with the labels 0 to 4.
Set five_digits(const digits::Data& all, int from) {
  std::vector<float> images;
  std::vector<int> labels;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all.labels[i] < from || all.labels[i] > from + 4) continue;
    images.insert(images.end(), all.images.begin() + static_cast<int64_t>(64 * i),
                  all.images.begin() + static_cast<int64_t>(64 * (i + 1)));
    labels.push_back(all.labels[i] - from);
  }
  return {K::Array::of(images, {labels.size(), 8, 8, 1}), K::Array::of(labels, {labels.size(), 1})};
}

}  // namespace

int main() try {
  const digits::Data all = digits::read_digits(HORNGATE_EXAMPLE_DATA "/digits.txt");
  const Set low = five_digits(all, 0), high = five_digits(all, 5);
  const keras::CompileOptions training = {
      .optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}};

  keras::Sequential first({keras::Conv2D(16, 3, {.activation = "relu", .input_shape = {8, 8, 1}}),
                           keras::Conv2D(16, 3, {.activation = "relu"}), keras::MaxPooling2D(),
                           keras::Flatten(),
                           keras::Dense(32, {.activation = "relu", .name = "features"}),
                           keras::Dense(5, {.activation = "softmax"})});
  first.compile(training);
  first.fit(low.images, low.labels, {.epochs = 5, .verbose = 2, .shuffle_seed = 1});
  first.save("low_digits.h5");

  // Another program begins here: it has the file alone.
  const keras::Model loaded = keras::load_model("low_digits.h5", {.compile = false});
  for (const keras::Layer& layer : loaded.layers()) layer.set_trainable(false);
  const keras::Value features = loaded.get_layer("flatten_1")(loaded.get_layer("max_pooling2d_1")(
      loaded.get_layer("conv2d_2")(loaded.get_layer("conv2d_1")(loaded.inputs()))));
  const keras::Value hidden = keras::Dense(32, {.activation = "relu"})(features);
  const keras::Model net(loaded.inputs(), keras::Dense(5, {.activation = "softmax"})(hidden));
  net.compile(training);
  const keras::History history =
      net.fit(high.images, high.labels,
              {.epochs = 8, .verbose = 2, .validation_split = 0.2, .shuffle_seed = 1});
  std::cout << "5 to 9, not seen in training: " << history["val_accuracy"].back() << "\n";
} catch (const K::Error& e) {
  std::cerr << e.what() << "\n";
  return 1;
}
