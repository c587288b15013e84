// logical_or: true where at least one is.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::logical_or;

Tensors decompose(std::span<const Tensor> in, const A&) {
  return {prim::select(in[0], prim::scalar(1, DType::bool_), in[1])};
}

}  // namespace
HORNGATE_PRIMITIVE(logical_or, {.infer = rules::binary<A, rules::Kind::boolean>,
                                .decompose = decompose,
                                .flags = kNoGradient})
}  // namespace horngate
