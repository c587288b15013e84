// Node: one application of a primitive. Immutable, counted, freed without recursion.
#pragma once

#include <atomic>

#include "horngate/tensor.h"
#include "ir/attrs.h"
#include "ir/name.h"
#include "ir/type.h"

namespace horngate {

/// The sub-graph of a scan or of a branch of cond. It is cut at its parameters and captures, which may be
/// any tensors (a gradient's body is cut at values of the forward body).
/// scan: params (x slices.., carries.., step index), results (new carries.., y slices..)
/// cond: no params, results
struct Body : Counted {
  Tensors params;
  Tensors captures;  // values of the surrounding graph; operands of the node, in this order
  Tensors results;
};
using BodyRef = Ref<const Body>;

enum NodeFlags : uint16_t {
  kUsesLearningPhase = 1,  // its value may depend on the learning phase
  kHasEffect = 2,
};

/// The types of a node's results. Most nodes share the type of an operand.
class NodeTypes {
 public:
  NodeTypes() = default;
  explicit NodeTypes(Types types) : shared_(make_ref<const Shared>(std::move(types))) {}
  const TensorType& operator[](size_t i) const { return shared_->types[i]; }
  size_t size() const { return shared_->types.size(); }
  const TensorType* begin() const { return shared_->types.begin(); }
  const TensorType* end() const { return shared_->types.end(); }

 private:
  struct Shared : Counted {
    explicit Shared(Types t) : types(std::move(t)) {}
    const Types types;
  };
  Ref<const Shared> shared_;
};

struct Node {
  mutable std::atomic<uint32_t> refs{1};
  Prim prim;
  uint16_t flags = 0;
  uint32_t level = 0;  // trace level: 0 outside any body; max over the operands
  uint64_t id = 0;     // operands are older, so id order is a topological order
  SmallVec<Tensor, 2> in;
  NodeTypes out;
  AttrRef attrs;
  SmallVec<BodyRef, 0> bodies;  // scan: one; cond: then, else
  NodeName name;
  mutable void* wrapper = nullptr;  // Python's weak wrapper(s); touched only with the GIL held

  template <class A>
  const A& as() const {
    return attrs_as<A>(attrs.get());
  }
};

/// Makes a node: infers its types, sets id, level and flags, names it in the current scope.
Tensor make_node(Prim prim, SmallVec<Tensor, 2> in, AttrRef attrs, SmallVec<BodyRef, 0> bodies = {},
                 std::string_view name = {});

/// Whether it is a constant of a few elements. A body captures floats that were made before it, so that gradients with
/// respect to them see all uses. A Graph has them in the body itself, where they can be folded into a kernel.
bool is_small_constant(const Node& node);

/// All outputs of a node as tensors.
Tensors outputs_of(const Tensor& first);

inline const TensorType& type_of(const Tensor& t) { return t.node()->out[t.index()]; }

/// Display name: the user's, or "<prim>_<id>".
std::string display_name(const Node& node);

/// Nodes alive now; tests use it to find leaks.
int64_t live_node_count();

}  // namespace horngate
