// The largest or the mean of windows, or of all positions.
#include "horngate/keras/layers_pooling.h"

#include "horngate/horngate.h"
#include "keras/layers/keras1.h"
#include "keras/layers/spatial.h"

namespace horngate::keras {
namespace {

const char* name_in_classes(PoolMode mode) { return mode == PoolMode::max ? "Max" : "Average"; }

// ---- Windows

template <size_t N>
struct PoolingArguments {
  PoolingOptions<N> options = {};
};
template <class V>
void fields(V& v, LikeRank<PoolingArguments> auto& a) {
  auto& o = a.options;
  v("pool_size", o.pool_size), v("strides", o.strides), v("padding", o.padding);
  v("data_format", o.data_format);
}

template <PoolMode kMode, size_t N>
class PoolingBody final : public BodyOf<PoolingArguments<N>> {
 public:
  explicit PoolingBody(PoolingArguments<N> a) : BodyOf<PoolingArguments<N>>(std::move(a)) {
    auto& d = this->o.options;
    if (!d.strides) d.strides = d.pool_size;
    settle(d.data_format);
    check_padding(d.padding, class_name());
    check_sizes(class_name(), "pool_size", d.pool_size);
    check_sizes(class_name(), "strides", *d.strides);
    this->input_spec = {{.ndim = N + 2}};
  }
  std::string class_name() const override { return name_in_classes(kMode) + ranked("Pooling", N); }
  Tensors call(Call& c) override {
    const auto& [pool, strides, padding, format] = chosen();
    if constexpr (N == 1) {  // images of one column
      const auto column = static_cast<int64_t>(first_axis(format)) + 1;
      const Tensor y = pool2d(expand_dims(c.x(), column), {pool[0], 1},
                              {{(*strides)[0], 1}, padding, *format, kMode});
      return {squeeze(y, column)};
    }
    if constexpr (N == 2) return {pool2d(c.x(), pool, {*strides, padding, *format, kMode})};
    if constexpr (N == 3) return {pool3d(c.x(), pool, {*strides, padding, *format, kMode})};
  }

 private:
  auto chosen() const {
    const auto& d = this->o.options;
    return std::tie(d.pool_size, d.strides, d.padding, d.data_format);
  }
};

// ---- All positions

template <size_t N>
struct GlobalPoolingArguments {
  GlobalPoolingOptions<N> options = {};
};
template <class V>
void fields(V& v, LikeRank<GlobalPoolingArguments> auto& a) {
  v("data_format", a.options.data_format);
  v.must_be("keepdims", false);  // of tf.keras
}

template <PoolMode kMode, size_t N>
class GlobalPoolingBody final : public BodyOf<GlobalPoolingArguments<N>> {
  static constexpr bool kMasked = kMode == PoolMode::avg && N == 1;

 public:
  explicit GlobalPoolingBody(GlobalPoolingArguments<N> a)
      : BodyOf<GlobalPoolingArguments<N>>(std::move(a)) {
    settle(this->o.options.data_format);
    this->input_spec = {{.ndim = N + 2}};
  }
  std::string class_name() const override {
    return std::string("Global") + name_in_classes(kMode) + ranked("Pooling", N);
  }
  bool supports_masking() const override { return kMasked; }
  Tensors compute_mask(const Tensors& in, const Tensors& masks) override {
    if (kMasked) return {};  // there are no steps any more
    return Body::compute_mask(in, masks);
  }
  Tensors call(Call& c) override {
    const auto first = static_cast<int64_t>(first_axis(this->o.options.data_format));
    Ints axes;
    for (size_t i = 0; i < N; ++i) axes.push_back(first + static_cast<int64_t>(i));
    if (kMode == PoolMode::max) return {max(c.x(), {.axis = axes})};
    if (!kMasked || !c.mask().defined()) return {mean(c.x(), {.axis = axes})};
    const Tensor counts = expand_dims(cast(c.mask(), c.x().dtype()), first == 1 ? 2 : 1);
    return {sum(c.x() * counts, {.axis = axes}) / sum(counts, {.axis = axes})};
  }
};

template <size_t N>
constexpr auto kMax = make_from_any<PoolingBody<PoolMode::max, N>>;
template <size_t N>
constexpr auto kAverage = make_from_any<PoolingBody<PoolMode::avg, N>>;
template <size_t N>
constexpr auto kGlobalMax = make_from_any<GlobalPoolingBody<PoolMode::max, N>>;
template <size_t N>
constexpr auto kGlobalAverage = make_from_any<GlobalPoolingBody<PoolMode::avg, N>>;

template <size_t N>
void add_of_rank(LayerTable& t) {
  const std::string rank = std::to_string(N) + "D";
  t["MaxPooling" + rank] = t["MaxPool" + rank] = kMax<N>;
  t["AveragePooling" + rank] = t["AvgPool" + rank] = kAverage<N>;
  t["GlobalMaxPooling" + rank] = t["GlobalMaxPool" + rank] = kGlobalMax<N>;
  t["GlobalAveragePooling" + rank] = t["GlobalAvgPool" + rank] = kGlobalAverage<N>;
}

}  // namespace

Layer MaxPooling1D(const Pooling1DOptions& o) {
  return make_layer<PoolingBody<PoolMode::max, 1>>({o}, o);
}
Layer MaxPooling2D(const Pooling2DOptions& o) {
  return make_layer<PoolingBody<PoolMode::max, 2>>({o}, o);
}
Layer MaxPooling3D(const Pooling3DOptions& o) {
  return make_layer<PoolingBody<PoolMode::max, 3>>({o}, o);
}
Layer AveragePooling1D(const Pooling1DOptions& o) {
  return make_layer<PoolingBody<PoolMode::avg, 1>>({o}, o);
}
Layer AveragePooling2D(const Pooling2DOptions& o) {
  return make_layer<PoolingBody<PoolMode::avg, 2>>({o}, o);
}
Layer AveragePooling3D(const Pooling3DOptions& o) {
  return make_layer<PoolingBody<PoolMode::avg, 3>>({o}, o);
}
Layer GlobalMaxPooling1D(const GlobalPooling1DOptions& o) {
  return make_layer<GlobalPoolingBody<PoolMode::max, 1>>({o}, o);
}
Layer GlobalMaxPooling2D(const GlobalPooling2DOptions& o) {
  return make_layer<GlobalPoolingBody<PoolMode::max, 2>>({o}, o);
}
Layer GlobalMaxPooling3D(const GlobalPooling3DOptions& o) {
  return make_layer<GlobalPoolingBody<PoolMode::max, 3>>({o}, o);
}
Layer GlobalAveragePooling1D(const GlobalPooling1DOptions& o) {
  return make_layer<GlobalPoolingBody<PoolMode::avg, 1>>({o}, o);
}
Layer GlobalAveragePooling2D(const GlobalPooling2DOptions& o) {
  return make_layer<GlobalPoolingBody<PoolMode::avg, 2>>({o}, o);
}
Layer GlobalAveragePooling3D(const GlobalPooling3DOptions& o) {
  return make_layer<GlobalPoolingBody<PoolMode::avg, 3>>({o}, o);
}

void add_pooling_layers(LayerTable& t) {
  add_of_rank<1>(t);
  add_of_rank<2>(t);
  add_of_rank<3>(t);
}

}  // namespace horngate::keras
