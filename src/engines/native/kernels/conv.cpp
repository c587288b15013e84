// conv: y[p, o] = sum of x[p * stride - low + t * dilation, c] * w[t, c, o] over taps t and
// channels c.
#include "engines/native/kernels/conv_shape.h"
#include "engines/native/kernels/half.h"

namespace horngate::native::kernels {

KernelPtr make_conv(const KernelCall& call) {
  if (KernelPtr k = make_through_float(call, make_conv)) return k;
  const ConvShape shape =
      conv_shape(call.as<attrs::conv>(), call.in[0].shape, call.in[1].shape, call.out[0].shape);
  return make_conv_kernel(shape, ConvResult::y, call.in[0].dtype);
}

}  // namespace horngate::native::kernels
