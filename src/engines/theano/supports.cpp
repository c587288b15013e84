// Which nodes Theano runs. Everything that is not listed is decomposed or runs on native: random numbers (the same
// bits on all engines), the CTC family, sparse matrices and print.
#include "supports.h"

#include <algorithm>
#include <string_view>

#include "../common/open_sizes.h"

namespace horngate::theano {
namespace {

constexpr std::string_view kPrimitives[] = {"neg",
                                            "abs",
                                            "sign",
                                            "exp",
                                            "expm1",
                                            "log",
                                            "log1p",
                                            "sqrt",
                                            "rsqrt",
                                            "sin",
                                            "cos",
                                            "tanh",
                                            "sigmoid",
                                            "erf",
                                            "floor",
                                            "round",
                                            "logical_not",
                                            "cast",
                                            "add",
                                            "sub",
                                            "mul",
                                            "div",
                                            "floordiv",
                                            "mod",
                                            "pow",
                                            "maximum",
                                            "minimum",
                                            "eq",
                                            "ne",
                                            "lt",
                                            "le",
                                            "gt",
                                            "ge",
                                            "logical_and",
                                            "logical_or",
                                            "select",
                                            "reduce_sum",
                                            "reduce_prod",
                                            "reduce_max",
                                            "reduce_min",
                                            "reduce_any",
                                            "reduce_all",
                                            "argmax",
                                            "argmin",
                                            "cumsum",
                                            "cumprod",
                                            "recurrence",
                                            "reshape",
                                            "expand_dims",
                                            "squeeze",
                                            "broadcast",
                                            "transpose",
                                            "concat",
                                            "slice",
                                            "pad",
                                            "reverse",
                                            "gather",
                                            "scatter_add",
                                            "iota",
                                            "dot_general",
                                            "conv",
                                            "conv_input_grad",
                                            "conv_filter_grad",
                                            "pool",
                                            "pool_grad",
                                            "softmax",
                                            "log_softmax",
                                            "batch_norm",
                                            "batch_norm_grad",
                                            "top_k",
                                            "in_top_k",
                                            "constant",
                                            "stop_gradient",
                                            "scan",
                                            "cond"};

bool body_is_supported(const hg_graph& body) {
  for (uint32_t i = 0; i < body.n_node; ++i)
    if (!supports(body, body.node[i])) return false;
  return true;
}

}  // namespace

bool supports(const hg_graph& graph, const hg_node& node) {
  if (node.rev != 1 || !engines::OpenNode(graph, node).fits()) return false;
  if (std::find(std::begin(kPrimitives), std::end(kPrimitives), node.prim) == std::end(kPrimitives))
    return false;
  for (uint32_t i = 0; i < node.n_body; ++i)
    if (!body_is_supported(*node.body[i])) return false;
  return true;
}

}  // namespace horngate::theano
