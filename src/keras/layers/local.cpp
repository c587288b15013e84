// Convolutions with other weights at each position.
#include "horngate/keras/layers_local.h"

#include "horngate/horngate.h"
#include "keras/layers/convolution_body.h"
#include "keras/layers/keras1.h"

namespace horngate::keras {
namespace {

template <size_t N>
struct LocallyConnectedArguments {
  int64_t filters = 0;
  Sizes<N> kernel_size = 1;
  LocallyConnectedOptions<N> options = {};

  /// Keras takes any data_format for series, and goes by channels_last.
  LocallyConnectedArguments settled() && {
    if (N == 1 && !options.data_format) options.data_format = DataFormat::channels_last;
    return std::move(*this);
  }
};
template <class V, LikeRank<LocallyConnectedArguments> A>
void fields(V& v, A& a) {
  auto& o = a.options;
  v.required("filters", a.filters), v.required("kernel_size", a.kernel_size);
  v("strides", o.strides), v("padding", o.padding);
  if constexpr (std::is_same_v<std::remove_const_t<A>, LocallyConnectedArguments<1>>) {
    v.must_be("data_format", "channels_last");  // tf.keras writes it
  } else {
    v("data_format", o.data_format);
  }
  kernel_fields(v, o);
  v.must_be("implementation", 1);  // of tf.keras: the others have kernels of other shapes
}

template <size_t N>
class LocallyConnectedBody final : public ConvolutionBody<LocallyConnectedArguments<N>, N> {
  using Base = ConvolutionBody<LocallyConnectedArguments<N>, N>;
  using Base::o;

 public:
  explicit LocallyConnectedBody(LocallyConnectedArguments<N> a)
      : Base(std::move(a).settled(), ranked("LocallyConnected", N), {Padding::valid}) {
    if (N == 1 && *o.options.data_format != DataFormat::channels_last)
      throw ValueError(
          "LocallyConnected1D: data_format must be \"channels_last\"; got \"channels_first\".");
  }
  void build(const Shapes& in) override {
    const int64_t channels = this->channels_of(in[0]);
    Ints window(o.kernel_size.begin(), o.kernel_size.end());
    window.push_back(channels);
    Ints bias;
    for (size_t i = 0; i < N; ++i) {
      const Dim size = in[0][first_axis(o.options.data_format) + i];
      if (!size.known() || size.value() < o.kernel_size[i])
        throw ValueError(this->where() +
                         "the spatial sizes of the input must be known and at least "
                         "kernel_size, " +
                         to_json(o.kernel_size).dump() + "; got shape " + in[0].str() + ".");
      positions_[i] = (size.value() - o.kernel_size[i]) / o.options.strides[i] + 1;
      bias.push_back(positions_[i]);
    }
    kernel_ = this->add_kernel({checked_product(bias), checked_product(window), o.filters});
    bias.push_back(o.filters);
    this->add_bias(Shape(bias));
  }
  Tensors call(Call& c) override {
    const auto& d = o.options;
    if constexpr (N == 1) {
      return this->finished(local_conv1d(c.x(), kernel_, o.kernel_size[0], d.strides[0]));
    } else {
      return this->finished(
          local_conv2d(c.x(), kernel_, o.kernel_size, d.strides, positions_, *d.data_format));
    }
  }

 private:
  std::array<int64_t, N> positions_ = {};
  Variable kernel_;
};

}  // namespace

Layer LocallyConnected1D(int64_t filters, const Sizes<1>& kernel_size,
                         const LocallyConnected1DOptions& o) {
  return make_layer<LocallyConnectedBody<1>>({filters, kernel_size, o}, o);
}
Layer LocallyConnected2D(int64_t filters, const Sizes<2>& kernel_size,
                         const LocallyConnected2DOptions& o) {
  return make_layer<LocallyConnectedBody<2>>({filters, kernel_size, o}, o);
}

void add_local_layers(LayerTable& t) {
  t["LocallyConnected1D"] = make_from_any<LocallyConnectedBody<1>>;
  t["LocallyConnected2D"] = make_from_any<LocallyConnectedBody<2>>;
}

}  // namespace horngate::keras
