// floordiv: y = floor(a / b).
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::floordiv;

// The quotient of integers is not a float division: no decomposition.
Tensors decompose(std::span<const Tensor> in, const A&) {
  if (!is_float(in[0].dtype())) return {};
  return {prim::floor(prim::div(in[0], in[1]))};
}

}  // namespace
HORNGATE_PRIMITIVE(floordiv, {.infer = rules::binary<A, rules::Kind::number>,
                              .decompose = decompose,
                              .flags = kNoGradient})
}  // namespace horngate
