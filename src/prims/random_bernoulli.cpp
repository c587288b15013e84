// random_bernoulli: 1 with probability p, else 0, in any dtype.
#include "prims/random.h"

namespace horngate {
namespace {

using A = attrs::random_bernoulli;

Types infer(const InferCall& c, const A& a) {
  check(a.p >= 0.0 && a.p <= 1.0, rules::kName<A>, "p must be in [0, 1]; got ", a.p, ".");
  return rules::random(c, a);
}

}  // namespace
HORNGATE_PRIMITIVE(random_bernoulli, {.infer = infer, .flags = kRandom | kNoGradient})
}  // namespace horngate
