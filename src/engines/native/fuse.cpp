// Fusion. Nodes are visited from the last to the first: a node joins the group of its earliest consumer when it
// has that group's iteration space. A group runs at the place of its root, so whatever else reads a member's
// value runs later, and everything that members read is made before: there can be no cycle.
#include "engines/native/fuse.h"

#include <algorithm>

#include "engines/native/kernel.h"

namespace horngate::native {
namespace {

constexpr size_t kMaxNodes = 96, kMaxInputs = 14, kMaxOutputs = 7;

struct Open {
  Shape extent;
  uint32_t root;
  std::vector<uint32_t> nodes;  // descending while open
  std::vector<ValueId> inputs;  // values read from outside
  size_t outputs = 0;
};

class Fuser {
 public:
  explicit Fuser(const Graph& g)
      : g_(g),
        group_(g.nodes.size(), -1),
        consumers_(g.values.size()),
        is_output_(g.values.size(), 0) {
    for (uint32_t i = 0; i < g.nodes.size(); ++i)
      for (ValueId v : g.nodes[i].in) consumers_[v].push_back(i);
    for (ValueId v : g.outputs) is_output_[v] = 1;
  }

  std::vector<StepNodes> run() {
    for (size_t i = g_.nodes.size(); i-- > 0;) visit(static_cast<uint32_t>(i));
    std::vector<StepNodes> steps;
    for (uint32_t i = 0; i < g_.nodes.size(); ++i) {
      const How how = primitive(g_.nodes[i].prim).how;
      if (group_[i] >= 0) {
        Open& group = groups_[static_cast<size_t>(group_[i])];
        if (group.root != i) continue;
        std::sort(group.nodes.begin(), group.nodes.end());
        steps.push_back({group.nodes, true});
      } else if (how == How::kernel) {
        steps.push_back({{i}, false});
      }
    }
    return steps;
  }

 private:
  void visit(uint32_t i) {
    const GraphNode& n = g_.nodes[i];
    const How how = primitive(n.prim).how;
    if (how == How::reduction) return open(i, g_.values[n.in[0]].shape);
    if (how != How::elementwise) return;
    int32_t best = -1;
    uint32_t earliest = UINT32_MAX;
    bool elsewhere = is_output_[n.out[0]];
    for (uint32_t c : consumers_[n.out[0]]) {
      const int32_t group = group_[c];
      const uint32_t place = group >= 0 ? groups_[static_cast<size_t>(group)].root : c;
      if (place < earliest) {
        earliest = place;
        best = group;
      }
    }
    for (uint32_t c : consumers_[n.out[0]]) elsewhere |= group_[c] != best;
    if (best < 0 || !join(i, groups_[static_cast<size_t>(best)], elsewhere))
      return open(i, g_.values[n.out[0]].shape);
    group_[i] = best;
  }

  void open(uint32_t i, const Shape& extent) {
    group_[i] = static_cast<int32_t>(groups_.size());
    groups_.push_back({extent, i, {i}, {}, 1});
    for (ValueId v : g_.nodes[i].in) add_input(groups_.back(), v);
  }

  static void add_input(Open& group, ValueId v) {
    if (std::find(group.inputs.begin(), group.inputs.end(), v) == group.inputs.end())
      group.inputs.push_back(v);
  }

  bool join(uint32_t i, Open& group, bool elsewhere) {
    const GraphNode& n = g_.nodes[i];
    if (!(g_.values[n.out[0]].shape == group.extent)) return false;
    if (group.nodes.size() >= kMaxNodes || group.outputs + elsewhere > kMaxOutputs) return false;
    size_t fresh = 0;
    for (ValueId v : n.in)
      fresh += std::find(group.inputs.begin(), group.inputs.end(), v) == group.inputs.end();
    if (group.inputs.size() - 1 + fresh > kMaxInputs) return false;
    group.inputs.erase(std::find(group.inputs.begin(), group.inputs.end(), n.out[0]));
    for (ValueId v : n.in) add_input(group, v);
    group.nodes.push_back(i);
    group.outputs += elsewhere;
    return true;
  }

  const Graph& g_;
  std::vector<int32_t> group_;
  std::vector<Open> groups_;
  std::vector<SmallVec<uint32_t, 2>> consumers_;
  std::vector<uint8_t> is_output_;
};

}  // namespace

std::vector<StepNodes> fuse(const Graph& graph) { return Fuser(graph).run(); }

}  // namespace horngate::native
