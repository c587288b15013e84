// random_truncated_normal: the normal distribution within two deviations, by its inverse.
#include "engines/native/kernels/random.h"

namespace horngate::native::kernels {

KernelPtr make_random_truncated_normal(const KernelCall& call) {
  return random::make_law(call, random::Law::truncated_normal,
                          call.as<attrs::random_truncated_normal>().seed);
}

}  // namespace horngate::native::kernels
