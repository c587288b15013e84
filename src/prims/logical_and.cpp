// logical_and: true where both are.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::logical_and;

Tensors decompose(std::span<const Tensor> in, const A&) {
  return {prim::select(in[0], in[1], prim::scalar(0, DType::bool_))};
}

}  // namespace
HORNGATE_PRIMITIVE(logical_and, {.infer = rules::binary<A, rules::Kind::boolean>,
                                 .decompose = decompose,
                                 .flags = kNoGradient})
}  // namespace horngate
