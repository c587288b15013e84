// Two digits: are they the same? One encoder looks at both; what it says of them is near for equal digits.
#include <horngate/keras.h>

#include <iostream>
#include <random>

#include "digits_data.h"

namespace K = horngate;
namespace keras = horngate::keras;

namespace {

struct Pairs {
  K::Array left, right, same;
};

/// Pairs of random digits, half of them equal.
Pairs draw_pairs(const digits::Data& all, size_t begin, size_t end, size_t n, unsigned seed) {
  std::mt19937 random(seed);
  const auto any = [&] { return begin + random() % (end - begin); };
  std::vector<float> left, right, same;
  const auto add = [&](std::vector<float>& to, size_t i) {
    to.insert(to.end(), all.images.begin() + static_cast<int64_t>(64 * i),
              all.images.begin() + static_cast<int64_t>(64 * (i + 1)));
  };
  for (size_t k = 0; k < n; ++k) {
    const size_t i = any();
    size_t j = any();
    while ((all.labels[i] == all.labels[j]) != (k % 2 == 0)) j = any();
    add(left, i);
    add(right, j);
    same.push_back(k % 2 == 0 ? 1.0f : 0.0f);
  }
  return {K::Array::of(left, {n, 64}), K::Array::of(right, {n, 64}), K::Array::of(same, {n, 1})};
}

/// Equal ones shall be near, others at least 1 apart.
K::Tensor contrastive(const K::Tensor& same, const K::Tensor& distance) {
  return same * K::square(distance) + (1 - same) * K::square(K::maximum(1 - distance, 0));
}

K::Tensor agreement(const K::Tensor& same, const K::Tensor& distance) {
  return K::mean(K::cast(K::equal(same, K::cast(distance < 0.5, K::floatx())), K::floatx()), -1);
}

}  // namespace

int main() try {
  const digits::Data all = digits::read_digits(HORNGATE_EXAMPLE_DATA "/digits.txt");
  const Pairs seen = draw_pairs(all, 0, 1400, 4000, 1),
              unseen = draw_pairs(all, 1400, all.size(), 800, 2);

  const keras::Sequential encoder(
      {keras::Dense(64, {.activation = "relu", .input_shape = {64}}), keras::Dense(16)});
  const keras::Value a = keras::Input({.shape = {64}}), b = keras::Input({.shape = {64}});
  const keras::Layer distance = keras::Lambda("distance", [](const K::Tensors& codes) {
    return K::sqrt(K::sum(K::square(codes[0] - codes[1]), {.axis = 1, .keepdims = true}) +
                   K::epsilon());
  });
  const keras::Model net({a, b}, distance({encoder(a), encoder(b)}));
  net.compile({.optimizer = "adam", .loss = contrastive, .metrics = {agreement}});
  net.fit({seen.left, seen.right}, seen.same, {.epochs = 10, .verbose = 2, .shuffle_seed = 1});
  std::cout << "told right of pairs that it did not see: "
            << net.evaluate({unseen.left, unseen.right}, unseen.same)[1] << "\n";
} catch (const K::Error& e) {
  std::cerr << e.what() << "\n";
  return 1;
}
