// conv_filter_grad: the gradient of conv for its kernel, from x and dy.
#include "engines/native/kernels/conv_shape.h"
#include "engines/native/kernels/half.h"

namespace horngate::native::kernels {

KernelPtr make_conv_filter_grad(const KernelCall& call) {
  if (KernelPtr k = make_through_float(call, make_conv_filter_grad)) return k;
  const ConvShape shape = conv_shape(call.as<attrs::conv_filter_grad>(), call.in[0].shape,
                                     call.out[0].shape, call.in[1].shape);
  return make_conv_kernel(shape, ConvResult::dw, call.in[0].dtype);
}

}  // namespace horngate::native::kernels
