// The parts of a scan's body, as needed to move work out of the loop.
#pragma once

#include <map>

#include "ir/graph.h"

namespace horngate {

/// Worth moving out of the loop: one large product is much faster than many small ones.
bool is_heavy(Prim prim);
/// f(a + b) = f(a) + f(b), so a sum over the steps may be taken first.
bool is_linear_view(const GraphNode& node);

struct LoopBody {
  enum : uint8_t { kFromSequence = 1, kFromLoop = 2 };
  /// A value that is a part of a concat.
  struct Part {
    ValueId whole;
    int64_t axis, start;
  };

  explicit LoopBody(const GraphNode& scan);
  /// The node that makes v, or nullptr for inputs.
  const GraphNode* maker(ValueId v) const {
    return maker_[v] < 0 ? nullptr : &graph.nodes[static_cast<size_t>(maker_[v])];
  }

  /// Whether the products of one value with parts of a concat need most of that concat.
  bool shares_whole(const GraphNode& n) const;

  const Graph& graph;
  size_t n_x, n_c, n_cap;            // sequences, carries, captures
  std::vector<uint8_t> from;         // per value: what it depends on; 0: the same in each step
  std::vector<uint8_t> core;         // per value: the next step needs it
  std::vector<ValueId> summand;      // per carry: what it sums up, or kNoValue
  std::vector<size_t> kept_carries;  // the others
  std::map<ValueId, Part> parts;

 private:
  void classify();
  void find_parts();
  void find_sums();
  bool can_sum(ValueId f) const;
  void find_core();

  std::vector<int32_t> maker_;
  std::vector<uint32_t> uses_;
};

}  // namespace horngate
