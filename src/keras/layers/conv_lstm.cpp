// ConvRNN2D, ConvLSTM2D and its cell.
#include <array>

#include "horngate/config.h"
#include "keras/layers/recurrent.h"

namespace horngate::keras {
namespace {

struct ConvLSTM2DCellArguments {
  int64_t filters = 0;
  Sizes<2> kernel_size = 1;
  ConvLSTM2DCellOptions options = {};
};

template <class V>
void conv_fields(V& v, auto& a) {
  auto& o = a.options;
  v.required("filters", a.filters), v.required("kernel_size", a.kernel_size);
  v("strides", o.strides), v("padding", o.padding), v("data_format", o.data_format);
  v("dilation_rate", o.dilation_rate);
  cell_fields(v, o);
}
template <class V>
void fields(V& v, Like<ConvLSTM2DCellArguments> auto& a) {
  conv_fields(v, a);
}

/// Gates in the order input, forget, new state, output.
class ConvLSTM2DCellBody final : public CellOf<ConvLSTM2DCellArguments, ConvLSTM2DCellBody> {
 public:
  explicit ConvLSTM2DCellBody(ConvLSTM2DCellArguments a) : CellOf(std::move(a)) {
    check_units("ConvLSTM2DCell", "filters", o.filters);
    for (const int64_t n : o.kernel_size) check_positive("ConvLSTM2DCell", "kernel_size", n);
    check_padding(o.options.padding, "ConvLSTM2DCell");
    for (const int64_t n : o.options.strides) check_positive("ConvLSTM2DCell", "strides", n);
    for (const int64_t n : o.options.dilation_rate)
      check_positive("ConvLSTM2DCell", "dilation_rate", n);
    if (!o.options.data_format) o.options.data_format = image_data_format();
  }
  std::string class_name() const override { return "ConvLSTM2DCell"; }
  Ints state_size() const override { return {o.filters, o.filters}; }
  size_t channel_axis() const {
    return *o.options.data_format == DataFormat::channels_first ? 1 : 3;
  }
  void build(const Shapes& in) override {
    if (in[0].ndim() != 4)
      throw ValueError(where() + "a ConvLSTM2DCell must have images as input; got shape " +
                       in[0].str() + ".");
    const int64_t channels = in[0].dim(channel_axis()), all = 4 * o.filters;
    if (channels < 0)
      throw ValueError(where() + "the number of channels must be known; got " + in[0].str() + ".");
    kernel_ = add_kernel(kernel_shape(channels, all));
    recurrent_ =
        add_recurrent_kernel(kernel_shape(o.filters, all), o.options.recurrent_initializer);
    const Initializer& bias = o.options.bias_initializer;
    if (o.options.use_bias)
      bias_ =
          add_bias({all}, o.options.unit_forget_bias ? with_forget_bias(bias, o.filters) : bias);
  }
  RnnStep step(const Tensor& x, const Tensors& states, const Tensors&) override {
    const ConvLSTM2DCellOptions& d = o.options;
    prepare(x, states[1], 4);
    std::array<Tensor, 4> z;
    for (size_t i = 0; i < 4; ++i) {
      const auto g = static_cast<int64_t>(i);
      z[i] = input_conv(dropped(x, i), gate(kernel_, o.filters, g));
      if (bias_.defined()) z[i] = bias_add(z[i], gate(bias_, o.filters, g), *d.data_format);
      z[i] = z[i] + conv2d(recurrent_dropped(states[0], i), gate(recurrent_, o.filters, g),
                           {.padding = Padding::same, .data_format = *d.data_format});
    }
    const Tensor in = activated(d.recurrent_activation, z[0]);
    const Tensor forget = activated(d.recurrent_activation, z[1]);
    const Tensor c = forget * states[1] + in * activated(d.activation, z[2]);
    const Tensor h = activated(d.recurrent_activation, z[3]) * activated(d.activation, c);
    return {h, {h, c}};
  }
  /// What a state looks like for one time step of the input: zeros.
  Tensor zero_state(const Tensor& x) const {
    const Shape shape = kernel_shape(x.shape().dim(channel_axis()), o.filters);
    return input_conv(x, constant(Array::zeros(x.dtype(), shape.dims())));
  }

 private:
  Shape kernel_shape(int64_t in, int64_t out) const {
    return Shape(Ints{o.kernel_size[0], o.kernel_size[1], in, out});
  }
  Tensor input_conv(const Tensor& x, const Tensor& kernel) const {
    const ConvLSTM2DCellOptions& d = o.options;
    return conv2d(x, kernel,
                  {.strides = d.strides,
                   .padding = d.padding,
                   .data_format = *d.data_format,
                   .dilation_rate = d.dilation_rate});
  }

  Variable kernel_, recurrent_, bias_;
};

/// States are images, as large as the convolution leaves them.
template <class Base>
class Convolutional : public Base {
 protected:
  using Base::Base;
  size_t ndim() const override { return 5; }
  int64_t state_axis() const override { return static_cast<int64_t>(conv().channel_axis()); }
  Tensors zero_states(const Tensor& x) const override {
    const Tensor zero = conv().zero_state(sum(zeros_like(x), {.axis = 1}));
    return {zero, zero};
  }
  Shapes state_shapes(const Shape& x) const override {
    Ints step{x.dims().begin(), x.dims().end()};
    step.erase(step.begin() + 1);
    const Shape one = conv().zero_state(placeholder({.shape = Shape(step)})).shape();
    return {one, one};
  }
  const ConvLSTM2DCellBody& conv() const {
    return static_cast<const ConvLSTM2DCellBody&>(*this->cell());
  }
};

class ConvRNN2DBody final : public Convolutional<RecurrentBody> {
 public:
  ConvRNN2DBody(std::shared_ptr<Cell> cell, const RecurrentFlags& flags)
      : Convolutional(std::move(cell), flags, Owner::user) {
    if (!dynamic_cast<ConvLSTM2DCellBody*>(this->cell().get()))
      throw TypeError("ConvRNN2D: cell must be a ConvLSTM2DCell; got a " +
                      this->cell()->class_name() + ".");
    if (flags.unroll) throw ValueError("ConvRNN2D: unroll must be false; got true.");
  }
  std::string class_name() const override { return "ConvRNN2D"; }
  Json config() const override {
    Json config;
    Writer writer{config};
    flag_fields(writer, flags());
    config.set("cell", class_config(cell()->class_name().c_str(), cell()->full_config()));
    return config;
  }
  std::shared_ptr<RecurrentBody> reversed() const override {
    RecurrentFlags f = flags();
    f.go_backwards = !f.go_backwards;
    return std::make_shared<ConvRNN2DBody>(cell()->copy(), f);
  }
  static std::shared_ptr<Body> from(const Json& config, const LoadContext& context) {
    LayerOptions common = read_common(config);
    RecurrentFlags flags;
    Reader reader{config, common.name};
    flag_fields(reader, flags);
    auto body = std::make_shared<ConvRNN2DBody>(
        cell_from(config.at("cell", common.name), context, common.name), flags);
    body->set_options(std::move(common));
    return body;
  }
};

struct ConvLSTM2DArguments {
  int64_t filters = 0;
  Sizes<2> kernel_size = 1;
  ConvLSTM2DOptions options = {};
};
template <class V>
void fields(V& v, Like<ConvLSTM2DArguments> auto& a) {
  flag_fields(v, a.options);
  conv_fields(v, a);
}

ConvLSTM2DCellArguments cell_arguments(const ConvLSTM2DArguments& a) {
  ConvLSTM2DCellArguments c{a.filters, a.kernel_size,
                            cell_options<ConvLSTM2DCellOptions>(a.options)};
  c.options.strides = a.options.strides;
  c.options.padding = a.options.padding;
  c.options.data_format = a.options.data_format;
  c.options.dilation_rate = a.options.dilation_rate;
  return c;
}

class ConvLSTM2DBody final : public Convolutional<RecurrentOf<ConvLSTM2DArguments>> {
 public:
  explicit ConvLSTM2DBody(const ConvLSTM2DArguments& a)
      : Convolutional(a, std::make_shared<ConvLSTM2DCellBody>(cell_arguments(a))) {
    if (!o.options.data_format) o.options.data_format = image_data_format();
  }
  std::string class_name() const override { return "ConvLSTM2D"; }
  std::shared_ptr<RecurrentBody> reversed() const override {
    return reversed_of<ConvLSTM2DBody>(o);
  }
};

}  // namespace

Layer ConvLSTM2DCell(int64_t filters, const Sizes<2>& kernel_size, const ConvLSTM2DCellOptions& o) {
  return make_layer<ConvLSTM2DCellBody>({filters, kernel_size, o}, o);
}
Layer ConvRNN2D(const Layer& cell, const RNNOptions& o) {
  auto body = std::make_shared<ConvRNN2DBody>(cell_of(cell, "ConvRNN2D"), flags_of(o));
  body->set_options(common_options(o));
  return Layer(std::move(body));
}
Layer ConvLSTM2D(int64_t filters, const Sizes<2>& kernel_size, const ConvLSTM2DOptions& o) {
  return make_layer<ConvLSTM2DBody>({filters, kernel_size, o}, o);
}

void add_conv_lstm_layers(LayerTable& t) {
  t["ConvLSTM2DCell"] = make_from<ConvLSTM2DCellBody>;
  t["ConvRNN2D"] = ConvRNN2DBody::from;
  t["ConvLSTM2D"] = recurrent_from<ConvLSTM2DBody>;
}

}  // namespace horngate::keras
