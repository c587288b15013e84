// Convolutions of series, images and volumes.
#include "horngate/keras/layers_convolutional.h"

#include <algorithm>

#include "horngate/horngate.h"
#include "keras/layers/convolution_body.h"
#include "keras/layers/keras1.h"

namespace horngate::keras {
namespace {

/// The options of K's convolution of that rank.
template <size_t N>
auto k_options(const auto& o) {
  if constexpr (N == 1) {
    return Conv1dOptions{o.strides[0], o.padding, *o.data_format, o.dilation_rate[0]};
  } else {
    using Options = std::conditional_t<N == 2, Conv2dOptions, Conv3dOptions>;
    return Options{o.strides, o.padding, *o.data_format, o.dilation_rate};
  }
}

// ---- Conv

template <size_t N>
struct ConvArguments {
  int64_t filters = 0;
  Sizes<N> kernel_size = 1;
  ConvOptions<N> options = {};
};
template <class V>
void fields(V& v, LikeRank<ConvArguments> auto& a) {
  auto& o = a.options;
  v.required("filters", a.filters), v.required("kernel_size", a.kernel_size);
  v("strides", o.strides), v("padding", o.padding), v("data_format", o.data_format);
  v("dilation_rate", o.dilation_rate);
  kernel_fields(v, o);
  v.must_be("groups", 1);  // of tf.keras
}

template <size_t N>
class ConvBody final : public ConvolutionBody<ConvArguments<N>, N> {
  using Base = ConvolutionBody<ConvArguments<N>, N>;
  using Base::o;

 public:
  explicit ConvBody(ConvArguments<N> a) : Base(std::move(a), ranked("Conv", N), paddings()) {
    if (o.options.padding == Padding::causal && *o.options.data_format != DataFormat::channels_last)
      throw ValueError(
          "Conv1D: data_format must be \"channels_last\" with causal padding; got "
          "\"channels_first\".");
  }
  void build(const Shapes& in) override {
    kernel_ = this->add_kernel(this->kernel_shape(this->channels_of(in[0]), o.filters));
    this->add_bias({o.filters});
  }
  Tensors call(Call& c) override {
    const auto options = k_options<N>(o.options);
    if constexpr (N == 1) return this->finished(conv1d(c.x(), kernel_, options));
    if constexpr (N == 2) return this->finished(conv2d(c.x(), kernel_, options));
    if constexpr (N == 3) return this->finished(conv3d(c.x(), kernel_, options));
  }

 private:
  static std::initializer_list<Padding> paddings() {
    static constexpr std::initializer_list<Padding> kSeries = {Padding::valid, Padding::same,
                                                               Padding::causal};
    static constexpr std::initializer_list<Padding> kOther = {Padding::valid, Padding::same};
    return N == 1 ? kSeries : kOther;
  }
  Variable kernel_;
};

// ---- ConvTranspose

template <size_t N>
struct ConvTransposeArguments {
  int64_t filters = 0;
  Sizes<N> kernel_size = 1;
  std::conditional_t<N == 2, Conv2DTransposeOptions, Conv3DTransposeOptions> options = {};
};
template <class V>
void fields(V& v, LikeRank<ConvTransposeArguments> auto& a) {
  auto& o = a.options;
  v.required("filters", a.filters), v.required("kernel_size", a.kernel_size);
  v("strides", o.strides), v("padding", o.padding), v("output_padding", o.output_padding);
  v("data_format", o.data_format);
  if constexpr (requires { o.dilation_rate; }) {
    v("dilation_rate", o.dilation_rate);
  } else {
    v.must_be("dilation_rate", Json::List{1, 1, 1});
  }
  kernel_fields(v, o);
  v.must_be("groups", 1);
}

template <size_t N>
class ConvTransposeBody final : public ConvolutionBody<ConvTransposeArguments<N>, N> {
  using Base = ConvolutionBody<ConvTransposeArguments<N>, N>;
  using Base::o;

 public:
  explicit ConvTransposeBody(ConvTransposeArguments<N> a)
      : Base(std::move(a), ranked("Conv", N) + "Transpose") {
    const auto& more = o.options.output_padding;
    if (!more) return;
    check_sizes(this->class_name(), "output_padding", *more, 0);
    for (size_t i = 0; i < N; ++i)
      if ((*more)[i] >= o.options.strides[i])
        throw ValueError(this->class_name() + ": output_padding must be smaller than strides, " +
                         to_json(o.options.strides).dump() + "; got " + to_json(*more).dump() +
                         ".");
  }
  void build(const Shapes& in) override {
    kernel_ = this->add_kernel(this->kernel_shape(o.filters, this->channels_of(in[0])));
    this->add_bias({o.filters});
  }
  Tensors call(Call& c) override {
    const auto& d = o.options;
    std::vector<ShapeArg::Entry> out(N + 2, None);
    out[channel_axis(d.data_format, N)] = o.filters;
    for (size_t i = 0; i < N; ++i) {
      const size_t axis = first_axis(d.data_format) + i;
      out[axis] = length(c.x(), axis, i);
    }
    if constexpr (N == 2) {
      return this->finished(conv2d_transpose(c.x(), kernel_, out, k_options<2>(d)));
    } else {
      return this->finished(
          conv3d_transpose(c.x(), kernel_, out, {d.strides, d.padding, *d.data_format}));
    }
  }

 private:
  /// size * stride + more: the shortest that the convolution takes to `size`, unless output_padding says.
  ShapeArg::Entry length(const Tensor& x, size_t axis, size_t i) const {
    const auto& d = o.options;
    const int64_t stride = d.strides[i];
    int64_t window = o.kernel_size[i];
    if constexpr (requires { d.dilation_rate; }) window = (window - 1) * d.dilation_rate[i] + 1;
    const bool same = d.padding == Padding::same;
    int64_t more = same ? 0 : std::max<int64_t>(window - stride, 0);
    if (d.output_padding)
      more = window - stride - (same ? window / 2 * 2 : 0) + (*d.output_padding)[i];
    const Dim size = x.shape()[axis];
    if (size.known()) return checked_product(Ints{size.value(), stride}) + more;
    return index(shape(x), static_cast<int64_t>(axis)) * stride + more;
  }
  Variable kernel_;
};

// ---- SeparableConv

template <size_t N>
struct SeparableConvArguments {
  int64_t filters = 0;
  Sizes<N> kernel_size = 1;
  SeparableConvOptions<N> options = {};
};
template <class V>
void fields(V& v, LikeRank<SeparableConvArguments> auto& a) {
  auto& o = a.options;
  v.required("filters", a.filters), v.required("kernel_size", a.kernel_size);
  v("strides", o.strides), v("padding", o.padding), v("data_format", o.data_format);
  v("dilation_rate", o.dilation_rate), v("depth_multiplier", o.depth_multiplier);
  v("activation", o.activation), v("use_bias", o.use_bias);
  v("depthwise_initializer", o.depthwise_initializer);
  v("pointwise_initializer", o.pointwise_initializer), v("bias_initializer", o.bias_initializer);
  v("depthwise_regularizer", o.depthwise_regularizer);
  v("pointwise_regularizer", o.pointwise_regularizer), v("bias_regularizer", o.bias_regularizer);
  v("activity_regularizer", o.activity_regularizer);
  v("depthwise_constraint", o.depthwise_constraint);
  v("pointwise_constraint", o.pointwise_constraint), v("bias_constraint", o.bias_constraint);
  v.must_be("groups", 1);
}

template <size_t N>
class SeparableConvBody final : public ConvolutionBody<SeparableConvArguments<N>, N> {
  using Base = ConvolutionBody<SeparableConvArguments<N>, N>;
  using Base::o;

 public:
  explicit SeparableConvBody(SeparableConvArguments<N> a)
      : Base(std::move(a), ranked("SeparableConv", N)) {}
  void build(const Shapes& in) override {
    const auto& d = o.options;
    const int64_t channels = this->channels_of(in[0]);
    depthwise_ =
        this->add_weight("depthwise_kernel", this->kernel_shape(channels, d.depth_multiplier),
                         {.initializer = d.depthwise_initializer,
                          .regularizer = d.depthwise_regularizer,
                          .constraint = d.depthwise_constraint});
    Ints mixing(N, 1);
    mixing.push_back(checked_product(Ints{channels, d.depth_multiplier}));
    mixing.push_back(o.filters);
    pointwise_ = this->add_weight("pointwise_kernel", Shape(mixing),
                                  {.initializer = d.pointwise_initializer,
                                   .regularizer = d.pointwise_regularizer,
                                   .constraint = d.pointwise_constraint});
    this->add_bias({o.filters});
  }
  Tensors call(Call& c) override {
    const auto options = k_options<N>(o.options);
    if constexpr (N == 1)
      return this->finished(separable_conv1d(c.x(), depthwise_, pointwise_, options));
    if constexpr (N == 2)
      return this->finished(separable_conv2d(c.x(), depthwise_, pointwise_, options));
  }

 private:
  Variable depthwise_, pointwise_;
};

// ---- DepthwiseConv2D

struct DepthwiseConv2DArguments {
  Sizes<2> kernel_size = 1;
  DepthwiseConv2DOptions options = {};
};
template <class V>
void fields(V& v, Like<DepthwiseConv2DArguments> auto& a) {
  auto& o = a.options;
  v.required("kernel_size", a.kernel_size);
  v("strides", o.strides), v("padding", o.padding), v("depth_multiplier", o.depth_multiplier);
  v("data_format", o.data_format), v("dilation_rate", o.dilation_rate);
  v("activation", o.activation), v("use_bias", o.use_bias);
  v("depthwise_initializer", o.depthwise_initializer), v("bias_initializer", o.bias_initializer);
  v("depthwise_regularizer", o.depthwise_regularizer), v("bias_regularizer", o.bias_regularizer);
  v("activity_regularizer", o.activity_regularizer);
  v("depthwise_constraint", o.depthwise_constraint), v("bias_constraint", o.bias_constraint);
  v.must_be("groups", 1);
}

class DepthwiseConv2DBody final : public ConvolutionBody<DepthwiseConv2DArguments, 2> {
 public:
  explicit DepthwiseConv2DBody(DepthwiseConv2DArguments a)
      : ConvolutionBody(std::move(a), "DepthwiseConv2D") {}
  void build(const Shapes& in) override {
    const DepthwiseConv2DOptions& d = o.options;
    const int64_t channels = channels_of(in[0]);
    kernel_ = add_weight("depthwise_kernel", kernel_shape(channels, d.depth_multiplier),
                         {.initializer = d.depthwise_initializer,
                          .regularizer = d.depthwise_regularizer,
                          .constraint = d.depthwise_constraint});
    add_bias({checked_product(Ints{channels, d.depth_multiplier})});
  }
  Tensors call(Call& c) override {
    return finished(depthwise_conv2d(c.x(), kernel_, k_options<2>(o.options)));
  }

 private:
  Variable kernel_;
};

}  // namespace

Layer Conv1D(int64_t filters, const Sizes<1>& kernel_size, const Conv1DOptions& o) {
  return make_layer<ConvBody<1>>({filters, kernel_size, o}, o);
}
Layer Conv2D(int64_t filters, const Sizes<2>& kernel_size, const Conv2DOptions& o) {
  return make_layer<ConvBody<2>>({filters, kernel_size, o}, o);
}
Layer Conv3D(int64_t filters, const Sizes<3>& kernel_size, const Conv3DOptions& o) {
  return make_layer<ConvBody<3>>({filters, kernel_size, o}, o);
}
Layer Conv2DTranspose(int64_t filters, const Sizes<2>& kernel_size,
                      const Conv2DTransposeOptions& o) {
  return make_layer<ConvTransposeBody<2>>({filters, kernel_size, o}, o);
}
Layer Conv3DTranspose(int64_t filters, const Sizes<3>& kernel_size,
                      const Conv3DTransposeOptions& o) {
  return make_layer<ConvTransposeBody<3>>({filters, kernel_size, o}, o);
}
Layer SeparableConv1D(int64_t filters, const Sizes<1>& kernel_size,
                      const SeparableConv1DOptions& o) {
  return make_layer<SeparableConvBody<1>>({filters, kernel_size, o}, o);
}
Layer SeparableConv2D(int64_t filters, const Sizes<2>& kernel_size,
                      const SeparableConv2DOptions& o) {
  return make_layer<SeparableConvBody<2>>({filters, kernel_size, o}, o);
}
Layer DepthwiseConv2D(const Sizes<2>& kernel_size, const DepthwiseConv2DOptions& o) {
  return make_layer<DepthwiseConv2DBody>({kernel_size, o}, o);
}

void add_convolutional_layers(LayerTable& t) {
  for (const char* name : {"Conv1D", "Convolution1D", "AtrousConvolution1D"})
    t[name] = make_from_any<ConvBody<1>>;
  for (const char* name : {"Conv2D", "Convolution2D", "AtrousConvolution2D"})
    t[name] = make_from_any<ConvBody<2>>;
  t["Conv3D"] = t["Convolution3D"] = make_from_any<ConvBody<3>>;
  for (const char* name :
       {"Conv2DTranspose", "Convolution2DTranspose", "Deconvolution2D", "Deconv2D"})
    t[name] = make_from_any<ConvTransposeBody<2>>;
  for (const char* name :
       {"Conv3DTranspose", "Convolution3DTranspose", "Deconvolution3D", "Deconv3D"})
    t[name] = make_from_any<ConvTransposeBody<3>>;
  t["SeparableConv1D"] = t["SeparableConvolution1D"] = make_from_any<SeparableConvBody<1>>;
  t["SeparableConv2D"] = t["SeparableConvolution2D"] = make_from_any<SeparableConvBody<2>>;
  t["DepthwiseConv2D"] = make_from_any<DepthwiseConv2DBody>;
}

}  // namespace horngate::keras
