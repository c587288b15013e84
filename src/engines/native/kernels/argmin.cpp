// argmin: position of the smallest element along an axis.
#include <functional>

#include "engines/native/kernels/extreme.h"

namespace horngate::native::kernels {

KernelPtr make_argmin(const KernelCall& call) {
  return make_extreme<std::less<>>(call, call.as<attrs::argmin>().axis);
}

}  // namespace horngate::native::kernels
