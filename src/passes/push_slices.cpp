// Non-overlapping slices of an element-wise result become element-wise results of slices: the gates of a cell,
// cut from one array of sums, are then one group that reads its operands in place.
#include <algorithm>
#include <map>

#include "passes/passes.h"
#include "passes/rewriter.h"
#include "passes/slices.h"

namespace horngate {
namespace {

constexpr int kDeepest = 32;  // element-wise nodes above a slice

class SlicePusher {
 public:
  explicit SlicePusher(const Graph& g) : g_(g) {}

  Graph run() {
    analyse();
    now_.assign(g_.values.size(), kNoValue);
    for (ValueId v : g_.inputs) now_[v] = r_.input(g_.values[v]);
    for (const GraphNode& n : g_.nodes) {
      if (n.out.size() == 1 && axis_[n.out[0]] != kNone) continue;  // only its slices are needed
      if (const auto range = range_of(n); range && axis_[n.in[0]] == axis_of(*range)) {
        now_[n.out[0]] = part(n.in[0], *range);
        continue;
      }
      r_.copy(g_, n, now_);
    }
    for (ValueId v : g_.outputs) r_.graph.outputs.push_back(now_[v]);
    r_.graph.in_place = g_.in_place;
    return remove_dead(std::move(r_.graph));
  }

 private:
  static constexpr int32_t kNone = -1;
  static int32_t axis_of(const AxisRange& r) { return static_cast<int32_t>(r.axis); }
  std::optional<AxisRange> range_of(const GraphNode& n) const {
    return n.in.empty() ? std::nullopt : axis_range(n, g_.values[n.in[0]].shape);
  }

  /// Sets axis_[v] if v is read only by slices along that axis, or by values of which the same is true.
  void analyse() {
    axis_.assign(g_.values.size(), kNone);
    std::vector<std::vector<uint32_t>> readers(g_.values.size());
    std::vector<uint8_t> is_output(g_.values.size(), 0);
    maker_.assign(g_.values.size(), 0);
    for (uint32_t i = 0; i < g_.nodes.size(); ++i) {
      for (ValueId v : g_.nodes[i].in) readers[v].push_back(i);
      for (ValueId v : g_.nodes[i].out) maker_[v] = i;
    }
    for (ValueId v : g_.outputs) is_output[v] = 1;
    std::vector<int> depth(g_.values.size(), 0);
    for (size_t i = g_.nodes.size(); i-- > 0;) {
      const GraphNode& n = g_.nodes[i];
      const ValueId v = n.out[0];
      if (n.out.size() != 1 || primitive(n.prim).how != How::elementwise || is_output[v] ||
          n.prim == Prim::broadcast || readers[v].empty())
        continue;
      int32_t axis = kNone;
      std::vector<AxisRange> ranges;
      bool fits = true;
      for (uint32_t reader : readers[v]) {
        const GraphNode& c = g_.nodes[reader];
        int32_t here = kNone;
        if (const auto r = range_of(c)) {
          here = axis_of(*r);
          ranges.push_back(*r);
        } else if (c.out.size() == 1 && g_.values[c.out[0]].shape == g_.values[v].shape) {
          here = axis_[c.out[0]];
          depth[v] = std::max(depth[v], depth[c.out[0]] + 1);
        }
        fits &= here != kNone && (axis == kNone || here == axis);
        axis = here;
      }
      // An axis of size 1 cannot be cut, and there an operand of size 1 would look broadcast.
      fits = fits && g_.values[v].shape.dim(static_cast<size_t>(axis)) > 1;
      // Unless all readers are slices, each of several readers would compute v again.
      fits &= ranges.size() == readers[v].size() || readers[v].size() == 1;
      std::sort(ranges.begin(), ranges.end());
      for (size_t k = 1; k < ranges.size(); ++k) fits &= ranges[k - 1].stop <= ranges[k].start;
      if (fits && depth[v] < kDeepest) axis_[v] = axis;
    }
  }

  /// The part of a value, with slices pushed above the element-wise nodes; kDeepest bounds the recursion.
  ValueId part(ValueId v, const AxisRange& range) {
    const auto key = std::pair(v, range);
    if (const auto it = parts_.find(key); it != parts_.end()) return it->second;
    const size_t rank = g_.values[v].shape.ndim();
    ValueId made;
    if (axis_[v] == kNone) {
      made = r_.emit(slice_along(rank, range), {now_[v]});
    } else {
      const GraphNode& n = g_.nodes[maker_[v]];
      SmallVec<ValueId, 4> in;
      for (ValueId o : n.in) {
        const size_t lead = rank - g_.values[o].shape.ndim();
        const bool repeats = range.axis < lead || g_.values[o].shape.dim(range.axis - lead) == 1;
        in.push_back(repeats ? now_[o] : part(o, {range.axis - lead, range.start, range.stop}));
      }
      made = r_.emit(n.prim, std::move(in), n.attrs);
    }
    parts_.emplace(key, made);
    return made;
  }

  const Graph& g_;
  Rewriter r_;
  std::vector<ValueId> now_;
  std::vector<int32_t> axis_;
  std::vector<size_t> maker_;
  std::map<std::pair<ValueId, AxisRange>, ValueId> parts_;
};

}  // namespace

Graph push_slices(Graph graph) {
  const bool any = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                               [](const GraphNode& n) { return n.prim == Prim::slice; });
  if (!any) return graph;
  return SlicePusher(graph).run();
}

}  // namespace horngate
