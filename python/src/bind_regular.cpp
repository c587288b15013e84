// Functions whose arguments convert by the table in tools/bindings.py. Made by `make generate` from the headers
// and python/horngate/; do not edit.
// clang-format off
#include "horngate/ops/conv.h"
#include "horngate/ops/elementwise.h"
#include "horngate/ops/functional.h"
#include "horngate/ops/linalg.h"
#include "horngate/ops/nn.h"
#include "horngate/ops/random.h"
#include "horngate/ops/shape.h"
#include "horngate/ops/values.h"
#include "horngate/ops/variables.h"

#include "call.h"
#include "sections.h"

namespace horngate::python {

void bind_regular(nb::module_& m) {
  m.def("abs", [](Any x) {
    Call call("abs");
    const auto x_in = call.tensor(x);
    return call.result(horngate::abs(x_in));
  });
  m.def("all", [](Any x, Any axis, Any keepdims) {
    Call call("all");
    const auto x_in = call.tensor(x);
    const ReduceOptions options{.axis = call.axis(axis, "axis"), .keepdims = call.truth(keepdims)};
    return call.result(horngate::all(x_in, options));
  });
  m.def("any", [](Any x, Any axis, Any keepdims) {
    Call call("any");
    const auto x_in = call.tensor(x);
    const ReduceOptions options{.axis = call.axis(axis, "axis"), .keepdims = call.truth(keepdims)};
    return call.result(horngate::any(x_in, options));
  });
  m.def("arange", [](Any start, Any stop, Any step, Any dtype) {
    Call call("arange");
    const auto start_in = call.number(start);
    const ArangeOptions options{.stop = call.number(stop), .step = call.number(step), .dtype = dtype_from_python(dtype, call.function())};
    return call.result(horngate::arange(start_in, options));
  });
  m.def("argmax", [](Any x, Any axis) {
    Call call("argmax");
    const auto x_in = call.tensor(x);
    const auto axis_in = call.integer(axis, "axis");
    return call.result(horngate::argmax(x_in, axis_in));
  });
  m.def("argmin", [](Any x, Any axis) {
    Call call("argmin");
    const auto x_in = call.tensor(x);
    const auto axis_in = call.integer(axis, "axis");
    return call.result(horngate::argmin(x_in, axis_in));
  });
  m.def("batch_dot", [](Any x, Any y, Any axes) {
    Call call("batch_dot");
    const auto [x_in, y_in] = call.tensors(x, y);
    const auto axes_in = call.axis(axes, "axes");
    return call.result(horngate::batch_dot(x_in, y_in, axes_in));
  });
  m.def("batch_flatten", [](Any x) {
    Call call("batch_flatten");
    const auto x_in = call.tensor(x);
    return call.result(horngate::batch_flatten(x_in));
  });
  m.def("bias_add", [](Any x, Any bias, Any data_format) {
    Call call("bias_add");
    const auto [x_in, bias_in] = call.tensors(x, bias);
    const auto data_format_in = call.data_format(data_format);
    return call.result(horngate::bias_add(x_in, bias_in, data_format_in));
  });
  m.def("binary_crossentropy", [](Any target, Any output, Any from_logits) {
    Call call("binary_crossentropy");
    const auto [target_in, output_in] = call.tensors(target, output);
    const auto from_logits_in = call.truth(from_logits);
    return call.result(horngate::binary_crossentropy(target_in, output_in, from_logits_in));
  });
  m.def("cast", [](Any x, Any dtype) {
    Call call("cast");
    const auto x_in = call.tensor(x);
    const auto dtype_in = dtype_from_python(dtype, call.function());
    return call.result(horngate::cast(x_in, dtype_in));
  });
  m.def("categorical_crossentropy", [](Any target, Any output, Any from_logits, Any axis) {
    Call call("categorical_crossentropy");
    const auto [target_in, output_in] = call.tensors(target, output);
    const CrossentropyOptions options{.from_logits = call.truth(from_logits), .axis = call.integer(axis, "axis")};
    return call.result(horngate::categorical_crossentropy(target_in, output_in, options));
  });
  m.def("clip", [](Any x, Any min_value, Any max_value) {
    Call call("clip");
    const auto x_in = call.tensor(x);
    const auto min_value_in = call.number(min_value, x_in.dtype());
    const auto max_value_in = call.number(max_value, x_in.dtype());
    return call.result(horngate::clip(x_in, min_value_in, max_value_in));
  });
  m.def("concatenate", [](Any tensors, Any axis) {
    Call call("concatenate");
    const auto tensors_in = call.tensor_list(tensors, "tensors");
    const auto axis_in = call.integer(axis, "axis");
    return call.result(horngate::concatenate(tensors_in, axis_in));
  });
  m.def("conv2d", [](Any x, Any kernel, Any strides, Any padding, Any data_format, Any dilation_rate) {
    Call call("conv2d");
    const auto [x_in, kernel_in] = call.tensors(x, kernel);
    const Conv2dOptions options{.strides = call.several<2>(strides, "strides"), .padding = call.padding(padding), .data_format = call.data_format(data_format), .dilation_rate = call.several<2>(dilation_rate, "dilation_rate")};
    return call.result(horngate::conv2d(x_in, kernel_in, options));
  });
  m.def("conv2d_transpose", [](Any x, Any kernel, Any output_shape, Any strides, Any padding, Any data_format, Any dilation_rate) {
    Call call("conv2d_transpose");
    const auto [x_in, kernel_in] = call.tensors(x, kernel);
    const auto output_shape_in = call.shape(output_shape, "output_shape");
    const Conv2dOptions options{.strides = call.several<2>(strides, "strides"), .padding = call.padding(padding), .data_format = call.data_format(data_format), .dilation_rate = call.several<2>(dilation_rate, "dilation_rate")};
    return call.result(horngate::conv2d_transpose(x_in, kernel_in, output_shape_in, options));
  });
  m.def("conv3d", [](Any x, Any kernel, Any strides, Any padding, Any data_format, Any dilation_rate) {
    Call call("conv3d");
    const auto [x_in, kernel_in] = call.tensors(x, kernel);
    const Conv3dOptions options{.strides = call.several<3>(strides, "strides"), .padding = call.padding(padding), .data_format = call.data_format(data_format), .dilation_rate = call.several<3>(dilation_rate, "dilation_rate")};
    return call.result(horngate::conv3d(x_in, kernel_in, options));
  });
  m.def("conv3d_transpose", [](Any x, Any kernel, Any output_shape, Any strides, Any padding, Any data_format) {
    Call call("conv3d_transpose");
    const auto [x_in, kernel_in] = call.tensors(x, kernel);
    const auto output_shape_in = call.shape(output_shape, "output_shape");
    const Conv3dTransposeOptions options{.strides = call.several<3>(strides, "strides"), .padding = call.padding(padding), .data_format = call.data_format(data_format)};
    return call.result(horngate::conv3d_transpose(x_in, kernel_in, output_shape_in, options));
  });
  m.def("cos", [](Any x) {
    Call call("cos");
    const auto x_in = call.tensor(x);
    return call.result(horngate::cos(x_in));
  });
  m.def("cumprod", [](Any x, Any axis) {
    Call call("cumprod");
    const auto x_in = call.tensor(x);
    const auto axis_in = call.integer(axis, "axis");
    return call.result(horngate::cumprod(x_in, axis_in));
  });
  m.def("cumsum", [](Any x, Any axis) {
    Call call("cumsum");
    const auto x_in = call.tensor(x);
    const auto axis_in = call.integer(axis, "axis");
    return call.result(horngate::cumsum(x_in, axis_in));
  });
  m.def("depthwise_conv2d", [](Any x, Any depthwise_kernel, Any strides, Any padding, Any data_format, Any dilation_rate) {
    Call call("depthwise_conv2d");
    const auto [x_in, depthwise_kernel_in] = call.tensors(x, depthwise_kernel);
    const Conv2dOptions options{.strides = call.several<2>(strides, "strides"), .padding = call.padding(padding), .data_format = call.data_format(data_format), .dilation_rate = call.several<2>(dilation_rate, "dilation_rate")};
    return call.result(horngate::depthwise_conv2d(x_in, depthwise_kernel_in, options));
  });
  m.def("dot", [](Any x, Any y) {
    Call call("dot");
    const auto [x_in, y_in] = call.tensors(x, y);
    return call.result(horngate::dot(x_in, y_in));
  });
  m.def("dropout", [](Any x, Any level, Any noise_shape, Any seed) {
    Call call("dropout");
    const auto x_in = call.tensor(x);
    const auto level_in = call.number(level, x_in.dtype());
    const DropoutOptions options{.noise_shape = call.shape(noise_shape, "noise_shape"), .seed = call.optional_integer(seed, "seed")};
    return call.result(horngate::dropout(x_in, level_in, options));
  });
  m.def("elu", [](Any x, Any alpha) {
    Call call("elu");
    const auto x_in = call.tensor(x);
    const auto alpha_in = call.number(alpha, x_in.dtype());
    return call.result(horngate::elu(x_in, alpha_in));
  });
  m.def("equal", [](Any x, Any y) {
    Call call("equal");
    const auto [x_in, y_in] = call.numbers(x, y);
    return call.result(horngate::equal(x_in, y_in));
  });
  m.def("exp", [](Any x) {
    Call call("exp");
    const auto x_in = call.tensor(x);
    return call.result(horngate::exp(x_in));
  });
  m.def("expand_dims", [](Any x, Any axis) {
    Call call("expand_dims");
    const auto x_in = call.tensor(x);
    const auto axis_in = call.integer(axis, "axis");
    return call.result(horngate::expand_dims(x_in, axis_in));
  });
  m.def("flatten", [](Any x) {
    Call call("flatten");
    const auto x_in = call.tensor(x);
    return call.result(horngate::flatten(x_in));
  });
  m.def("greater", [](Any x, Any y) {
    Call call("greater");
    const auto [x_in, y_in] = call.numbers(x, y);
    return call.result(horngate::greater(x_in, y_in));
  });
  m.def("greater_equal", [](Any x, Any y) {
    Call call("greater_equal");
    const auto [x_in, y_in] = call.numbers(x, y);
    return call.result(horngate::greater_equal(x_in, y_in));
  });
  m.def("hard_sigmoid", [](Any x) {
    Call call("hard_sigmoid");
    const auto x_in = call.tensor(x);
    return call.result(horngate::hard_sigmoid(x_in));
  });
  m.def("identity", [](Any x, Any name) {
    Call call("identity");
    const auto x_in = call.tensor(x);
    const auto name_in = call.text(name, "name");
    return call.result(horngate::identity(x_in, name_in));
  });
  m.def("l2_normalize", [](Any x, Any axis) {
    Call call("l2_normalize");
    const auto x_in = call.tensor(x);
    const auto axis_in = call.axis(axis, "axis");
    return call.result(horngate::l2_normalize(x_in, axis_in));
  });
  m.def("less", [](Any x, Any y) {
    Call call("less");
    const auto [x_in, y_in] = call.numbers(x, y);
    return call.result(horngate::less(x_in, y_in));
  });
  m.def("less_equal", [](Any x, Any y) {
    Call call("less_equal");
    const auto [x_in, y_in] = call.numbers(x, y);
    return call.result(horngate::less_equal(x_in, y_in));
  });
  m.def("local_conv2d", [](Any inputs, Any kernel, Any kernel_size, Any strides, Any output_shape, Any data_format) {
    Call call("local_conv2d");
    const auto [inputs_in, kernel_in] = call.tensors(inputs, kernel);
    const auto kernel_size_in = call.several<2>(kernel_size, "kernel_size");
    const auto strides_in = call.several<2>(strides, "strides");
    const auto output_shape_in = call.several<2>(output_shape, "output_shape");
    const auto data_format_in = call.data_format(data_format);
    return call.result(horngate::local_conv2d(inputs_in, kernel_in, kernel_size_in, strides_in, output_shape_in, data_format_in));
  });
  m.def("log", [](Any x) {
    Call call("log");
    const auto x_in = call.tensor(x);
    return call.result(horngate::log(x_in));
  });
  m.def("logsumexp", [](Any x, Any axis, Any keepdims) {
    Call call("logsumexp");
    const auto x_in = call.tensor(x);
    const ReduceOptions options{.axis = call.axis(axis, "axis"), .keepdims = call.truth(keepdims)};
    return call.result(horngate::logsumexp(x_in, options));
  });
  m.def("max", [](Any x, Any axis, Any keepdims) {
    Call call("max");
    const auto x_in = call.tensor(x);
    const ReduceOptions options{.axis = call.axis(axis, "axis"), .keepdims = call.truth(keepdims)};
    return call.result(horngate::max(x_in, options));
  });
  m.def("maximum", [](Any x, Any y) {
    Call call("maximum");
    const auto [x_in, y_in] = call.numbers(x, y);
    return call.result(horngate::maximum(x_in, y_in));
  });
  m.def("mean", [](Any x, Any axis, Any keepdims) {
    Call call("mean");
    const auto x_in = call.tensor(x);
    const ReduceOptions options{.axis = call.axis(axis, "axis"), .keepdims = call.truth(keepdims)};
    return call.result(horngate::mean(x_in, options));
  });
  m.def("min", [](Any x, Any axis, Any keepdims) {
    Call call("min");
    const auto x_in = call.tensor(x);
    const ReduceOptions options{.axis = call.axis(axis, "axis"), .keepdims = call.truth(keepdims)};
    return call.result(horngate::min(x_in, options));
  });
  m.def("minimum", [](Any x, Any y) {
    Call call("minimum");
    const auto [x_in, y_in] = call.numbers(x, y);
    return call.result(horngate::minimum(x_in, y_in));
  });
  m.def("not_equal", [](Any x, Any y) {
    Call call("not_equal");
    const auto [x_in, y_in] = call.numbers(x, y);
    return call.result(horngate::not_equal(x_in, y_in));
  });
  m.def("one_hot", [](Any indices, Any num_classes) {
    Call call("one_hot");
    const auto indices_in = call.tensor(indices);
    const auto num_classes_in = call.number(num_classes, indices_in.dtype());
    return call.result(horngate::one_hot(indices_in, num_classes_in));
  });
  m.def("ones", [](Any shape, Any dtype, Any name) {
    Call call("ones");
    const auto shape_in = call.shape(shape, "shape");
    const FillOptions options{.dtype = call.dtype(dtype), .name = call.text(name, "name")};
    return call.result(horngate::ones(shape_in, options));
  });
  m.def("ones_like", [](Any x, Any dtype, Any name) {
    Call call("ones_like");
    const auto x_in = call.tensor(x);
    const FillOptions options{.dtype = call.dtype(dtype), .name = call.text(name, "name")};
    return call.result(horngate::ones_like(x_in, options));
  });
  m.def("permute_dimensions", [](Any x, Any pattern) {
    Call call("permute_dimensions");
    const auto x_in = call.tensor(x);
    const auto pattern_in = call.ints(pattern, "pattern");
    return call.result(horngate::permute_dimensions(x_in, pattern_in));
  });
  m.def("pool2d", [](Any x, Any pool_size, Any strides, Any padding, Any data_format, Any pool_mode) {
    Call call("pool2d");
    const auto x_in = call.tensor(x);
    const auto pool_size_in = call.several<2>(pool_size, "pool_size");
    const Pool2dOptions options{.strides = call.several<2>(strides, "strides"), .padding = call.padding(padding), .data_format = call.data_format(data_format), .pool_mode = call.pool_mode(pool_mode)};
    return call.result(horngate::pool2d(x_in, pool_size_in, options));
  });
  m.def("pool3d", [](Any x, Any pool_size, Any strides, Any padding, Any data_format, Any pool_mode) {
    Call call("pool3d");
    const auto x_in = call.tensor(x);
    const auto pool_size_in = call.several<3>(pool_size, "pool_size");
    const Pool3dOptions options{.strides = call.several<3>(strides, "strides"), .padding = call.padding(padding), .data_format = call.data_format(data_format), .pool_mode = call.pool_mode(pool_mode)};
    return call.result(horngate::pool3d(x_in, pool_size_in, options));
  });
  m.def("pow", [](Any x, Any a) {
    Call call("pow");
    const auto [x_in, a_in] = call.numbers(x, a);
    return call.result(horngate::pow(x_in, a_in));
  });
  m.def("print_tensor", [](Any x, Any message) {
    Call call("print_tensor");
    const auto x_in = call.tensor(x);
    const auto message_in = call.text(message, "message");
    return call.result(horngate::print_tensor(x_in, message_in));
  });
  m.def("prod", [](Any x, Any axis, Any keepdims) {
    Call call("prod");
    const auto x_in = call.tensor(x);
    const ReduceOptions options{.axis = call.axis(axis, "axis"), .keepdims = call.truth(keepdims)};
    return call.result(horngate::prod(x_in, options));
  });
  m.def("random_binomial", [](Any shape, Any p, Any dtype, Any seed) {
    Call call("random_binomial");
    const auto shape_in = call.shape(shape, "shape");
    const RandomBinomialOptions options{.p = call.number(p), .dtype = call.dtype(dtype), .seed = call.optional_integer(seed, "seed")};
    return call.result(horngate::random_binomial(shape_in, options));
  });
  m.def("random_normal", [](Any shape, Any mean, Any stddev, Any dtype, Any seed) {
    Call call("random_normal");
    const auto shape_in = call.shape(shape, "shape");
    const RandomNormalOptions options{.mean = call.number(mean), .stddev = call.number(stddev), .dtype = call.dtype(dtype), .seed = call.optional_integer(seed, "seed")};
    return call.result(horngate::random_normal(shape_in, options));
  });
  m.def("random_uniform", [](Any shape, Any minval, Any maxval, Any dtype, Any seed) {
    Call call("random_uniform");
    const auto shape_in = call.shape(shape, "shape");
    const RandomUniformOptions options{.minval = call.number(minval), .maxval = call.number(maxval), .dtype = call.dtype(dtype), .seed = call.optional_integer(seed, "seed")};
    return call.result(horngate::random_uniform(shape_in, options));
  });
  m.def("relu", [](Any x, Any alpha, Any max_value, Any threshold) {
    Call call("relu");
    const auto x_in = call.tensor(x);
    const ReluOptions options{.alpha = call.number(alpha, x_in.dtype()), .max_value = call.number(max_value, x_in.dtype()), .threshold = call.real(threshold, "threshold")};
    return call.result(horngate::relu(x_in, options));
  });
  m.def("repeat", [](Any x, Any n) {
    Call call("repeat");
    const auto x_in = call.tensor(x);
    const auto n_in = call.integer(n, "n");
    return call.result(horngate::repeat(x_in, n_in));
  });
  m.def("repeat_elements", [](Any x, Any rep, Any axis) {
    Call call("repeat_elements");
    const auto x_in = call.tensor(x);
    const auto rep_in = call.integer(rep, "rep");
    const auto axis_in = call.integer(axis, "axis");
    return call.result(horngate::repeat_elements(x_in, rep_in, axis_in));
  });
  m.def("reshape", [](Any x, Any shape) {
    Call call("reshape");
    const auto x_in = call.tensor(x);
    const auto shape_in = call.shape(shape, "shape");
    return call.result(horngate::reshape(x_in, shape_in));
  });
  m.def("round", [](Any x) {
    Call call("round");
    const auto x_in = call.tensor(x);
    return call.result(horngate::round(x_in));
  });
  m.def("separable_conv2d", [](Any x, Any depthwise_kernel, Any pointwise_kernel, Any strides, Any padding, Any data_format, Any dilation_rate) {
    Call call("separable_conv2d");
    const auto [x_in, depthwise_kernel_in] = call.tensors(x, depthwise_kernel);
    const auto pointwise_kernel_in = call.tensor(pointwise_kernel, x_in.dtype());
    const Conv2dOptions options{.strides = call.several<2>(strides, "strides"), .padding = call.padding(padding), .data_format = call.data_format(data_format), .dilation_rate = call.several<2>(dilation_rate, "dilation_rate")};
    return call.result(horngate::separable_conv2d(x_in, depthwise_kernel_in, pointwise_kernel_in, options));
  });
  m.def("shape", [](Any x) {
    Call call("shape");
    const auto x_in = call.tensor(x);
    return call.result(horngate::shape(x_in));
  });
  m.def("sigmoid", [](Any x) {
    Call call("sigmoid");
    const auto x_in = call.tensor(x);
    return call.result(horngate::sigmoid(x_in));
  });
  m.def("sign", [](Any x) {
    Call call("sign");
    const auto x_in = call.tensor(x);
    return call.result(horngate::sign(x_in));
  });
  m.def("sin", [](Any x) {
    Call call("sin");
    const auto x_in = call.tensor(x);
    return call.result(horngate::sin(x_in));
  });
  m.def("size", [](Any x, Any name) {
    Call call("size");
    const auto x_in = call.tensor(x);
    const auto name_in = call.text(name, "name");
    return call.result(horngate::size(x_in, name_in));
  });
  m.def("slice", [](Any x, Any start, Any size) {
    Call call("slice");
    const auto x_in = call.tensor(x);
    const auto start_in = call.shape(start, "start");
    const auto size_in = call.shape(size, "size");
    return call.result(horngate::slice(x_in, start_in, size_in));
  });
  m.def("softmax", [](Any x, Any axis) {
    Call call("softmax");
    const auto x_in = call.tensor(x);
    const auto axis_in = call.integer(axis, "axis");
    return call.result(horngate::softmax(x_in, axis_in));
  });
  m.def("softplus", [](Any x) {
    Call call("softplus");
    const auto x_in = call.tensor(x);
    return call.result(horngate::softplus(x_in));
  });
  m.def("softsign", [](Any x) {
    Call call("softsign");
    const auto x_in = call.tensor(x);
    return call.result(horngate::softsign(x_in));
  });
  m.def("sqrt", [](Any x) {
    Call call("sqrt");
    const auto x_in = call.tensor(x);
    return call.result(horngate::sqrt(x_in));
  });
  m.def("square", [](Any x) {
    Call call("square");
    const auto x_in = call.tensor(x);
    return call.result(horngate::square(x_in));
  });
  m.def("squeeze", [](Any x, Any axis) {
    Call call("squeeze");
    const auto x_in = call.tensor(x);
    const auto axis_in = call.integer(axis, "axis");
    return call.result(horngate::squeeze(x_in, axis_in));
  });
  m.def("stack", [](Any x, Any axis) {
    Call call("stack");
    const auto x_in = call.tensor_list(x, "x");
    const auto axis_in = call.integer(axis, "axis");
    return call.result(horngate::stack(x_in, axis_in));
  });
  m.def("std", [](Any x, Any axis, Any keepdims) {
    Call call("std");
    const auto x_in = call.tensor(x);
    const ReduceOptions options{.axis = call.axis(axis, "axis"), .keepdims = call.truth(keepdims)};
    return call.result(horngate::std(x_in, options));
  });
  m.def("stop_gradient", [](Any variables) {
    Call call("stop_gradient");
    const auto variables_in = call.tensor(variables);
    return call.result(horngate::stop_gradient(variables_in));
  });
  m.def("sum", [](Any x, Any axis, Any keepdims) {
    Call call("sum");
    const auto x_in = call.tensor(x);
    const ReduceOptions options{.axis = call.axis(axis, "axis"), .keepdims = call.truth(keepdims)};
    return call.result(horngate::sum(x_in, options));
  });
  m.def("tanh", [](Any x) {
    Call call("tanh");
    const auto x_in = call.tensor(x);
    return call.result(horngate::tanh(x_in));
  });
  m.def("tile", [](Any x, Any n) {
    Call call("tile");
    const auto x_in = call.tensor(x);
    const auto n_in = call.shape(n, "n");
    return call.result(horngate::tile(x_in, n_in));
  });
  m.def("to_dense", [](Any tensor) {
    Call call("to_dense");
    const auto tensor_in = call.tensor(tensor);
    return call.result(horngate::to_dense(tensor_in));
  });
  m.def("transpose", [](Any x) {
    Call call("transpose");
    const auto x_in = call.tensor(x);
    return call.result(horngate::transpose(x_in));
  });
  m.def("truncated_normal", [](Any shape, Any mean, Any stddev, Any dtype, Any seed) {
    Call call("truncated_normal");
    const auto shape_in = call.shape(shape, "shape");
    const RandomNormalOptions options{.mean = call.number(mean), .stddev = call.number(stddev), .dtype = call.dtype(dtype), .seed = call.optional_integer(seed, "seed")};
    return call.result(horngate::truncated_normal(shape_in, options));
  });
  m.def("var", [](Any x, Any axis, Any keepdims) {
    Call call("var");
    const auto x_in = call.tensor(x);
    const ReduceOptions options{.axis = call.axis(axis, "axis"), .keepdims = call.truth(keepdims)};
    return call.result(horngate::var(x_in, options));
  });
  m.def("zeros", [](Any shape, Any dtype, Any name) {
    Call call("zeros");
    const auto shape_in = call.shape(shape, "shape");
    const FillOptions options{.dtype = call.dtype(dtype), .name = call.text(name, "name")};
    return call.result(horngate::zeros(shape_in, options));
  });
  m.def("zeros_like", [](Any x, Any dtype, Any name) {
    Call call("zeros_like");
    const auto x_in = call.tensor(x);
    const FillOptions options{.dtype = call.dtype(dtype), .name = call.text(name, "name")};
    return call.result(horngate::zeros_like(x_in, options));
  });
}

}  // namespace horngate::python
