// Which nodes Theano runs. Everything not listed is decomposed or runs on native: random numbers (the same bits on
// all engines), the CTC family, sparse matrices and print.
#include "supports.h"

#include <string_view>

#include "../common/open_sizes.h"

namespace horngate::theano {
namespace {

// clang-format off
/// Besides element-wise primitives and reductions.
constexpr std::string_view kOthers[] = {
    "argmax", "argmin", "cumsum", "cumprod", "recurrence", "reshape", "expand_dims", "squeeze", "broadcast",
    "transpose", "concat", "slice", "pad", "reverse", "gather", "scatter_add", "iota", "dot_general", "conv",
    "conv_input_grad", "conv_filter_grad", "pool", "pool_grad", "softmax", "log_softmax", "batch_norm",
    "batch_norm_grad", "top_k", "in_top_k", "constant", "stop_gradient", "scan", "cond"};
// clang-format on

bool is_lowered(std::string_view prim) {
  return engines::is_one_of(engines::kElementwise, prim) ||
         engines::is_one_of(engines::kReductions, prim) || engines::is_one_of(kOthers, prim);
}

bool body_is_supported(const hg_graph& body) {
  for (uint32_t i = 0; i < body.n_node; ++i)
    if (!supports(body, *body.node[i])) return false;
  return true;
}

}  // namespace

bool supports(const hg_graph& graph, const hg_node& node) {
  if (!engines::OpenNode(graph, node).fits()) return false;
  if (!is_lowered(node.prim)) return false;
  for (uint32_t i = 0; i < node.n_body; ++i)
    if (!body_is_supported(*node.body[i])) return false;
  return true;
}

}  // namespace horngate::theano
