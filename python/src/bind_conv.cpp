// Convolution along one axis; the others are in bind_regular.cpp.
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

}  // namespace

void bind_conv(nb::module_& m) {
  m.def("conv1d",
        [](Any x, Any kernel, Any strides, Any padding, Any data_format, Any dilation_rate) {
          Call call("conv1d");
          const auto [t, k] = call.tensors(x, kernel);
          return call.result(conv1d(t, k,
                                    options_1d(call, strides, padding, data_format, dilation_rate,
                                               {Padding::valid, Padding::same, Padding::causal})));
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
  m.def("local_conv1d", [](Any inputs, Any kernel, Any kernel_size, Any strides, Any data_format) {
    Call call("local_conv1d");
    const auto [t, k] = call.tensors(inputs, kernel);
    return call.result(local_conv1d(t, k, call.several<1>(kernel_size, "kernel_size")[0],
                                    call.several<1>(strides, "strides")[0],
                                    call.data_format(data_format)));
  });
}

}  // namespace horngate::python
