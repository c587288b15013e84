// Early steps: what depends only on stable inputs, including packed operands.
#include "engines/native/compiler.h"
#include "ir/align.h"
#include "ir/check.h"
#include "ir/switches.h"

namespace horngate::native {

void Executable::Compiler::find_stable() {
  for (uint32_t i : g_->stable) stable_[g_->inputs[i]] = !g_->values[g_->inputs[i]].sparse;
  for (const GraphNode& n : g_->nodes) {
    uint8_t stable = !(primitive(n.prim).flags & kEffect);
    for (ValueId v : n.in) stable &= stable_[v];
    for (ValueId v : n.out) stable_[v] = stable && !g_->values[v].sparse;
  }
}

void Executable::Compiler::prepare_operands(Step& step, StepValues& values) {
  if (!is_on(Pass::packing)) return;
  Kernel* kernel = step.kernel.get();
  for (size_t i = 0; i < values.in.size(); ++i) {
    const size_t bytes = kernel->packed_bytes(i);
    if (!bytes || !stable_[values.in[i]]) continue;
    const auto pack = [kernel, i](const void* const* in, void* const* out, RunContext& c) {
      kernel->pack(i, in[0], out[0], c.scratch);
    };
    values.in[i] = add_early_step(kernel_of(pack, kernel->scratch_bytes()),
                                  text_of("pack for ", step.name), {values.in[i]}, bytes);
    kernel->use_packed(i);
  }
  const size_t bytes = kernel->derived_bytes();
  if (!bytes) return;
  std::vector<ValueId> from;
  for (size_t i : kernel->derived_from()) {
    if (!is_stable(values.in[i])) return;
    from.push_back(values.in[i]);
  }
  const auto derive = [kernel](const void* const* in, void* const* out, RunContext& c) {
    kernel->derive(in, out[0], c);
  };
  values.in.push_back(add_early_step(kernel_of(derive, kernel->scratch_bytes()),
                                     text_of("prepare ", step.name), from, bytes));
  kernel->use_derived();
}

ValueId Executable::Compiler::add_early_step(KernelPtr kernel, std::string name,
                                             std::vector<ValueId> from, size_t bytes) {
  const auto made = static_cast<ValueId>(g_->values.size() + packed_bytes_.size());
  packed_bytes_.push_back(bytes);
  alias_of_.push_back(made);
  place_.push_back({});
  Step step;
  step.kernel = std::move(kernel);
  step.name = std::move(name);
  StepValues values;
  values.in = std::move(from);
  values.out = {made};
  exe_.steps_.push_back(std::move(step));
  values_.push_back(std::move(values));
  pending_.emplace_back();
  return made;
}

void Executable::Compiler::choose_early_steps() {
  const auto is_early = [&](size_t s) {
    bool early = !values_[s].out.empty();
    for (ValueId v : values_[s].out)
      early &= is_stable(v) && place_[alias_of_[v]].kind == Place::nowhere;
    // What a step reads must also be made early: a part of a concat may be late.
    for (ValueId v : values_[s].in) early &= is_stable(v);
    return early;
  };
  std::vector<uint8_t> early(values_.size(), 0);
  size_t bytes = 0;
  std::unordered_map<ValueId, uint8_t> late;  // roots that a late step writes
  for (size_t s = 0; s < values_.size(); ++s) {
    early[s] = is_early(s);
    if (!early[s])
      for (ValueId v : values_[s].out) late[alias_of_[v]] = 1;
  }
  // A step that turns late may write a part of what an earlier one writes, which is late then too.
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t s = 0; s < values_.size(); ++s) {
      if (!early[s]) continue;
      for (ValueId v : values_[s].out) early[s] &= !late.count(alias_of_[v]);
      for (ValueId v : values_[s].in) early[s] &= !late.count(alias_of_[v]);
      if (early[s]) continue;
      for (ValueId v : values_[s].out) late[alias_of_[v]] = 1;
      changed = true;
    }
  }
  for (size_t s = 0; s < values_.size(); ++s) {
    if (!early[s]) continue;
    for (ValueId v : values_[s].out) {
      Place& place = place_[alias_of_[v]];
      if (place.kind != Place::nowhere) continue;
      place = {Place::derived, bytes};
      bytes += aligned_bytes(bytes_of(alias_of_[v]));
    }
  }
  exe_.derived_bytes_ = bytes;
  move_to_front(early);
}

void Executable::Compiler::move_to_front(const std::vector<uint8_t>& early) {
  std::vector<size_t> order;
  for (uint8_t wanted : {1, 0})
    for (size_t s = 0; s < early.size(); ++s)
      if (early[s] == wanted) order.push_back(s);
  std::vector<Step> steps;
  std::vector<StepValues> values;
  std::vector<size_t> now(early.size());
  for (size_t s : order) {
    now[s] = steps.size();
    exe_.n_early_ += early[s];
    steps.push_back(std::move(exe_.steps_[s]));
    values.push_back(std::move(values_[s]));
  }
  exe_.steps_ = std::move(steps);
  values_ = std::move(values);
  for (auto& [step, output] : copies_) step = now[step];
}

}  // namespace horngate::native
