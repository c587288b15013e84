// What convolutions share: checks, a bias, an activation.
#pragma once

#include <string>
#include <utility>

#include "keras/layers/spatial.h"

namespace horngate::keras {

/// The options of a layer with a kernel and a bias, from activation on.
template <class V>
void kernel_fields(V& v, auto& o) {
  v("activation", o.activation), v("use_bias", o.use_bias);
  v("kernel_initializer", o.kernel_initializer), v("bias_initializer", o.bias_initializer);
  v("kernel_regularizer", o.kernel_regularizer), v("bias_regularizer", o.bias_regularizer);
  v("activity_regularizer", o.activity_regularizer);
  v("kernel_constraint", o.kernel_constraint), v("bias_constraint", o.bias_constraint);
}

/// Arguments have kernel_size and options, with strides, padding, data_format, a bias and an activation.
template <class Arguments, size_t N>
class ConvolutionBody : public BodyOf<Arguments> {
 public:
  ConvolutionBody(Arguments a, std::string class_name,
                  std::initializer_list<Padding> paddings = {Padding::valid, Padding::same})
      : BodyOf<Arguments>(std::move(a)), class_name_(std::move(class_name)) {
    auto& d = this->o.options;
    settle(d.data_format);
    check_padding(d.padding, class_name_, paddings);
    check_sizes(class_name_, "kernel_size", this->o.kernel_size);
    check_sizes(class_name_, "strides", d.strides);
    if constexpr (requires { d.dilation_rate; })
      check_sizes(class_name_, "dilation_rate", d.dilation_rate);
    if constexpr (requires { this->o.filters; })
      check_positive(class_name_, "filters", this->o.filters);
    if constexpr (requires { d.depth_multiplier; })
      check_positive(class_name_, "depth_multiplier", d.depth_multiplier);
    this->activity_regularizer = d.activity_regularizer;
    this->input_spec = {{.ndim = N + 2}};
  }
  std::string class_name() const final { return class_name_; }

 protected:
  /// The number of channels, which later inputs must have too.
  int64_t channels_of(const Shape& in) {
    const size_t axis = channel_axis(this->o.options.data_format, N);
    if (!in[axis].known())
      throw ValueError(this->where() + "the channels of the input must be known; got shape " +
                       in.str() + ".");
    this->input_spec = {{.ndim = N + 2, .axes = {{static_cast<int64_t>(axis), in.dim(axis)}}}};
    return in.dim(axis);
  }
  /// kernel_size, then these.
  Shape kernel_shape(int64_t before_last, int64_t last) const {
    Ints dims(this->o.kernel_size.begin(), this->o.kernel_size.end());
    dims.push_back(before_last), dims.push_back(last);
    return Shape(dims);
  }
  Variable add_kernel(const Shape& shape) {
    const auto& d = this->o.options;
    return this->add_weight("kernel", shape,
                            {.initializer = d.kernel_initializer,
                             .regularizer = d.kernel_regularizer,
                             .constraint = d.kernel_constraint});
  }
  void add_bias(const Shape& shape) {
    const auto& d = this->o.options;
    if (d.use_bias)
      bias_ = this->add_weight("bias", shape,
                               {.initializer = d.bias_initializer,
                                .regularizer = d.bias_regularizer,
                                .constraint = d.bias_constraint});
  }
  /// With the bias and the activation.
  Tensors finished(Tensor y) const {
    const auto& d = this->o.options;
    if (bias_.defined()) y = bias_add(y, bias_, *d.data_format);
    return {d.activation ? d.activation(y) : y};
  }

 private:
  std::string class_name_;
  Variable bias_;
};

}  // namespace horngate::keras
