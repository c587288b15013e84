#include "engines/native/views.h"

#include <algorithm>

#include "engines/native/kernel.h"
#include "ir/fold_ints.h"
#include "prims/rules.h"

namespace horngate::native {
namespace {

View slice_view(const Graph& g, const GraphNode& n) {
  const auto& a = n.as<attrs::slice>();
  const Shape& from = g.values[n.in[0]].shape;
  View view{n.in[0], {contiguous_strides(from.dims()), 0}};
  for (size_t i = 0; i < from.ndim(); ++i) {
    const int64_t step = a.steps.empty() ? 1 : a.steps[i];
    view.access.offset +=
        slice_range(from.dim(i), a.starts[i], a.stops[i], step).start * view.access.stride[i];
    view.access.stride[i] *= step;
  }
  return view;
}

void add_parts(const Graph& g, const GraphNode& concat, Views& views) {
  const auto axis = static_cast<size_t>(concat.as<attrs::concat>().axis);
  const ValueId whole = concat.out[0];
  View part{whole, {contiguous_strides(g.values[whole].shape.dims()), 0}};
  for (ValueId v : concat.in) {
    views.places[v] = part;
    part.access.offset += g.values[v].shape.dim(axis) * part.access.stride[axis];
  }
  views.stepless.insert(whole);
}

}  // namespace

std::vector<Consumers> consumers_of(const Graph& g) {
  std::vector<Consumers> consumers(g.values.size());
  for (uint32_t i = 0; i < g.nodes.size(); ++i)
    for (ValueId v : g.nodes[i].in) consumers[v].push_back(i);
  for (ValueId v : g.outputs) consumers[v].push_back(UINT32_MAX);
  return consumers;
}

Ints contiguous_strides(const Ints& dims) {
  Ints strides(dims.size(), 0);
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0; stride *= dims[i]) strides[i] = stride;
  return strides;
}

fused::Access broadcast_view(const fused::Access& view, const Ints& from, const Ints& extent) {
  fused::Access a;
  a.offset = view.offset;
  a.stride = Ints(extent.size(), 0);
  const size_t lead = extent.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i] != 1) a.stride[lead + i] = view.stride[i];
  return a;
}

fused::Access broadcast_access(const Ints& from, const Ints& extent) {
  return broadcast_view({contiguous_strides(from), 0}, from, extent);
}

Views find_views(const Graph& g, const std::vector<StepNodes>& steps,
                 const std::vector<int32_t>& maker, const std::vector<Consumers>& consumers) {
  Views views;
  std::vector<uint8_t> in_group(g.nodes.size(), 0);
  for (const StepNodes& s : steps)
    for (uint32_t i : s.nodes) in_group[i] = s.fused;
  const auto grouped = [&](uint32_t i) { return i != UINT32_MAX && in_group[i]; };
  for (const GraphNode& n : g.nodes) {
    if (n.prim == Prim::slice && n.in.size() == 1) {
      const Consumers& readers = consumers[n.out[0]];
      if (!readers.empty() && std::all_of(readers.begin(), readers.end(), grouped)) {
        views.places[n.out[0]] = slice_view(g, n);
        views.stepless.insert(n.out[0]);
      }
    }
    if (n.prim != Prim::concat) continue;
    const auto fits = [&](ValueId v) {
      if (maker[v] < 0 || !in_group[static_cast<size_t>(maker[v])]) return false;
      const GraphNode& made = g.nodes[static_cast<size_t>(maker[v])];
      const auto outside = std::count_if(consumers[v].begin(), consumers[v].end(),
                                         [&](uint32_t c) { return !grouped(c); });
      // Exactly one: a part that appears twice in the concat has two readers.
      return primitive(made.prim).how == How::elementwise && outside == 1;
    };
    if (std::all_of(n.in.begin(), n.in.end(), fits)) add_parts(g, n, views);
  }
  return views;
}

}  // namespace horngate::native
