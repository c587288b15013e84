// Where values lie: in memory of the caller, in the arena, in that of a value which ends; and the pointers to it.
#include <algorithm>
#include <cstring>

#include "engines/native/compiler.h"
#include "engines/native/memory_plan.h"
#include "ir/switches.h"

namespace horngate::native {
namespace {

KernelPtr copy_kernel(const TensorType& type) {
  if (type.sparse)
    return kernel_of([rows = type.shape.dim(0), item = size_of(type.dtype)](
                         const void* const* in, void* const* out, RunContext&) {
      SparseBuffer::at(out[0]).assign(*static_cast<const SparseView*>(in[0]), rows, item);
    });
  return kernel_of([bytes = type.nbytes()](const void* const* in, void* const* out, RunContext&) {
    if (bytes && in[0] != out[0]) std::memcpy(out[0], in[0], bytes);
  });
}

}  // namespace

void Executable::Compiler::place_outputs() {
  std::vector<uint8_t> late(g_.outputs.size(), 0);
  for (size_t k = 0; k + 1 < g_.in_place.size(); k += 2)
    late[g_.in_place[k]] = !in_place_is_safe(g_.in_place[k], g_.in_place[k + 1]);
  for (size_t i = 0; i < g_.outputs.size(); ++i) {
    const ValueId root = alias_of_[g_.outputs[i]];
    if (place_[root].kind == Place::nowhere && !late[i]) {
      place_[root] = {Place::output, i};
      continue;
    }
    Step copy;
    copy.kernel = copy_kernel(g_.values[g_.outputs[i]]);
    copy.name = "copy";
    exe_.steps_.push_back(std::move(copy));
    values_.emplace_back().in = {g_.outputs[i]};
    copies_.emplace_back(exe_.steps_.size() - 1, i);
  }
}

bool Executable::Compiler::in_place_is_safe(size_t output, size_t input) const {
  const ValueId out = alias_of_[g_.outputs[output]], in = g_.inputs[input];
  // Parts of a concat are written by several steps.
  size_t writer = values_.size(), writers = 0;
  for (size_t s = 0; s < values_.size(); ++s)
    for (ValueId v : values_[s].out)
      if (alias_of_[v] == out) {
        writer = std::min(writer, s);
        ++writers;
      }
  for (size_t s = writer; s < values_.size(); ++s)
    for (size_t i = 0; i < values_[s].in.size(); ++i) {
      if (alias_of_[values_[s].in[i]] != in) continue;
      if (s > writer || writers > 1) return false;
      for (size_t o = 0; o < values_[s].out.size(); ++o)
        if (alias_of_[values_[s].out[o]] == out && !may_share(exe_.steps_[s], values_[s], i, o))
          return false;
    }
  return true;
}

void Executable::Compiler::place_sparse() {
  for (const StepValues& s : values_)
    for (ValueId v : s.out)
      if (Place& place = place_[alias_of_[v]];
          v < g_.values.size() && g_.values[v].sparse && place.kind == Place::nowhere)
        place = {Place::sparse, exe_.n_sparse_++};
}

void Executable::Compiler::plan_memory() {
  // Last step that touches each root.
  std::vector<size_t> last(alias_of_.size(), 0);
  for (size_t s = 0; s < values_.size(); ++s) {
    for (ValueId v : values_[s].in) last[alias_of_[v]] = s;
    for (ValueId v : values_[s].out) last[alias_of_[v]] = std::max(last[alias_of_[v]], s);
  }
  MemoryPlan plan;
  std::vector<std::vector<ValueId>> dying(values_.size());
  for (size_t s = 0; s < values_.size(); ++s) {
    Step& step = exe_.steps_[s];
    std::vector<ValueId> taken;  // operands whose memory a result took over
    for (size_t o = 0; o < values_[s].out.size(); ++o) {
      const ValueId root = alias_of_[values_[s].out[o]];
      if (place_[root].kind != Place::nowhere) continue;
      const size_t bytes = bytes_of(root);
      const ValueId donor = find_donor(step, values_[s], o, s, last, taken);
      if (donor != kNoValue) {
        place_[root] = place_[donor];
        taken.push_back(donor);
      } else {
        place_[root] = {Place::arena, plan.allocate(bytes)};
      }
      dying[last[root]].push_back(root);
    }
    if (const size_t scratch = scratch_of(step)) {
      step.scratch = plan.allocate(scratch);
      plan.release(step.scratch, scratch);
    }
    for (ValueId v : dying[s])
      if (std::find(taken.begin(), taken.end(), v) == taken.end())
        plan.release(place_[v].at, bytes_of(v));
  }
  exe_.arena_bytes_ = plan.peak();
}

size_t Executable::Compiler::scratch_of(const Step& step) const {
  return step.kernel ? step.kernel->scratch_bytes() : step.group ? step.group->scratch_bytes() : 0;
}

ValueId Executable::Compiler::find_donor(const Step& step, const StepValues& values, size_t o,
                                         size_t s, const std::vector<size_t>& last,
                                         const std::vector<ValueId>& taken) const {
  if (!is_on(Pass::sharing)) return kNoValue;
  if (values.out[o] >= g_.values.size()) return kNoValue;  // a packed form
  const TensorType& out = g_.values[values.out[o]];
  for (size_t i = 0; i < values.in.size(); ++i) {
    const ValueId root = alias_of_[values.in[i]];
    if (place_[root].kind != Place::arena || last[root] != s) continue;
    if (std::find(taken.begin(), taken.end(), root) != taken.end()) continue;
    if (bytes_of(root) != out.nbytes()) continue;
    if (std::count_if(values.in.begin(), values.in.end(),
                      [&](ValueId v) { return alias_of_[v] == root; }) != 1)
      continue;
    if (may_share(step, values, i, o)) return root;
  }
  return kNoValue;
}

bool Executable::Compiler::may_share(const Step& step, const StepValues& values, size_t i,
                                     size_t o) const {
  // Different sets of a merged step run in any order.
  if (step.many && i / values.set_in != o / values.set_out) return false;
  if (step.kernel) return step.kernel->can_alias(i, o);
  return values.in_whole[i] && values.out_whole[o] &&
         size_of(g_.values[values.in[i]].dtype) == size_of(g_.values[values.out[o]].dtype);
}

void Executable::Compiler::make_pointers() {
  uint32_t next = 0;
  const auto slot = [&](Place place) {
    (place.kind == Place::input || place.kind == Place::output ? exe_.moving_ : exe_.fixed_)
        .push_back({next++, place});
  };
  for (size_t s = 0; s < values_.size(); ++s) {
    Step& step = exe_.steps_[s];
    step.first = next;
    step.n_in = static_cast<uint32_t>(values_[s].in.size());
    for (ValueId v : values_[s].in) slot(place_[alias_of_[v]]);
    for (ValueId v : values_[s].out) slot(place_[alias_of_[v]]);
    for (const auto& [index, output] : copies_)
      if (index == s) slot({Place::output, output});
    step.n_out = next - step.first - step.n_in;
  }
  exe_.n_pointers_ = next;
}

}  // namespace horngate::native
