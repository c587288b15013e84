// Dense, Activation, Dropout, shapes, Lambda, masks.
#include "horngate/keras/layers_core.h"

#include <algorithm>

#include "horngate/config.h"
#include "horngate/horngate.h"
#include "keras/layers/body_of.h"
#include "keras/layers/input.h"
#include "keras/node.h"

namespace horngate::keras {
namespace {

// ---- Dense

struct DenseArguments {
  int64_t units = 0;
  DenseOptions options = {};
};
template <class V>
void fields(V& v, Like<DenseArguments> auto& a) {
  auto& o = a.options;
  v.required("units", a.units);
  v("activation", o.activation), v("use_bias", o.use_bias);
  v("kernel_initializer", o.kernel_initializer), v("bias_initializer", o.bias_initializer);
  v("kernel_regularizer", o.kernel_regularizer), v("bias_regularizer", o.bias_regularizer);
  v("activity_regularizer", o.activity_regularizer);
  v("kernel_constraint", o.kernel_constraint), v("bias_constraint", o.bias_constraint);
}

class DenseBody final : public BodyOf<DenseArguments> {
 public:
  explicit DenseBody(DenseArguments a) : BodyOf(std::move(a)) {
    check_positive("Dense", "units", o.units);
    activity_regularizer = o.options.activity_regularizer;
    input_spec = {{.min_ndim = 2}};
  }
  std::string class_name() const override { return "Dense"; }
  bool supports_masking() const override { return true; }
  void build(const Shapes& in) override {
    const DenseOptions& d = o.options;
    const int64_t width = in[0].dim(in[0].ndim() - 1);
    kernel_ = add_weight("kernel", {Dim(width), o.units},
                         {.initializer = d.kernel_initializer,
                          .regularizer = d.kernel_regularizer,
                          .constraint = d.kernel_constraint});
    if (d.use_bias)
      bias_ = add_weight("bias", {o.units},
                         {.initializer = d.bias_initializer,
                          .regularizer = d.bias_regularizer,
                          .constraint = d.bias_constraint});
    input_spec = {{.min_ndim = 2, .axes = {{-1, width}}}};
  }
  Tensors call(Call& c) override {
    Tensor y = dot(c.x(), kernel_);
    if (bias_.defined()) y = bias_add(y, bias_, DataFormat::channels_last);
    return {o.options.activation ? o.options.activation(y) : y};
  }

 private:
  Variable kernel_, bias_;
};

// ---- Activation

struct ActivationArguments {
  ActivationFunction activation = {};
};
template <class V>
void fields(V& v, Like<ActivationArguments> auto& a) {
  v.required("activation", a.activation);
}

class ActivationBody final : public BodyOf<ActivationArguments> {
 public:
  using BodyOf::BodyOf;
  std::string class_name() const override { return "Activation"; }
  bool supports_masking() const override { return true; }
  Tensors call(Call& c) override { return {o.activation ? o.activation(c.x()) : c.x()}; }
};

// ---- Dropout

struct DropoutArguments {
  double rate = 0;
  DropoutLayerOptions options = {};
};
template <class V>
void fields(V& v, Like<DropoutArguments> auto& a) {
  v.required("rate", a.rate);
  v("noise_shape", a.options.noise_shape), v("seed", a.options.seed);
}

/// x with flags of another shape, while training.
Tensor dropped(const Tensor& x, double rate, const ShapeArg& noise_shape,
               std::optional<int64_t> seed) {
  if (!(rate > 0 && rate < 1)) return x;
  return in_train_phase(
      [=] { return dropout(x, rate, {.noise_shape = noise_shape, .seed = seed}); }, x);
}

class DropoutBody final : public BodyOf<DropoutArguments> {
 public:
  explicit DropoutBody(DropoutArguments a) : BodyOf(std::move(a)) {
    o.rate = std::clamp(o.rate, 0.0, 1.0);
  }
  std::string class_name() const override { return "Dropout"; }
  bool supports_masking() const override { return true; }
  Tensors call(Call& c) override {
    const auto& shape = o.options.noise_shape;
    return {dropped(c.x(), o.rate, shape ? ShapeArg(*shape) : ShapeArg(), o.options.seed)};
  }
};

struct SpatialDropoutArguments {
  double rate = 0;
  SpatialDropoutOptions options = {};
};

/// Keras keeps the fields of Dropout in the configuration, and forgets data_format.
template <size_t kAxes>
class SpatialDropoutBody final : public BodyOf<SpatialDropoutArguments> {
 public:
  explicit SpatialDropoutBody(SpatialDropoutArguments a) : BodyOf(std::move(a)) {
    o.rate = std::clamp(o.rate, 0.0, 1.0);
    if (!o.options.data_format)
      o.options.data_format = kAxes == 1 ? DataFormat::channels_last : image_data_format();
    input_spec = {{.ndim = kAxes + 2}};
  }
  std::string class_name() const override { return "SpatialDropout" + std::to_string(kAxes) + "D"; }
  bool supports_masking() const override { return true; }
  Tensors call(Call& c) override {
    std::vector<ShapeArg::Entry> flags(kAxes + 2, 1);
    const size_t channels = *o.options.data_format == DataFormat::channels_first ? 1 : kAxes + 1;
    flags[0] = size_of(c.x(), 0);
    flags[channels] = size_of(c.x(), channels);
    return {dropped(c.x(), o.rate, flags, {})};
  }
};
template <class V>
void fields(V& v, Like<SpatialDropoutArguments> auto& a) {
  v.required("rate", a.rate);
  Json none;
  v("noise_shape", none), v("seed", none);
}

// ---- Shapes

struct FlattenArguments {
  FlattenOptions options = {};
};
template <class V>
void fields(V& v, Like<FlattenArguments> auto& a) {
  v("data_format", a.options.data_format);
}

class FlattenBody final : public BodyOf<FlattenArguments> {
 public:
  explicit FlattenBody(FlattenArguments a) : BodyOf(std::move(a)) {
    if (!o.options.data_format) o.options.data_format = image_data_format();
    input_spec = {{.min_ndim = 3}};
  }
  std::string class_name() const override { return "Flatten"; }
  Tensors call(Call& c) override {
    Tensor x = c.x();
    for (size_t i = 1; i < x.ndim(); ++i)
      if (!x.shape()[i].known())
        throw ValueError(where() +
                         "the input of Flatten must have known sizes but for the samples; got " +
                         x.shape().str() + ".");
    if (*o.options.data_format == DataFormat::channels_first) {
      Ints order{0};
      for (size_t i = 2; i < x.ndim(); ++i) order.push_back(static_cast<int64_t>(i));
      order.push_back(1);
      x = permute_dimensions(x, order);
    }
    return {batch_flatten(x)};
  }
};

struct ReshapeArguments {
  Ints target_shape = {};
};
template <class V>
void fields(V& v, Like<ReshapeArguments> auto& a) {
  v.required("target_shape", a.target_shape);
}

class ReshapeBody final : public BodyOf<ReshapeArguments> {
 public:
  using BodyOf::BodyOf;
  std::string class_name() const override { return "Reshape"; }
  Tensors call(Call& c) override {
    std::vector<ShapeArg::Entry> sizes{size_of(c.x(), 0)};
    for (const int64_t d : resolved(c.x().shape())) sizes.emplace_back(d);
    return {reshape(c.x(), sizes)};
  }

 private:
  /// With -1 replaced where the input's sizes are known.
  Ints resolved(const Shape& in) const {
    Ints dims(in.dims().begin() + 1, in.dims().end());
    const int64_t size = checked_product(dims);
    int64_t known = 1;
    size_t open = o.target_shape.size();
    for (size_t i = 0; i < o.target_shape.size(); ++i) {
      if (o.target_shape[i] >= 0) {
        known = checked_product(Ints{known, o.target_shape[i]});
      } else if (open == o.target_shape.size()) {
        open = i;
      } else {
        throw ValueError(where() + "target_shape must have at most one -1; got " +
                         Shape(o.target_shape).str() + ".");
      }
    }
    Ints result = o.target_shape;
    if (size < 0) return result;
    const bool fits = open < result.size() ? known != 0 && size % known == 0 : size == known;
    if (!fits)
      throw ValueError(where() + "target_shape must have as many elements as the input, " +
                       std::to_string(size) + "; got " + to_json(o.target_shape).dump() + ".");
    if (open < result.size()) result[open] = size / known;
    return result;
  }
};

struct PermuteArguments {
  Ints dims = {};
};
template <class V>
void fields(V& v, Like<PermuteArguments> auto& a) {
  v.required("dims", a.dims);
}

class PermuteBody final : public BodyOf<PermuteArguments> {
 public:
  explicit PermuteBody(PermuteArguments a) : BodyOf(std::move(a)) {
    input_spec = {{.ndim = o.dims.size() + 1}};
  }
  std::string class_name() const override { return "Permute"; }
  Tensors call(Call& c) override {
    Ints order{0};
    for (const int64_t d : o.dims) order.push_back(d);
    return {permute_dimensions(c.x(), order)};
  }
};

struct RepeatVectorArguments {
  int64_t n = 0;
};
template <class V>
void fields(V& v, Like<RepeatVectorArguments> auto& a) {
  v.required("n", a.n);
}

class RepeatVectorBody final : public BodyOf<RepeatVectorArguments> {
 public:
  explicit RepeatVectorBody(RepeatVectorArguments a) : BodyOf(std::move(a)) {
    check_positive("RepeatVector", "n", o.n);
    input_spec = {{.ndim = 2}};
  }
  std::string class_name() const override { return "RepeatVector"; }
  Tensors call(Call& c) override { return {repeat(c.x(), o.n)}; }
};

// ---- Masks, losses

struct MaskingArguments {
  MaskingOptions options = {};
};
template <class V>
void fields(V& v, Like<MaskingArguments> auto& a) {
  v("mask_value", a.options.mask_value);
}

class MaskingBody final : public BodyOf<MaskingArguments> {
 public:
  using BodyOf::BodyOf;
  std::string class_name() const override { return "Masking"; }
  Tensors call(Call& c) override {
    const Tensor counts =
        any(not_equal(c.x(), o.options.mask_value), {.axis = -1, .keepdims = true});
    return {c.x() * cast(counts, c.x().dtype())};
  }
  Tensors compute_mask(const Tensors& in, const Tensors&) override {
    return {any(not_equal(in[0], o.options.mask_value), {.axis = -1})};
  }
};

struct ActivityRegularizationArguments {
  ActivityRegularizationOptions options = {};
};
template <class V>
void fields(V& v, Like<ActivityRegularizationArguments> auto& a) {
  v("l1", a.options.l1), v("l2", a.options.l2);
}

class ActivityRegularizationBody final : public BodyOf<ActivityRegularizationArguments> {
 public:
  explicit ActivityRegularizationBody(ActivityRegularizationArguments a) : BodyOf(std::move(a)) {
    activity_regularizer = L1L2(o.options.l1, o.options.l2);
  }
  std::string class_name() const override { return "ActivityRegularization"; }
  bool supports_masking() const override { return true; }
  Tensors call(Call& c) override { return {c.x()}; }
};

}  // namespace

Layer Dense(int64_t units, const DenseOptions& o) { return make_layer<DenseBody>({units, o}, o); }
Layer Activation(const ActivationFunction& activation, const PlainOptions& o) {
  return make_layer<ActivationBody>({activation}, o);
}
Layer Dropout(double rate, const DropoutLayerOptions& o) {
  return make_layer<DropoutBody>({rate, o}, o);
}
Layer SpatialDropout1D(double rate, const PlainOptions& o) {
  return make_layer<SpatialDropoutBody<1>>({rate, {}}, o);
}
Layer SpatialDropout2D(double rate, const SpatialDropoutOptions& o) {
  return make_layer<SpatialDropoutBody<2>>({rate, o}, o);
}
Layer SpatialDropout3D(double rate, const SpatialDropoutOptions& o) {
  return make_layer<SpatialDropoutBody<3>>({rate, o}, o);
}
Layer Flatten(const FlattenOptions& o) { return make_layer<FlattenBody>({o}, o); }
Layer Reshape(const Ints& target_shape, const PlainOptions& o) {
  return make_layer<ReshapeBody>({target_shape}, o);
}
Layer Permute(const Ints& dims, const PlainOptions& o) {
  return make_layer<PermuteBody>({dims}, o);
}
Layer RepeatVector(int64_t n, const PlainOptions& o) {
  return make_layer<RepeatVectorBody>({n}, o);
}
Layer Masking(const MaskingOptions& o) { return make_layer<MaskingBody>({o}, o); }
Layer ActivityRegularization(const ActivityRegularizationOptions& o) {
  return make_layer<ActivityRegularizationBody>({o}, o);
}

void add_core_layers(LayerTable& t) {
  t["Dense"] = make_from<DenseBody>;
  t["TimeDistributedDense"] = make_from<DenseBody>;  // of Keras 1
  t["Activation"] = make_from<ActivationBody>;
  t["Dropout"] = make_from<DropoutBody>;
  t["SpatialDropout1D"] = make_from<SpatialDropoutBody<1>>;
  t["SpatialDropout2D"] = make_from<SpatialDropoutBody<2>>;
  t["SpatialDropout3D"] = make_from<SpatialDropoutBody<3>>;
  t["Flatten"] = make_from<FlattenBody>;
  t["Reshape"] = make_from<ReshapeBody>;
  t["Permute"] = make_from<PermuteBody>;
  t["RepeatVector"] = make_from<RepeatVectorBody>;
  t["Masking"] = make_from<MaskingBody>;
  t["ActivityRegularization"] = make_from<ActivityRegularizationBody>;
}

}  // namespace horngate::keras
