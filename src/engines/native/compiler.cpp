// Compiling a static graph: the passes in order, and the steps they work on.
#include "engines/native/compiler.h"

#include "engines/native/layout.h"
#include "engines/native/work.h"
#include "ir/check.h"
#include "ir/interrupt.h"
#include "ir/switches.h"
#include "passes/passes.h"

namespace horngate::native {

// Each pass changes the compiler's tables; those with a switch can be left out.
void Executable::Compiler::run() {
  struct Entry {
    const char* name;
    void (Compiler::*run)();
    std::optional<Pass> leave_out = {};
  };
  static constexpr Entry kPasses[] = {
      {"layout", &Compiler::choose_layout, Pass::layout},
      {"values", &Compiler::list_values},
      {"stable", &Compiler::find_stable, Pass::early},
      {"fusion", &Compiler::fuse_nodes},  // without Pass::fusion: groups of one node
      {"views", &Compiler::place_views, Pass::views},
      {"steps", &Compiler::make_steps},  // Pass::packing is here: kernels ask for it one by one
      {"merge_updates", &Compiler::merge_updates, Pass::merge_updates},
      {"row_chains", &Compiler::chain_rows, Pass::row_chains},
      {"groups", &Compiler::make_groups},
      {"outputs", &Compiler::place_outputs},
      {"sparse", &Compiler::place_sparse},
      {"early", &Compiler::choose_early_steps},
      {"memory", &Compiler::plan_memory},  // Pass::sharing is here
      {"pointers", &Compiler::make_pointers},
  };
  for (const Entry& pass : kPasses) {
    if (shall_stop()) stop_now();  // Ctrl-C
    if (pass.leave_out && !is_on(*pass.leave_out)) continue;
    (this->*pass.run)();
    if (is_verified()) verify_steps(pass.name);
    if (log_enabled("passes"))
      log_text("passes", text_of(pass.name, ": ", g_->nodes.size(), " nodes, ", steps_.size(),
                                 " groups and kernels, ", values_.size(), " steps\n"));
  }
  if (is_verified()) verify_memory();
}

void Executable::Compiler::choose_layout() {
  channels_last_ = channels_last(given_);
  if (channels_last_) g_ = &*channels_last_;
}

void Executable::Compiler::list_values() {
  alias_of_.resize(g_->values.size());
  for (ValueId v = 0; v < g_->values.size(); ++v) alias_of_[v] = v;
  for (const GraphNode& n : g_->nodes)
    if (primitive(n.prim).how == How::alias) alias_of_[n.out[0]] = alias_of_[n.in[0]];
  maker_.assign(g_->values.size(), -1);
  for (size_t i = 0; i < g_->nodes.size(); ++i)
    for (ValueId v : g_->nodes[i].out) maker_[v] = static_cast<int32_t>(i);
  stable_.assign(g_->values.size(), 0);
  consumers_ = consumers_of(*g_);
  place_inputs_and_constants();
}

void Executable::Compiler::fuse_nodes() { steps_ = fuse(*g_); }

void Executable::Compiler::place_views() { views_ = find_views(*g_, steps_, maker_, consumers_); }

void Executable::Compiler::place_inputs_and_constants() {
  place_.resize(g_->values.size());
  for (size_t i = 0; i < g_->inputs.size(); ++i) place_[g_->inputs[i]] = {Place::input, i};
  for (const GraphNode& n : g_->nodes)
    if (n.prim == Prim::constant) {
      place_[n.out[0]] = {Place::constant, exe_.constants_.size()};
      exe_.constants_.push_back(n.as<attrs::constant>().value);
    }
}

void Executable::Compiler::make_steps() {
  for (const StepNodes& s : steps_) {
    stop_if_asked();
    if (!s.fused && views_.hides(g_->nodes[s.nodes[0]].out[0])) continue;
    Step step;
    StepValues values;
    PendingGroup group;
    if (s.fused)
      make_group(s, step, values, group);
    else
      make_kernel(g_->nodes[s.nodes[0]], step, values);
    if (step.kernel) prepare_operands(step, values);
    exe_.steps_.push_back(std::move(step));
    values_.push_back(std::move(values));
    pending_.push_back(std::move(group));
  }
}

void Executable::Compiler::make_kernel(const GraphNode& n, Step& step, StepValues& values) {
  SmallVec<TensorType, 4> in, out;
  for (ValueId v : n.in) {
    in.push_back(g_->values[v]);
    values.in.push_back(v);
  }
  for (ValueId v : n.out) {
    out.push_back(g_->values[v]);
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
  step.work = work_of(*g_, n);
}

void Executable::Compiler::make_groups() {
  fused::GroupCache made;
  for (size_t s = 0; s < pending_.size(); ++s) {
    PendingGroup& g = pending_[s];
    if (g.sets.size() == 1)
      exe_.steps_[s].group =
          fused::Group::make(std::move(g.program), g.sets[0].extent, std::move(g.sets[0].in),
                             std::move(g.sets[0].out), std::move(g.reduced), &made);
    else if (g.sets.size() > 1) {
      exe_.steps_[s].many = fused::MultiGroup::make(g.program, g.sets);
      values_[s].set_in = g.sets[0].in.size();
      values_[s].set_out = g.sets[0].out.size();
    }
    g = {};
  }
  pending_ = {};
}

void Executable::compile(const Graph& graph) { Compiler(graph, *this).run(); }

}  // namespace horngate::native
