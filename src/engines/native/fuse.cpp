// Fusion. Nodes are visited from last to first: a node joins the group of its earliest consumer if it has that group's
// iteration space. A group runs at the place of its root, so whatever else reads a member's value runs later, and
// everything that members read is made before: there can be no cycle. Then neighbours with the same iteration space
// that read the same values, or make parts of one concat, are merged. Finally, what is cheap to compute from values
// that are there anyway (x minus the mean of its row) is computed by every group that reads it, since storing it would
// cost more.
#include "engines/native/fuse.h"

#include <algorithm>
#include <optional>

#include "engines/native/kernel.h"
#include "ir/switches.h"

namespace horngate::native {
namespace {

constexpr size_t kMaxNodes = 96, kMaxInputs = 14, kMaxOutputs = 7, kNeighbours = 12;

struct Open {
  Shape extent;
  uint32_t root;
  std::vector<uint32_t> nodes;  // descending while open
  std::vector<ValueId> inputs;  // values read from outside
  size_t outputs = 0;
  std::vector<uint32_t> unstored;  // members that every reader computes for itself
};

constexpr size_t kMaxCone = 4, kMaxReaders = 16;
constexpr size_t kWorthRecomputing = 16 << 10;  // bytes

bool is_cheap(Prim prim) {
  const int cost = cost_of(prim);
  return (cost > 0 && cost <= 4) || prim == Prim::broadcast || prim == Prim::select;
}

template <class List, class T>
bool contains(const List& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

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
    if (is_on(Pass::neighbours)) merge_neighbours();
    if (is_on(Pass::recompute)) recompute();
    std::vector<StepNodes> steps;
    for (uint32_t i = 0; i < g_.nodes.size(); ++i) {
      const How how = primitive(g_.nodes[i].prim).how;
      if (group_[i] >= 0) {
        Open& group = groups_[static_cast<size_t>(group_[i])];
        if (group.root != i) continue;
        std::sort(group.nodes.begin(), group.nodes.end());
        steps.push_back({group.nodes, true, group.unstored});
      } else if (how == How::kernel) {
        steps.push_back({{i}, false, {}});
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
    if (!is_on_) return open(i, g_.values[n.out[0]].shape);
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
    groups_.push_back({extent, i, {i}, {}, 1, {}});
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

  /// Groups are in descending order of their roots.
  void merge_neighbours() {
    for (size_t b = 0; b < groups_.size(); ++b) {
      if (groups_[b].nodes.empty() || reduces(groups_[b])) continue;
      const size_t last = std::min(groups_.size(), b + 1 + kNeighbours);
      for (size_t a = b + 1; a < last; ++a)
        if (!groups_[a].nodes.empty() && may_merge(groups_[a], groups_[b])) merge(a, b);
    }
  }

  bool reduces(const Open& group) const {
    return primitive(g_.nodes[group.root].prim).how == How::reduction;
  }

  /// `a`, whose root comes first, would run at the place of b's root.
  bool may_merge(const Open& a, const Open& b) const {
    if (!(a.extent == b.extent) || reduces(a) || a.nodes.size() + b.nodes.size() > kMaxNodes ||
        a.outputs + b.outputs > kMaxOutputs)
      return false;
    size_t shared = 0;
    bool pays = feed_one_concat(a, b);  // or if they share a large input
    for (ValueId v : a.inputs) {
      if (std::find(b.inputs.begin(), b.inputs.end(), v) == b.inputs.end()) continue;
      ++shared;
      pays |= g_.values[v].shape == a.extent;
    }
    if (!pays || a.inputs.size() + b.inputs.size() - shared > kMaxInputs) return false;
    for (uint32_t i : a.nodes)
      for (uint32_t c : consumers_[g_.nodes[i].out[0]]) {
        const int32_t group = group_[c];
        const uint32_t place = group >= 0 ? groups_[static_cast<size_t>(group)].root : c;
        if (place != a.root && place < b.root) return false;
      }
    return true;
  }

  bool feed_one_concat(const Open& a, const Open& b) const {
    const auto& x = consumers_[g_.nodes[a.root].out[0]];
    const auto& y = consumers_[g_.nodes[b.root].out[0]];
    return std::any_of(x.begin(), x.end(), [&](uint32_t c) {
      return g_.nodes[c].prim == Prim::concat && std::find(y.begin(), y.end(), c) != y.end();
    });
  }

  void merge(size_t from, size_t to) {
    Open &a = groups_[from], &b = groups_[to];
    for (uint32_t i : a.nodes) {
      group_[i] = static_cast<int32_t>(to);
      b.nodes.push_back(i);
    }
    for (ValueId v : a.inputs) add_input(b, v);
    b.outputs += a.outputs;
    a.nodes.clear();
  }

  /// What is needed to recompute a value: members of its group, and what those read.
  struct Cone {
    std::vector<uint32_t> nodes;
    std::vector<ValueId> leaves;
  };

  void recompute() {
    copies_.resize(g_.nodes.size());
    maker_.assign(g_.values.size(), -1);
    for (uint32_t i = 0; i < g_.nodes.size(); ++i)
      for (ValueId v : g_.nodes[i].out) maker_[v] = static_cast<int32_t>(i);
    for (uint32_t i = 0; i < g_.nodes.size(); ++i) {
      if (group_[i] < 0 || !is_cheap(g_.nodes[i].prim)) continue;
      const ValueId v = g_.nodes[i].out[0];
      Open& home = groups_[static_cast<size_t>(group_[i])];
      if (home.root == i || is_output_[v] || g_.values[v].nbytes() < kWorthRecomputing) continue;
      const std::vector<size_t> readers = groups_that_read(i);
      const std::optional<Cone> cone = readers.empty() ? std::nullopt : cone_of(i, home);
      if (!cone) continue;
      bool fits = true;
      for (size_t r : readers) fits = fits && may_recompute(groups_[r], home, v, *cone);
      if (!fits) continue;
      home.unstored.push_back(i);
      --home.outputs;
      for (size_t r : readers) add_cone(r, v, *cone);
    }
  }

  /// Groups other than its own that read the node's value; none if anything else reads it.
  std::vector<size_t> groups_that_read(uint32_t i) const {
    std::vector<size_t> list;
    if (consumers_[g_.nodes[i].out[0]].size() > kMaxReaders) return list;
    const auto add = [&](size_t group) {
      if (group != static_cast<size_t>(group_[i]) && !contains(list, group)) list.push_back(group);
    };
    for (uint32_t c : consumers_[g_.nodes[i].out[0]]) {
      if (group_[c] < 0) return {};
      add(static_cast<size_t>(group_[c]));
      for (size_t copy : copies_[c]) add(copy);
    }
    return list;
  }

  /// At most one leaf may be as large as the value: reading that instead of the value costs nothing.
  std::optional<Cone> cone_of(uint32_t i, const Open& home) const {
    Cone cone{{i}, {}};
    size_t large = 0;
    for (size_t k = 0; k < cone.nodes.size(); ++k)
      for (ValueId v : g_.nodes[cone.nodes[k]].in) {
        const int32_t from = maker_[v];
        const bool member = from >= 0 && contains(home.nodes, static_cast<uint32_t>(from));
        if (member && !is_stored(static_cast<uint32_t>(from), home)) {
          const auto node = static_cast<uint32_t>(from);
          if (!is_cheap(g_.nodes[node].prim)) return std::nullopt;
          if (!contains(cone.nodes, node)) cone.nodes.push_back(node);
        } else if (!contains(cone.leaves, v)) {
          cone.leaves.push_back(v);
          large += g_.values[v].shape.size() * 2 > home.extent.size();
        }
      }
    if (cone.nodes.size() > kMaxCone || large > 1) return std::nullopt;
    return cone;
  }

  /// Whether something outside its group reads the member.
  bool is_stored(uint32_t i, const Open& home) const {
    if (contains(home.unstored, i)) return false;
    if (is_output_[g_.nodes[i].out[0]]) return true;
    for (uint32_t c : consumers_[g_.nodes[i].out[0]])
      if (!contains(home.nodes, c)) return true;
    return false;
  }

  bool may_recompute(const Open& reader, const Open& home, ValueId v, const Cone& cone) const {
    if (!(reader.extent == home.extent) || reader.nodes.size() + cone.nodes.size() > kMaxNodes)
      return false;
    size_t fresh = 0;
    for (ValueId leaf : cone.leaves) fresh += !contains(reader.inputs, leaf);
    return contains(reader.inputs, v) && reader.inputs.size() - 1 + fresh <= kMaxInputs;
  }

  void add_cone(size_t reader, ValueId v, const Cone& cone) {
    Open& group = groups_[reader];
    group.inputs.erase(std::find(group.inputs.begin(), group.inputs.end(), v));
    for (uint32_t node : cone.nodes) {
      if (contains(group.nodes, node)) continue;
      group.nodes.push_back(node);
      group.unstored.push_back(node);
      copies_[node].push_back(reader);
    }
    for (ValueId leaf : cone.leaves) add_input(group, leaf);
  }

  const Graph& g_;
  const bool is_on_ = is_on(Pass::fusion);
  std::vector<int32_t> group_;
  std::vector<Open> groups_;
  std::vector<SmallVec<uint32_t, 2>> consumers_;
  std::vector<uint8_t> is_output_;
  std::vector<int32_t> maker_;               // per value, or -1
  std::vector<SmallVec<size_t, 2>> copies_;  // per node: groups that compute it too
};

}  // namespace

std::vector<StepNodes> fuse(const Graph& graph) { return Fuser(graph).run(); }

}  // namespace horngate::native
