// The work of a step, for profiles.
#include "engines/native/work.h"

#include "ir/attrs.h"
#include "ir/primitive.h"

namespace horngate::native {
namespace {

double count(const TensorType& type) {
  double n = 1;
  for (int64_t d : type.shape.dims()) n *= static_cast<double>(d);
  return n;
}

double dims_at(const TensorType& type, const Ints& axes) {
  double n = 1;
  for (int64_t a : axes) n *= static_cast<double>(type.shape.dim(static_cast<size_t>(a)));
  return n;
}

/// 2 x outputs x window x channels per output. The kernel is (spatial.., in / groups, out).
double conv_flops(const TensorType& y, const TensorType& kernel) {
  const double out = static_cast<double>(kernel.shape.dims().back());
  return 2 * count(y) * count(kernel) / (out > 0 ? out : 1);
}

}  // namespace

double flops_of(const Graph& g, const GraphNode& n) {
  const auto in = [&](size_t i) -> const TensorType& { return g.values[n.in[i]]; };
  const TensorType& out = g.values[n.out[0]];
  switch (n.prim) {
    case Prim::dot_general:
      return 2 * count(out) * dims_at(in(0), n.as<attrs::dot_general>().contract_a);
    case Prim::conv: return conv_flops(out, in(1));
    case Prim::conv_input_grad: return conv_flops(in(0), in(1));  // (dy, kernel)
    case Prim::conv_filter_grad: return conv_flops(in(1), out);   // (x, dy)
    default: break;
  }
  const How how = primitive(n.prim).how;
  if (how == How::elementwise) return count(out);
  if (how == How::reduction) return count(in(0));
  return 0;
}

profile::Work work_of(const Graph& g, const GraphNode& n) {
  if (!n.bodies.empty()) return {};
  profile::Work work{flops_of(g, n), 0};
  for (ValueId v : n.in) work.bytes += static_cast<double>(g.values[v].nbytes());
  for (ValueId v : n.out) work.bytes += static_cast<double>(g.values[v].nbytes());
  return work;
}

namespace {

/// Steps with their kernels, as measured on small nets. Element-wise nodes share one; each convolution keeps a
/// whole oneDNN program.
size_t bytes_of(Prim prim) {
  switch (prim) {
    case Prim::conv:
    case Prim::conv_input_grad:
    case Prim::conv_filter_grad: return 24 << 10;
    default: return primitive(prim).how == How::elementwise ? 160 : 2048;
  }
}

}  // namespace

size_t bytes_of(const Graph& g) {
  size_t bytes = 0;
  for (const GraphNode& n : g.nodes) {
    bytes += bytes_of(n.prim);
    if (n.prim == Prim::constant) bytes += n.as<attrs::constant>().value.nbytes();
    for (const GraphRef& body : n.bodies) bytes += bytes_of(*body);
  }
  return bytes;
}

}  // namespace horngate::native
