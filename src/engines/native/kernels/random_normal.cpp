// random_normal: mean 0, deviation 1, by Box and Muller.
#include "engines/native/kernels/random.h"

namespace horngate::native::kernels {

KernelPtr make_random_normal(const KernelCall& call) {
  return random::make_law(call, random::Law::normal, call.as<attrs::random_normal>().seed);
}

}  // namespace horngate::native::kernels
