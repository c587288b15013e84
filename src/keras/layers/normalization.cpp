// BatchNormalization.
#include "horngate/keras/layers_normalization.h"

#include "horngate/horngate.h"
#include "keras/layers/old_names.h"

namespace horngate::keras {
namespace {

struct BatchNormalizationArguments {
  BatchNormalizationLayerOptions options = {};
};
template <class V>
void fields(V& v, Like<BatchNormalizationArguments> auto& a) {
  auto& o = a.options;
  v("axis", o.axis), v("momentum", o.momentum), v("epsilon", o.epsilon);
  v("center", o.center), v("scale", o.scale);
  v("beta_initializer", o.beta_initializer), v("gamma_initializer", o.gamma_initializer);
  v("moving_mean_initializer", o.moving_mean_initializer);
  v("moving_variance_initializer", o.moving_variance_initializer);
  v("beta_regularizer", o.beta_regularizer), v("gamma_regularizer", o.gamma_regularizer);
  v("beta_constraint", o.beta_constraint), v("gamma_constraint", o.gamma_constraint);
}

class BatchNormalizationBody final : public BodyOf<BatchNormalizationArguments> {
 public:
  using BodyOf::BodyOf;
  std::string class_name() const override { return "BatchNormalization"; }
  bool supports_masking() const override { return true; }
  void build(const Shapes& in) override {
    const BatchNormalizationLayerOptions& b = o.options;
    const Dim features = in[0][axis_of(in[0])];
    if (!features.known())
      throw ValueError(where() + "the size along axis=" + std::to_string(b.axis) +
                       " must be known; got shape " + in[0].str() + ".");
    const Shape shape{features};
    if (b.scale)
      gamma_ = add_weight("gamma", shape,
                          {.initializer = b.gamma_initializer,
                           .regularizer = b.gamma_regularizer,
                           .constraint = b.gamma_constraint});
    if (b.center)
      beta_ = add_weight("beta", shape,
                         {.initializer = b.beta_initializer,
                          .regularizer = b.beta_regularizer,
                          .constraint = b.beta_constraint});
    mean_ = add_weight("moving_mean", shape,
                       {.initializer = b.moving_mean_initializer, .trainable = false});
    variance_ = add_weight("moving_variance", shape,
                           {.initializer = b.moving_variance_initializer, .trainable = false});
    input_spec = {{.ndim = in[0].ndim(), .axes = {{b.axis, features.value()}}}};
  }
  Tensors call(Call& c) override {
    const BatchNormalizationLayerOptions& b = o.options;
    const Tensor x = c.x();
    const size_t axis = axis_of(x.shape());
    // Called with training = false: it learns nothing of this input.
    if (fixed_learning_phase() == false) return {normalized(x, axis)};
    Ints others;
    Tensors sizes;
    for (size_t i = 0; i < x.ndim(); ++i) {
      if (i == axis) continue;
      others.push_back(static_cast<int64_t>(i));
      sizes.push_back(index(shape(x), static_cast<int64_t>(i)));
    }
    const NormalizedBatch batch = normalize_batch_in_training(x, gamma_, beta_, others, b.epsilon);
    // An estimate for all samples, of which the batch is a part.
    const Tensor count = cast(prod(stack(sizes)), x.dtype());
    const Tensor variance = batch.variance * (count / (count - (1.0 + b.epsilon)));
    c.add_update(moving_average_update(mean_, batch.mean, b.momentum));
    c.add_update(moving_average_update(variance_, variance, b.momentum));
    return {in_train_phase(batch.normalized, [=, this] { return normalized(x, axis); })};
  }

 private:
  size_t axis_of(const Shape& in) const {
    const auto ndim = static_cast<int64_t>(in.ndim());
    const int64_t axis = o.options.axis < 0 ? o.options.axis + ndim : o.options.axis;
    if (axis < 0 || axis >= ndim)
      throw ValueError(where() + "axis must be an axis of the input; got axis=" +
                       std::to_string(o.options.axis) + " for shape " + in.str() + ".");
    return static_cast<size_t>(axis);
  }

  /// With the moving averages.
  Tensor normalized(const Tensor& x, size_t axis) const {
    const bool is_last = axis + 1 == x.ndim();
    Ints dims(x.ndim(), 1);
    dims[axis] = x.shape().dim(axis);
    const auto spread = [&](const Tensor& v) {
      return is_last || !v.defined() ? v : reshape(v, dims);
    };
    return batch_normalization(x, spread(mean_), spread(variance_), spread(beta_), spread(gamma_),
                               {.axis = o.options.axis, .epsilon = o.options.epsilon});
  }

  Variable gamma_, beta_, mean_, variance_;
};

/// Of Keras 1, and of tf.keras, which has a list of one axis.
std::shared_ptr<Body> from_config(const Json& given, const LoadContext& context) {
  must_be(given, "BatchNormalization", "mode", {0});
  must_be(given, "BatchNormalization", "renorm", {false, nullptr});
  must_be(given, "BatchNormalization", "virtual_batch_size", {nullptr});
  Json config =
      renamed(given, {{"beta_init", "beta_initializer"}, {"gamma_init", "gamma_initializer"}});
  if (const Json* axis = config.find("axis"); axis && axis->is_list()) {
    const Json::List axes = axis->as_list("axis");
    if (axes.size() != 1)
      throw ValueError("BatchNormalization: axis must be one number; got " + axis->dump() + ".");
    config.set("axis", axes[0]);
  }
  return make_from<BatchNormalizationBody>(config, context);
}

}  // namespace

Layer BatchNormalization(const BatchNormalizationLayerOptions& o) {
  return make_layer<BatchNormalizationBody>({o}, o);
}

void add_normalization_layers(LayerTable& t) { t["BatchNormalization"] = from_config; }

}  // namespace horngate::keras
