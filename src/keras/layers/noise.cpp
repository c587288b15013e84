// Noise while training.
#include "horngate/keras/layers_noise.h"

#include <cmath>

#include "horngate/horngate.h"
#include "keras/layers/old_names.h"

namespace horngate::keras {
namespace {

struct GaussianNoiseArguments {
  double stddev = 0;
};
template <class V>
void fields(V& v, Like<GaussianNoiseArguments> auto& a) {
  v.required("stddev", a.stddev);
}

class GaussianNoiseBody final : public BodyOf<GaussianNoiseArguments> {
 public:
  using BodyOf::BodyOf;
  std::string class_name() const override { return "GaussianNoise"; }
  bool supports_masking() const override { return true; }
  Tensors call(Call& c) override {
    const Tensor x = c.x();
    return {in_train_phase(
        [=, stddev = o.stddev] { return x + random_normal(shape(x), {.stddev = stddev}); }, x)};
  }
};

struct GaussianDropoutArguments {
  double rate = 0;
};
template <class V>
void fields(V& v, Like<GaussianDropoutArguments> auto& a) {
  v.required("rate", a.rate);
}

class GaussianDropoutBody final : public BodyOf<GaussianDropoutArguments> {
 public:
  using BodyOf::BodyOf;
  std::string class_name() const override { return "GaussianDropout"; }
  bool supports_masking() const override { return true; }
  Tensors call(Call& c) override {
    const Tensor x = c.x();
    if (!(o.rate > 0 && o.rate < 1)) return {x};
    const double stddev = std::sqrt(o.rate / (1.0 - o.rate));
    return {in_train_phase(
        [=] { return x * random_normal(shape(x), {.mean = 1.0, .stddev = stddev}); }, x)};
  }
};

struct AlphaDropoutArguments {
  double rate = 0;
  AlphaDropoutOptions options = {};
};
/// Keras forgets noise_shape and seed.
template <class V>
void fields(V& v, Like<AlphaDropoutArguments> auto& a) {
  v.required("rate", a.rate);
}

class AlphaDropoutBody final : public BodyOf<AlphaDropoutArguments> {
 public:
  using BodyOf::BodyOf;
  std::string class_name() const override { return "AlphaDropout"; }
  bool supports_masking() const override { return true; }
  Tensors call(Call& c) override {
    const Tensor x = c.x();
    const double rate = o.rate;
    if (!(rate > 0 && rate < 1)) return {x};
    const auto& given = o.options.noise_shape;
    const ShapeArg noise_shape = given ? ShapeArg(*given) : ShapeArg(shape(x));
    const auto seed = o.options.seed;
    return {in_train_phase([=] { return dropped(x, rate, noise_shape, seed); }, x)};
  }

 private:
  /// Dropped values become what "selu" gives for -infinity; a and b bring mean and variance back.
  static Tensor dropped(const Tensor& x, double rate, const ShapeArg& noise_shape,
                        std::optional<int64_t> seed) {
    const double alpha = 1.6732632423543772848170429916717;
    const double scale = 1.0507009873554804934193349852946;
    const double lowest = -alpha * scale;
    const Tensor kept =
        cast(greater_equal(random_uniform(noise_shape, {.seed = seed}), rate), floatx());
    const double a = std::pow((1 - rate) * (1 + rate * lowest * lowest), -0.5);
    const double b = -a * lowest * rate;
    return a * (x * kept + lowest * (1.0 - kept)) + b;
  }
};

}  // namespace

Layer GaussianNoise(double stddev, const PlainOptions& o) {
  return make_layer<GaussianNoiseBody>({stddev}, o);
}
Layer GaussianDropout(double rate, const PlainOptions& o) {
  return make_layer<GaussianDropoutBody>({rate}, o);
}
Layer AlphaDropout(double rate, const AlphaDropoutOptions& o) {
  return make_layer<AlphaDropoutBody>({rate, o}, o);
}

void add_noise_layers(LayerTable& t) {
  t["GaussianNoise"] = [](const Json& config, const LoadContext& context) {
    return make_from<GaussianNoiseBody>(renamed(config, {{"sigma", "stddev"}}), context);
  };
  t["GaussianDropout"] = [](const Json& config, const LoadContext& context) {
    return make_from<GaussianDropoutBody>(renamed(config, {{"p", "rate"}}), context);
  };
  t["AlphaDropout"] = make_from<AlphaDropoutBody>;
}

}  // namespace horngate::keras
