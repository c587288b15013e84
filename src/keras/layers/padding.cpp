// Upsampling, zero padding, cropping.
#include <cmath>

#include "horngate/horngate.h"
#include "horngate/keras/layers_convolutional.h"
#include "keras/layers/keras1.h"
#include "keras/layers/spatial.h"

namespace horngate::keras {
namespace {

// ---- UpSampling

template <size_t N>
using UpSamplingOptions =
    std::conditional_t<N == 1, UpSampling1DOptions,
                       std::conditional_t<N == 2, UpSampling2DOptions, UpSampling3DOptions>>;
template <size_t N>
struct UpSamplingArguments {
  UpSamplingOptions<N> options = {};
};
template <class V>
void fields(V& v, LikeRank<UpSamplingArguments> auto& a) {
  auto& o = a.options;
  v("size", o.size);
  if constexpr (requires { o.data_format; }) v("data_format", o.data_format);
  if constexpr (requires { o.interpolation; }) v("interpolation", o.interpolation);
}

/// An axis made longer, pixels as tf.keras has them: their centres stay where they are, and beyond the outermost ones
/// the image goes on as it ends.
Tensor stretched(const Tensor& x, size_t axis, int64_t factor) {
  const auto part = [&](const Slice& along) {
    std::vector<Index> all(axis, Index(Slice{}));
    all.emplace_back(along);
    return getitem(x, all);
  };
  const auto at = static_cast<int64_t>(axis);
  const Tensor before = concatenate({part({.stop = 1}), part({.stop = -1})}, at);
  const Tensor after = concatenate({part({.start = 1}), part({.start = -1})}, at);
  Tensors phases;
  for (int64_t p = 0; p < factor; ++p) {
    const double shift = (static_cast<double>(p) + 0.5) / static_cast<double>(factor) - 0.5;
    phases.push_back((1.0 - std::abs(shift)) * x + std::abs(shift) * (shift < 0 ? before : after));
  }
  std::vector<ShapeArg::Entry> dims;
  for (size_t i = 0; i < x.ndim(); ++i) dims.push_back(size_of(x, i));
  const Dim length = x.shape()[axis];
  dims[axis] = length.known() ? ShapeArg::Entry(Dim(length.value() * factor))
                              : ShapeArg::Entry(index(shape(x), at) * factor);
  return reshape(stack(phases, at + 1), dims);
}

template <size_t N>
class UpSamplingBody final : public BodyOf<UpSamplingArguments<N>>, public OfTfKeras {
 public:
  explicit UpSamplingBody(UpSamplingArguments<N> a) : BodyOf<UpSamplingArguments<N>>(std::move(a)) {
    check_sizes(class_name(), "size", Sizes<N>(this->o.options.size));
    if constexpr (N > 1) settle(this->o.options.data_format);
    this->input_spec = {{.ndim = N + 2}};
  }
  std::string class_name() const override { return ranked("UpSampling", N); }
  Tensors call(Call& c) override {
    const auto& d = this->o.options;
    if constexpr (N == 1) return {repeat_elements(c.x(), d.size, 1)};
    if constexpr (N == 2) {
      if (is_of_tf_keras() && d.interpolation == Interpolation::bilinear) {
        const size_t rows = *d.data_format == DataFormat::channels_first ? 2 : 1;
        return {stretched(stretched(c.x(), rows, d.size[0]), rows + 1, d.size[1])};
      }
      return {resize_images(c.x(), d.size[0], d.size[1], *d.data_format, d.interpolation)};
    }
    if constexpr (N == 3)
      return {resize_volumes(c.x(), d.size[0], d.size[1], d.size[2], *d.data_format)};
  }
};

// ---- ZeroPadding

template <size_t N>
struct ZeroPaddingArguments {
  std::conditional_t<N == 1, ZeroPadding1DOptions, ZeroPaddingOptions<N>> options = {};
};
template <class V>
void fields(V& v, LikeRank<ZeroPaddingArguments> auto& a) {
  v("padding", a.options.padding);
  if constexpr (requires { a.options.data_format; }) v("data_format", a.options.data_format);
}

template <size_t N>
class ZeroPaddingBody final : public BodyOf<ZeroPaddingArguments<N>> {
 public:
  explicit ZeroPaddingBody(ZeroPaddingArguments<N> a)
      : BodyOf<ZeroPaddingArguments<N>>(std::move(a)) {
    auto& d = this->o.options;
    if constexpr (N == 1) {
      check_sizes(class_name(), "padding", d.padding, 0);
    } else {
      for (const Sizes<2>& pair : d.padding) check_sizes(class_name(), "padding", pair, 0);
      settle(d.data_format);
    }
    this->input_spec = {{.ndim = N + 2}};
  }
  std::string class_name() const override { return ranked("ZeroPadding", N); }
  Tensors call(Call& c) override {
    const auto& d = this->o.options;
    const auto& p = d.padding;
    if constexpr (N == 1) return {temporal_padding(c.x(), p)};
    if constexpr (N == 2)
      return {spatial_2d_padding(c.x(), {.padding = {p[0], p[1]}, .data_format = *d.data_format})};
    if constexpr (N == 3)
      return {spatial_3d_padding(c.x(),
                                 {.padding = {p[0], p[1], p[2]}, .data_format = *d.data_format})};
  }
};

// ---- Cropping

template <size_t N>
struct CroppingArguments {
  std::conditional_t<N == 1, Cropping1DOptions, CroppingOptions<N>> options = {};
};
template <class V>
void fields(V& v, LikeRank<CroppingArguments> auto& a) {
  v("cropping", a.options.cropping);
  if constexpr (requires { a.options.data_format; }) v("data_format", a.options.data_format);
}

template <size_t N>
class CroppingBody final : public BodyOf<CroppingArguments<N>> {
 public:
  explicit CroppingBody(CroppingArguments<N> a) : BodyOf<CroppingArguments<N>>(std::move(a)) {
    for (size_t i = 0; i < N; ++i) check_sizes(class_name(), "cropping", border(i), 0);
    if constexpr (N > 1) settle(this->o.options.data_format);
    this->input_spec = {{.ndim = N + 2}};
  }
  std::string class_name() const override { return ranked("Cropping", N); }
  Tensors call(Call& c) override {
    size_t axis = 1;
    if constexpr (N > 1) axis = first_axis(this->o.options.data_format);
    std::vector<Index> kept(N + 2, Slice{});
    for (size_t i = 0; i < N; ++i, ++axis) {
      const auto [start, end] = border(i);
      const Dim size = c.x().shape()[axis];
      if (size.known() && size.value() < start + end)
        throw ValueError(this->where() + "cropping must be at most " +
                         std::to_string(size.value()) + " along axis " + std::to_string(axis) +
                         "; got " + std::to_string(start) + " + " + std::to_string(end) + ".");
      kept[axis] = Slice{.start = start, .stop = end == 0 ? Bound() : Bound(-end)};
    }
    return {getitem(c.x(), kept)};
  }

 private:
  const std::array<int64_t, 2>& border(size_t i) const {
    if constexpr (N == 1) {
      return this->o.options.cropping;
    } else {
      return this->o.options.cropping[i];
    }
  }
};

}  // namespace

Layer UpSampling1D(const UpSampling1DOptions& o) { return make_layer<UpSamplingBody<1>>({o}, o); }
Layer UpSampling2D(const UpSampling2DOptions& o) { return make_layer<UpSamplingBody<2>>({o}, o); }
Layer UpSampling3D(const UpSampling3DOptions& o) { return make_layer<UpSamplingBody<3>>({o}, o); }
Layer ZeroPadding1D(const ZeroPadding1DOptions& o) {
  return make_layer<ZeroPaddingBody<1>>({o}, o);
}
Layer ZeroPadding2D(const ZeroPadding2DOptions& o) {
  return make_layer<ZeroPaddingBody<2>>({o}, o);
}
Layer ZeroPadding3D(const ZeroPadding3DOptions& o) {
  return make_layer<ZeroPaddingBody<3>>({o}, o);
}
Layer Cropping1D(const Cropping1DOptions& o) { return make_layer<CroppingBody<1>>({o}, o); }
Layer Cropping2D(const Cropping2DOptions& o) { return make_layer<CroppingBody<2>>({o}, o); }
Layer Cropping3D(const Cropping3DOptions& o) { return make_layer<CroppingBody<3>>({o}, o); }

void add_padding_layers(LayerTable& t) {
  t["UpSampling1D"] = make_from_any<UpSamplingBody<1>>;
  t["UpSampling2D"] = [](const Json& config, const LoadContext& context) {
    const auto body = make_from_any<UpSamplingBody<2>>(config, context);
    if (context.is_tf_keras && config.find("interpolation") &&
        *config.find("interpolation") == Json("bilinear"))
      dynamic_cast<OfTfKeras&>(*body).set_of_tf_keras();
    return body;
  };
  t["UpSampling3D"] = make_from_any<UpSamplingBody<3>>;
  t["ZeroPadding1D"] = make_from_any<ZeroPaddingBody<1>>;
  t["ZeroPadding2D"] = make_from_any<ZeroPaddingBody<2>>;
  t["ZeroPadding3D"] = make_from_any<ZeroPaddingBody<3>>;
  t["Cropping1D"] = make_from_any<CroppingBody<1>>;
  t["Cropping2D"] = make_from_any<CroppingBody<2>>;
  t["Cropping3D"] = make_from_any<CroppingBody<3>>;
}

}  // namespace horngate::keras
