// log_softmax: the loops of softmax with another last step.
#include "engines/native/kernels/half.h"
#include "engines/native/kernels/softmax.h"

namespace horngate::native::kernels {

KernelPtr make_log_softmax(const KernelCall& call) {
  if (KernelPtr kernel = make_through_float(call, make_log_softmax)) return kernel;
  return make_softmax_along(call, call.as<attrs::log_softmax>().axis, true);
}

}  // namespace horngate::native::kernels
