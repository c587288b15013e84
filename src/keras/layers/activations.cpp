// Activations with options, as layers.
#include "horngate/keras/layers_activations.h"

#include "horngate/horngate.h"
#include "keras/layers/old_names.h"

namespace horngate::keras {
namespace {

/// Keras keeps these numbers as floatx, and files have its digits.
double as_floatx(double value) {
  return Array(value).cast(floatx()).cast(DType::float64).data<double>()[0];
}

struct LeakyReLUArguments {
  LeakyReLUOptions options = {};
};
template <class V>
void fields(V& v, Like<LeakyReLUArguments> auto& a) {
  v("alpha", a.options.alpha);
}

class LeakyReLUBody final : public BodyOf<LeakyReLUArguments> {
 public:
  explicit LeakyReLUBody(LeakyReLUArguments a) : BodyOf(std::move(a)) {
    o.options.alpha = as_floatx(o.options.alpha);
  }
  std::string class_name() const override { return "LeakyReLU"; }
  bool supports_masking() const override { return true; }
  Tensors call(Call& c) override { return {relu(c.x(), {.alpha = o.options.alpha})}; }
};

struct PReLUArguments {
  PReLUOptions options = {};
};
template <class V>
void fields(V& v, Like<PReLUArguments> auto& a) {
  auto& o = a.options;
  v("alpha_initializer", o.alpha_initializer), v("alpha_regularizer", o.alpha_regularizer);
  v("alpha_constraint", o.alpha_constraint), v("shared_axes", o.shared_axes);
}

class PReLUBody final : public BodyOf<PReLUArguments> {
 public:
  using BodyOf::BodyOf;
  std::string class_name() const override { return "PReLU"; }
  bool supports_masking() const override { return true; }
  void build(const Shapes& in) override {
    const PReLUOptions& p = o.options;
    Ints dims = in[0].dims();
    InputSpec spec{.ndim = dims.size()};
    std::vector<bool> shared(dims.size(), false);
    for (const int64_t axis : p.shared_axes.value_or(Ints())) {
      if (axis < 1 || axis >= static_cast<int64_t>(dims.size()))
        throw ValueError(where() + "shared_axes must be in [1, " + std::to_string(dims.size()) +
                         "); got " + std::to_string(axis) + ".");
      shared[static_cast<size_t>(axis)] = true;
      dims[static_cast<size_t>(axis)] = 1;
    }
    if (p.shared_axes && !p.shared_axes->empty())
      for (size_t i = 1; i < dims.size(); ++i)
        if (!shared[i] && in[0][i].known()) spec.axes[static_cast<int64_t>(i)] = dims[i];
    dims.erase(dims.begin());
    alpha_ = add_weight("alpha", Shape(dims),
                        {.initializer = p.alpha_initializer,
                         .regularizer = p.alpha_regularizer,
                         .constraint = p.alpha_constraint});
    input_spec = {spec};
  }
  Tensors call(Call& c) override { return {relu(c.x()) + -alpha_ * relu(-c.x())}; }

 private:
  Variable alpha_;
};

struct ELUArguments {
  ELUOptions options = {};
};
template <class V>
void fields(V& v, Like<ELUArguments> auto& a) {
  v("alpha", a.options.alpha);
}

class ELUBody final : public BodyOf<ELUArguments> {
 public:
  explicit ELUBody(ELUArguments a) : BodyOf(std::move(a)) {
    o.options.alpha = as_floatx(o.options.alpha);
  }
  std::string class_name() const override { return "ELU"; }
  bool supports_masking() const override { return true; }
  Tensors call(Call& c) override { return {elu(c.x(), o.options.alpha)}; }
};

struct ThresholdedReLUArguments {
  ThresholdedReLUOptions options = {};
};
template <class V>
void fields(V& v, Like<ThresholdedReLUArguments> auto& a) {
  v("theta", a.options.theta);
}

class ThresholdedReLUBody final : public BodyOf<ThresholdedReLUArguments> {
 public:
  explicit ThresholdedReLUBody(ThresholdedReLUArguments a) : BodyOf(std::move(a)) {
    o.options.theta = as_floatx(o.options.theta);
  }
  std::string class_name() const override { return "ThresholdedReLU"; }
  bool supports_masking() const override { return true; }
  Tensors call(Call& c) override {
    return {c.x() * cast(greater(c.x(), o.options.theta), floatx())};
  }
};

struct SoftmaxArguments {
  SoftmaxOptions options = {};
};
template <class V>
void fields(V& v, Like<SoftmaxArguments> auto& a) {
  v("axis", a.options.axis);
}

class SoftmaxBody final : public BodyOf<SoftmaxArguments> {
 public:
  explicit SoftmaxBody(SoftmaxArguments a) : BodyOf(std::move(a)) {
    input_spec = {{.min_ndim = 2}};
  }
  std::string class_name() const override { return "Softmax"; }
  bool supports_masking() const override { return true; }
  // Of more than two axes Keras writes it out.
  Tensors call(Call& c) override {
    if (c.x().ndim() == 2) return {softmax(c.x())};
    const ReduceOptions along{.axis = o.options.axis, .keepdims = true};
    const Tensor e = exp(c.x() - max(c.x(), along));
    return {e / sum(e, along)};
  }
};

struct ReLUArguments {
  ReLUOptions options = {};
};
template <class V>
void fields(V& v, Like<ReLUArguments> auto& a) {
  v("max_value", a.options.max_value), v("negative_slope", a.options.negative_slope);
  v("threshold", a.options.threshold);
}

class ReLUBody final : public BodyOf<ReLUArguments> {
 public:
  explicit ReLUBody(ReLUArguments a) : BodyOf(std::move(a)) {
    ReLUOptions& r = o.options;
    if (r.max_value && *r.max_value < 0)
      throw ValueError("ReLU: max_value must not be negative; got " + Json(*r.max_value).dump() +
                       ".");
    if (r.negative_slope < 0)
      throw ValueError("ReLU: negative_slope must not be negative; got " +
                       Json(r.negative_slope).dump() + ".");
    if (r.max_value) r.max_value = as_floatx(*r.max_value);
    r.negative_slope = as_floatx(r.negative_slope);
    r.threshold = as_floatx(r.threshold);
  }
  std::string class_name() const override { return "ReLU"; }
  bool supports_masking() const override { return true; }
  Tensors call(Call& c) override {
    const ReLUOptions& r = o.options;
    return {relu(c.x(), {.alpha = r.negative_slope,
                         .max_value = r.max_value ? Number(*r.max_value) : None,
                         .threshold = r.threshold})};
  }
};

}  // namespace

Layer LeakyReLU(const LeakyReLUOptions& o) { return make_layer<LeakyReLUBody>({o}, o); }
Layer PReLU(const PReLUOptions& o) { return make_layer<PReLUBody>({o}, o); }
Layer ELU(const ELUOptions& o) { return make_layer<ELUBody>({o}, o); }
Layer ThresholdedReLU(const ThresholdedReLUOptions& o) {
  return make_layer<ThresholdedReLUBody>({o}, o);
}
Layer Softmax(const SoftmaxOptions& o) { return make_layer<SoftmaxBody>({o}, o); }
Layer ReLU(const ReLUOptions& o) { return make_layer<ReLUBody>({o}, o); }

void add_activation_layers(LayerTable& t) {
  t["LeakyReLU"] = make_from<LeakyReLUBody>;
  t["PReLU"] = [](const Json& config, const LoadContext& context) {
    return make_from<PReLUBody>(renamed(config, {{"init", "alpha_initializer"}}), context);
  };
  t["ELU"] = make_from<ELUBody>;
  t["ThresholdedReLU"] = make_from<ThresholdedReLUBody>;
  t["Softmax"] = make_from<SoftmaxBody>;
  t["ReLU"] = make_from<ReLUBody>;
}

}  // namespace horngate::keras
