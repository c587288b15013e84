// conv_input_grad: the gradient of conv for x, from dy and the kernel; also conv_transpose.
#include "engines/native/kernels/conv_shape.h"
#include "engines/native/kernels/half.h"

namespace horngate::native::kernels {

KernelPtr make_conv_input_grad(const KernelCall& call) {
  if (KernelPtr k = make_through_float(call, make_conv_input_grad)) return k;
  const ConvShape shape = conv_shape(call.as<attrs::conv_input_grad>(), call.out[0].shape,
                                     call.in[1].shape, call.in[0].shape);
  return make_conv_kernel(shape, ConvResult::dx, call.in[0].dtype);
}

}  // namespace horngate::native::kernels
