// argmax: position of the largest element along an axis.
#include <functional>

#include "engines/native/kernels/extreme.h"

namespace horngate::native::kernels {

KernelPtr make_argmax(const KernelCall& call) {
  return make_extreme<std::greater<>>(call, call.as<attrs::argmax>().axis);
}

}  // namespace horngate::native::kernels
