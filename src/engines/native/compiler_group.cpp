// Steps of element-wise nodes, with a reduction at their end, as one program.
#include <algorithm>

#include "engines/native/compiler.h"
#include "engines/native/work.h"
#include "ir/switches.h"

namespace horngate::native {
namespace {

std::vector<bool> reduced_axes(const GraphNode& n, size_t rank) {
  std::vector<bool> reduced(rank, false);
  for (int64_t axis : *primitive(n.prim).ints(n.attrs.get(), "axes"))
    reduced[static_cast<size_t>(axis)] = true;
  return reduced;
}

/// How a reduction's result is written while iterating over its operand.
fused::Access reduce_access(const std::vector<bool>& reduced, const Ints& extent) {
  fused::Access a;
  a.stride = Ints(extent.size(), 0);
  int64_t stride = 1;
  for (size_t i = extent.size(); i-- > 0;) {
    if (reduced[i]) continue;
    a.stride[i] = stride;
    stride *= extent[i];
  }
  return a;
}

}  // namespace

class Executable::Compiler::GroupMaker {
 public:
  GroupMaker(const Compiler& compiler, const StepNodes& nodes, Step& step, StepValues& values)
      : compiler_(compiler), g_(*compiler.g_), nodes_(nodes), step_(step), values_(values) {}

  void make(PendingGroup& group) {
    const GraphNode& root = g_.nodes[nodes_.nodes.back()];
    const bool reduces = primitive(root.prim).how == How::reduction;
    extent_ = g_.values[reduces ? root.in[0] : root.out[0]].shape.dims();
    step_.name = "fused(";
    step_.node = root.name;
    for (size_t k = 0; k < nodes_.nodes.size(); ++k) {
      const GraphNode& n = g_.nodes[nodes_.nodes[k]];
      step_.name += std::string(k ? ", " : "") + primitive(n.prim).name;
      step_.work.flops += flops_of(g_, n);
      if (reduces && k + 1 == nodes_.nodes.size()) {
        group.reduced = reduced_axes(n, extent_.size());
        builder_.reduce_output(load(n.in[0]), n.prim);
        store(n.out[0], n.out[0], false, reduce_access(group.reduced, extent_));
        continue;
      }
      const fused::Reg r = compute(n);
      regs_[n.out[0]] = r;
      if (!is_read_outside(nodes_.nodes[k])) continue;
      builder_.output(r);
      if (const View* part = compiler_.views_.find(n.out[0]))
        store(n.out[0], part->source, false, part->access);
      else
        store(n.out[0], n.out[0], true, {contiguous_strides(extent_), 0});
    }
    step_.name += ")";
    group.program = builder_.build();
    group.sets.push_back({extent_, std::move(in_), std::move(out_)});
  }

 private:
  void count_bytes(ValueId v) { step_.work.bytes += static_cast<double>(g_.values[v].nbytes()); }

  /// The constant behind a value, if it has a single element.
  const Array* scalar_constant(ValueId v) const {
    const int32_t maker = compiler_.maker_[v];
    if (maker < 0) return nullptr;
    const GraphNode& from = g_.nodes[static_cast<size_t>(maker)];
    if (from.prim != Prim::constant) return nullptr;
    const Array& a = from.as<attrs::constant>().value;
    return a.size() == 1 ? &a : nullptr;
  }

  fused::Reg load(ValueId v) {
    if (const auto it = regs_.find(v); it != regs_.end()) return it->second;
    const Array* scalar = scalar_constant(v);
    const fused::Reg r =
        !scalar ? input(v)
        : is_float(scalar->dtype())
            ? builder_.constant(scalar->item<double>(), scalar->dtype())
            : builder_.constant(*scalar->cast(DType::int64).data<int64_t>(), scalar->dtype());
    regs_[v] = r;
    return r;
  }

  fused::Reg input(ValueId v) {
    count_bytes(v);
    const Ints dims = g_.values[v].shape.dims();
    const View* view = compiler_.views_.find(v);
    in_.push_back(view ? broadcast_view(view->access, dims, extent_)
                       : broadcast_access(dims, extent_));
    values_.in.push_back(view ? view->source : v);
    values_.in_whole.push_back(!view && dims == extent_);
    return builder_.input(g_.values[v].dtype);
  }

  fused::Reg compute(const GraphNode& n) {
    const fused::Reg a = load(n.in[0]);
    if (n.prim == Prim::broadcast) return a;
    if (n.prim == Prim::cast) return builder_.cast(a, g_.values[n.out[0]].dtype);
    const fused::Reg b = n.in.size() > 1 ? load(n.in[1]) : fused::kNone;
    const fused::Reg c = n.in.size() > 2 ? load(n.in[2]) : fused::kNone;
    const DType dtype = g_.values[n.in[n.prim == Prim::select ? 1 : 0]].dtype;
    return builder_.op(n.prim, dtype, a, b, c);
  }

  /// Makes the value, or its part of `in`, a result of the step.
  void store(ValueId v, ValueId in, bool whole, fused::Access access) {
    count_bytes(v);
    values_.out.push_back(in);
    values_.out_whole.push_back(whole);
    out_.push_back(std::move(access));
  }

  /// Whether the member's value is a graph output or read by other steps.
  bool is_read_outside(uint32_t node) const {
    const auto& unstored = nodes_.unstored;
    if (std::find(unstored.begin(), unstored.end(), node) != unstored.end()) return false;
    const Consumers& readers = compiler_.consumers_[g_.nodes[node].out[0]];
    return std::any_of(readers.begin(), readers.end(), [&](uint32_t c) {
      return !std::binary_search(nodes_.nodes.begin(), nodes_.nodes.end(), c);
    });
  }

  const Compiler& compiler_;
  const Graph& g_;
  const StepNodes& nodes_;
  Step& step_;
  StepValues& values_;
  Ints extent_;
  fused::ProgramBuilder builder_;
  std::unordered_map<ValueId, fused::Reg> regs_;
  std::vector<fused::Access> in_, out_;
};

void Executable::Compiler::make_group(const StepNodes& s, Step& step, StepValues& values,
                                      PendingGroup& group) {
  GroupMaker(*this, s, step, values).make(group);
  if (!is_verified()) return;
  const fused::MultiGroup::Set& set = group.sets[0];
  Phase& phase = values.phases.emplace_back();
  for (size_t i = 0; i < values.in.size(); ++i)
    phase.reads.push_back(
        {alias_of_[values.in[i]], set.in[i], set.extent, size_of(group.program.inputs[i])});
  for (size_t o = 0; o < values.out.size(); ++o)
    phase.writes.push_back({alias_of_[values.out[o]], set.out[o], set.extent,
                            size_of(group.program.outputs[o].dtype)});
}

}  // namespace horngate::native
