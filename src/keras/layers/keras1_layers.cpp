// Layers of Keras 1, with its names of options, that come from files: MaxoutDense and Highway, which Keras 2.3.1 still has,
// ParametricSoftplus and SReLU, which it has not.
#include "keras/layers/body_of.h"

namespace horngate::keras {
namespace {

struct OldWeightOptions {
  Initializer init = "glorot_uniform";
  Regularizer W_regularizer = {}, b_regularizer = {}, activity_regularizer = {};
  WeightConstraint W_constraint = {}, b_constraint = {};
  bool bias = true;
  std::optional<int64_t> input_dim = {};
};
template <class V>
void weight_fields(V& v, Like<OldWeightOptions> auto& o) {
  v("W_regularizer", o.W_regularizer), v("b_regularizer", o.b_regularizer);
  v("activity_regularizer", o.activity_regularizer);
  v("W_constraint", o.W_constraint), v("b_constraint", o.b_constraint);
  v("bias", o.bias), v("input_dim", o.input_dim);
}

WeightOptions kernel_options(const OldWeightOptions& o) {
  return {.initializer = o.init, .regularizer = o.W_regularizer, .constraint = o.W_constraint};
}
WeightOptions bias_options(const OldWeightOptions& o) {
  return {.initializer = "zeros", .regularizer = o.b_regularizer, .constraint = o.b_constraint};
}

// ---- MaxoutDense: the largest of several linear maps

struct MaxoutDenseArguments {
  int64_t output_dim = 0, nb_feature = 4;
  OldWeightOptions options = {};
};
template <class V>
void fields(V& v, Like<MaxoutDenseArguments> auto& a) {
  v.required("output_dim", a.output_dim);
  v("init", a.options.init), v("nb_feature", a.nb_feature);
  weight_fields(v, a.options);
}

class MaxoutDenseBody final : public BodyOf<MaxoutDenseArguments> {
 public:
  explicit MaxoutDenseBody(MaxoutDenseArguments a) : BodyOf(std::move(a)) {
    check_positive("MaxoutDense", "output_dim", o.output_dim);
    check_positive("MaxoutDense", "nb_feature", o.nb_feature);
    activity_regularizer = o.options.activity_regularizer;
    input_spec = {{.ndim = 2}};
  }
  std::string class_name() const override { return "MaxoutDense"; }
  void build(const Shapes& in) override {
    const int64_t width = in[0].dim(1);
    kernel_ = add_weight("W", {Dim(o.nb_feature), width, o.output_dim}, kernel_options(o.options));
    if (o.options.bias)
      bias_ = add_weight("b", {Dim(o.nb_feature), o.output_dim}, bias_options(o.options));
    input_spec = {{.ndim = 2, .axes = {{1, width}}}};
  }
  Tensors call(Call& c) override {
    Tensor y = dot(c.x(), kernel_);
    if (bias_.defined()) y = y + bias_;
    return {max(y, {.axis = 1})};
  }

 private:
  Variable kernel_, bias_;
};

// ---- Highway: t * activation(W x + b) + (1 - t) * x, where t = sigmoid(W_carry x + b_carry)

struct HighwayArguments {
  ActivationFunction activation = {};
  OldWeightOptions options = {};
};
template <class V>
void fields(V& v, Like<HighwayArguments> auto& a) {
  v("init", a.options.init), v("activation", a.activation);
  weight_fields(v, a.options);
}

class HighwayBody final : public BodyOf<HighwayArguments> {
 public:
  explicit HighwayBody(HighwayArguments a) : BodyOf(std::move(a)) {
    activity_regularizer = o.options.activity_regularizer;
    input_spec = {{.ndim = 2}};
  }
  std::string class_name() const override { return "Highway"; }
  void build(const Shapes& in) override {
    const int64_t width = in[0].dim(1);
    kernel_ = add_weight("W", {Dim(width), width}, kernel_options(o.options));
    carry_ = add_weight("W_carry", {Dim(width), width}, {.initializer = o.options.init});
    if (o.options.bias) {
      bias_ = add_weight("b", {Dim(width)}, bias_options(o.options));
      carry_bias_ = add_weight("b_carry", {Dim(width)}, {.initializer = "ones"});
    }
    input_spec = {{.ndim = 2, .axes = {{1, width}}}};
  }
  Tensors call(Call& c) override {
    const Tensor t = sigmoid(linear(c.x(), carry_, carry_bias_));
    const Tensor y = linear(c.x(), kernel_, bias_);
    return {(o.activation ? o.activation(y) : y) * t + (1 - t) * c.x()};
  }

 private:
  static Tensor linear(const Tensor& x, const Variable& kernel, const Variable& bias) {
    const Tensor y = dot(x, kernel);
    return bias.defined() ? y + bias : y;
  }
  Variable kernel_, carry_, bias_, carry_bias_;
};

// ---- ParametricSoftplus: alpha * log(1 + exp(beta * x)); what an axis shares is not in the files of Keras 1

struct ParametricSoftplusArguments {
  double alpha_init = 0.2, beta_init = 5.0;
};
template <class V>
void fields(V& v, Like<ParametricSoftplusArguments> auto& a) {
  v("alpha_init", a.alpha_init), v("beta_init", a.beta_init);
}

/// One weight for each element of a sample.
Shape of_sample(const Shape& in) {
  Ints dims = in.dims();
  dims.erase(dims.begin());
  return Shape(dims);
}

class ParametricSoftplusBody final : public BodyOf<ParametricSoftplusArguments> {
 public:
  using BodyOf::BodyOf;
  std::string class_name() const override { return "ParametricSoftplus"; }
  bool supports_masking() const override { return true; }
  void build(const Shapes& in) override {
    const Shape shape = of_sample(in[0]);
    alphas_ = add_weight("alphas", shape, {.initializer = Constant(o.alpha_init)});
    betas_ = add_weight("betas", shape, {.initializer = Constant(o.beta_init)});
  }
  Tensors call(Call& c) override { return {softplus(betas_ * c.x()) * alphas_}; }

 private:
  Variable alphas_, betas_;
};

// ---- SReLU: three straight pieces, which meet at t_left and at t_left + |t_right|

struct SReLUArguments {
  Initializer t_left_init = "zeros", a_left_init = "glorot_uniform";
  Initializer t_right_init = "glorot_uniform", a_right_init = "ones";
};
template <class V>
void fields(V& v, Like<SReLUArguments> auto& a) {
  v("t_left_init", a.t_left_init), v("a_left_init", a.a_left_init);
  v("t_right_init", a.t_right_init), v("a_right_init", a.a_right_init);
}

class SReLUBody final : public BodyOf<SReLUArguments> {
 public:
  using BodyOf::BodyOf;
  std::string class_name() const override { return "SReLU"; }
  bool supports_masking() const override { return true; }
  void build(const Shapes& in) override {
    const Shape shape = of_sample(in[0]);
    t_left_ = add_weight("t_left", shape, {.initializer = o.t_left_init});
    a_left_ = add_weight("a_left", shape, {.initializer = o.a_left_init});
    t_right_ = add_weight("t_right", shape, {.initializer = o.t_right_init});
    a_right_ = add_weight("a_right", shape, {.initializer = o.a_right_init});
  }
  Tensors call(Call& c) override {
    const Tensor width = abs(t_right_), from_left = c.x() - t_left_;
    const Tensor middle = minimum(relu(from_left), width);
    return {t_left_ + middle - a_left_ * relu(-from_left) + a_right_ * relu(from_left - width)};
  }

 private:
  Variable t_left_, a_left_, t_right_, a_right_;
};

}  // namespace

void add_keras_1_layers(LayerTable& t) {
  t["MaxoutDense"] = make_from<MaxoutDenseBody>;
  t["Highway"] = make_from<HighwayBody>;
  t["ParametricSoftplus"] = make_from<ParametricSoftplusBody>;
  t["SReLU"] = make_from<SReLUBody>;
}

}  // namespace horngate::keras
