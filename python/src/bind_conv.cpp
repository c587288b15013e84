// Convolution and pooling.
#include "horngate/ops/conv.h"

#include "call.h"
#include "sections.h"

namespace horngate::python {
namespace {

Conv1dOptions options_1d(Call& call, handle strides, handle padding, handle data_format,
                         handle dilation_rate, std::initializer_list<Padding> allowed) {
  Conv1dOptions o;
  o.strides = call.several<1>(strides, "strides")[0];
  o.padding = call.padding(padding, allowed);
  o.data_format = call.data_format(data_format);
  o.dilation_rate = call.several<1>(dilation_rate, "dilation_rate")[0];
  return o;
}

/// Conv2dOptions or Conv3dOptions.
template <class Options, size_t N>
Options options_nd(Call& call, handle strides, handle padding, handle data_format,
                   handle dilation_rate) {
  Options o;
  o.strides = call.several<N>(strides, "strides");
  o.padding = call.padding(padding);
  o.data_format = call.data_format(data_format);
  o.dilation_rate = call.several<N>(dilation_rate, "dilation_rate");
  return o;
}

Conv2dOptions options_2d(Call& call, handle strides, handle padding, handle data_format,
                         handle dilation_rate) {
  return options_nd<Conv2dOptions, 2>(call, strides, padding, data_format, dilation_rate);
}

void bind_plain(nb::module_& m) {
  m.def("conv1d",
        [](Any x, Any kernel, Any strides, Any padding, Any data_format, Any dilation_rate) {
          Call call("conv1d");
          const auto [t, k] = call.tensors(x, kernel);
          return call.result(conv1d(t, k,
                                    options_1d(call, strides, padding, data_format, dilation_rate,
                                               {Padding::valid, Padding::same, Padding::causal})));
        });
  m.def("conv2d",
        [](Any x, Any kernel, Any strides, Any padding, Any data_format, Any dilation_rate) {
          Call call("conv2d");
          const auto [t, k] = call.tensors(x, kernel);
          return call.result(
              conv2d(t, k, options_2d(call, strides, padding, data_format, dilation_rate)));
        });
  m.def("conv3d", [](Any x, Any kernel, Any strides, Any padding, Any data_format,
                     Any dilation_rate) {
    Call call("conv3d");
    const auto [t, k] = call.tensors(x, kernel);
    return call.result(conv3d(
        t, k, options_nd<Conv3dOptions, 3>(call, strides, padding, data_format, dilation_rate)));
  });
  m.def("conv2d_transpose", [](Any x, Any kernel, Any output_shape, Any strides, Any padding,
                               Any data_format, Any dilation_rate) {
    Call call("conv2d_transpose");
    const auto [t, k] = call.tensors(x, kernel);
    const ShapeArg shape = call.shape(output_shape, "output_shape");
    return call.result(conv2d_transpose(
        t, k, shape, options_2d(call, strides, padding, data_format, dilation_rate)));
  });
  m.def("conv3d_transpose",
        [](Any x, Any kernel, Any output_shape, Any strides, Any padding, Any data_format) {
          Call call("conv3d_transpose");
          const auto [t, k] = call.tensors(x, kernel);
          const ShapeArg shape = call.shape(output_shape, "output_shape");
          return call.result(conv3d_transpose(t, k, shape,
                                              {.strides = call.several<3>(strides, "strides"),
                                               .padding = call.padding(padding),
                                               .data_format = call.data_format(data_format)}));
        });
}

void bind_separable(nb::module_& m) {
  m.def("depthwise_conv2d", [](Any x, Any depthwise_kernel, Any strides, Any padding,
                               Any data_format, Any dilation_rate) {
    Call call("depthwise_conv2d");
    const auto [t, k] = call.tensors(x, depthwise_kernel);
    return call.result(
        depthwise_conv2d(t, k, options_2d(call, strides, padding, data_format, dilation_rate)));
  });
  m.def("separable_conv1d", [](Any x, Any depthwise_kernel, Any pointwise_kernel, Any strides,
                               Any padding, Any data_format, Any dilation_rate) {
    Call call("separable_conv1d");
    const auto [t, d] = call.tensors(x, depthwise_kernel);
    const Tensor p = call.tensor(pointwise_kernel, t.dtype());
    return call.result(
        separable_conv1d(t, d, p,
                         options_1d(call, strides, padding, data_format, dilation_rate,
                                    {Padding::valid, Padding::same})));
  });
  m.def("separable_conv2d", [](Any x, Any depthwise_kernel, Any pointwise_kernel, Any strides,
                               Any padding, Any data_format, Any dilation_rate) {
    Call call("separable_conv2d");
    const auto [t, d] = call.tensors(x, depthwise_kernel);
    const Tensor p = call.tensor(pointwise_kernel, t.dtype());
    return call.result(
        separable_conv2d(t, d, p, options_2d(call, strides, padding, data_format, dilation_rate)));
  });
  m.def("local_conv1d", [](Any inputs, Any kernel, Any kernel_size, Any strides, Any data_format) {
    Call call("local_conv1d");
    const auto [t, k] = call.tensors(inputs, kernel);
    return call.result(local_conv1d(t, k, call.several<1>(kernel_size, "kernel_size")[0],
                                    call.several<1>(strides, "strides")[0],
                                    call.data_format(data_format)));
  });
  m.def("local_conv2d", [](Any inputs, Any kernel, Any kernel_size, Any strides, Any output_shape,
                           Any data_format) {
    Call call("local_conv2d");
    const auto [t, k] = call.tensors(inputs, kernel);
    return call.result(local_conv2d(
        t, k, call.several<2>(kernel_size, "kernel_size"), call.several<2>(strides, "strides"),
        call.several<2>(output_shape, "output_shape"), call.data_format(data_format)));
  });
}

}  // namespace

void bind_conv(nb::module_& m) {
  bind_plain(m);
  bind_separable(m);
  m.def("pool2d",
        [](Any x, Any pool_size, Any strides, Any padding, Any data_format, Any pool_mode) {
          Call call("pool2d");
          const Tensor t = call.tensor(x);
          return call.result(pool2d(t, call.several<2>(pool_size, "pool_size"),
                                    {.strides = call.several<2>(strides, "strides"),
                                     .padding = call.padding(padding),
                                     .data_format = call.data_format(data_format),
                                     .pool_mode = call.pool_mode(pool_mode)}));
        });
  m.def("pool3d",
        [](Any x, Any pool_size, Any strides, Any padding, Any data_format, Any pool_mode) {
          Call call("pool3d");
          const Tensor t = call.tensor(x);
          return call.result(pool3d(t, call.several<3>(pool_size, "pool_size"),
                                    {.strides = call.several<3>(strides, "strides"),
                                     .padding = call.padding(padding),
                                     .data_format = call.data_format(data_format),
                                     .pool_mode = call.pool_mode(pool_mode)}));
        });
}

}  // namespace horngate::python
