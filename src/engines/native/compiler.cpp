// Compiling a static graph to steps: fusion, kernels, memory plan, pointers.
#include "engines/native/compiler.h"

#include "engines/native/layout.h"
#include "engines/native/work.h"
#include "ir/check.h"
#include "ir/switches.h"

namespace horngate::native {

void Executable::Compiler::run() {
  alias_of_.resize(g_.values.size());
  for (ValueId v = 0; v < g_.values.size(); ++v) alias_of_[v] = v;
  for (const GraphNode& n : g_.nodes)
    if (primitive(n.prim).how == How::alias) alias_of_[n.out[0]] = alias_of_[n.in[0]];
  maker_.assign(g_.values.size(), -1);
  for (size_t i = 0; i < g_.nodes.size(); ++i)
    for (ValueId v : g_.nodes[i].out) maker_[v] = static_cast<int32_t>(i);
  place_inputs_and_constants();
  find_stable();
  const std::vector<StepNodes> steps = fuse(g_);
  consumers_ = consumers_of(g_);
  if (is_on(Pass::views)) views_ = find_views(g_, steps, maker_, consumers_);
  make_steps(steps);
  if (!g_.in_place.empty()) {
    if (is_on(Pass::merge_updates)) merge_updates();
  } else if (is_on(Pass::row_chains)) {
    chain_rows();
  }
  make_groups();
  place_outputs();
  place_sparse();
  choose_early_steps();
  plan_memory();
  make_pointers();
  if (is_verified()) verify();
}

void Executable::Compiler::place_inputs_and_constants() {
  place_.resize(g_.values.size());
  for (size_t i = 0; i < g_.inputs.size(); ++i) place_[g_.inputs[i]] = {Place::input, i};
  for (const GraphNode& n : g_.nodes)
    if (n.prim == Prim::constant) {
      place_[n.out[0]] = {Place::constant, exe_.constants_.size()};
      exe_.constants_.push_back(n.as<attrs::constant>().value);
    }
}

void Executable::Compiler::make_steps(const std::vector<StepNodes>& steps) {
  for (const StepNodes& s : steps) {
    if (!s.fused && views_.hides(g_.nodes[s.nodes[0]].out[0])) continue;
    Step step;
    StepValues values;
    PendingGroup group;
    if (s.fused)
      make_group(s, step, values, group);
    else
      make_kernel(g_.nodes[s.nodes[0]], step, values);
    if (step.kernel) prepare_operands(step, values);
    exe_.steps_.push_back(std::move(step));
    values_.push_back(std::move(values));
    pending_.push_back(std::move(group));
  }
}

void Executable::Compiler::make_kernel(const GraphNode& n, Step& step, StepValues& values) {
  SmallVec<TensorType, 4> in, out;
  for (ValueId v : n.in) {
    in.push_back(g_.values[v]);
    values.in.push_back(v);
  }
  for (ValueId v : n.out) {
    out.push_back(g_.values[v]);
    values.out.push_back(v);
  }
  KernelCall call;
  call.in = {in.data(), in.size()};
  call.out = {out.data(), out.size()};
  call.attrs = n.attrs.get();
  call.bodies = {n.bodies.data(), n.bodies.size()};
  const KernelFactory make = find_kernel(n.prim);
  invariant(make != nullptr, "there is no native kernel of ", primitive(n.prim).name);
  step.kernel = make(call);
  values.node = &n;
  step.name = primitive(n.prim).name;
  step.node = n.name;
  step.has_bodies = !n.bodies.empty();
  step.work = work_of(g_, n);
}

void Executable::Compiler::make_groups() {
  for (size_t s = 0; s < pending_.size(); ++s) {
    PendingGroup& g = pending_[s];
    if (g.sets.size() == 1)
      exe_.steps_[s].group =
          fused::Group::make(std::move(g.program), g.sets[0].extent, std::move(g.sets[0].in),
                             std::move(g.sets[0].out), std::move(g.reduced));
    else if (g.sets.size() > 1) {
      exe_.steps_[s].many = fused::MultiGroup::make(g.program, g.sets);
      values_[s].set_in = g.sets[0].in.size();
      values_[s].set_out = g.sets[0].out.size();
    }
  }
}

void Executable::compile(const Graph& graph) {
  const std::optional<Graph> other = is_on(Pass::layout) ? channels_last(graph) : std::nullopt;
  Compiler(other ? *other : graph, *this).run();
}

}  // namespace horngate::native
