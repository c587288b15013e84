// random_uniform: numbers in [0, 1).
#include "engines/native/kernels/random.h"

namespace horngate::native::kernels {

KernelPtr make_random_uniform(const KernelCall& call) {
  return random::make_law(call, random::Law::uniform, call.as<attrs::random_uniform>().seed);
}

}  // namespace horngate::native::kernels
