// logical_not: true where x is false.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::logical_not;

Tensors decompose(std::span<const Tensor> in, const A&) {
  return {prim::eq(in[0], prim::scalar(0, DType::bool_))};
}

}  // namespace
HORNGATE_PRIMITIVE(logical_not, {.infer = rules::unary<A, rules::Kind::boolean>,
                                 .decompose = decompose,
                                 .flags = kNoGradient})
}  // namespace horngate
