// Where values lie (in the caller's memory, in the arena, or in that of a value no longer needed), and the pointers
// to them.
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
  const std::vector<uint8_t> late = outputs_not_in_place();
  for (size_t i = 0; i < g_->outputs.size(); ++i) {
    const ValueId root = alias_of_[g_->outputs[i]];
    if (place_[root].kind == Place::nowhere && !late[i]) {
      place_[root] = {Place::output, i};
      continue;
    }
    Step copy;
    copy.kernel = copy_kernel(g_->values[g_->outputs[i]]);
    copy.name = "copy";
    exe_.steps_.push_back(std::move(copy));
    values_.emplace_back().in = {g_->outputs[i]};
    copies_.emplace_back(exe_.steps_.size() - 1, i);
  }
}

std::vector<uint8_t> Executable::Compiler::outputs_not_in_place() const {
  std::vector<uint8_t> late(g_->outputs.size(), 0);
  if (g_->in_place.empty()) return late;
  // For the roots in question: who reads and who writes them, in step order.
  using Uses = std::vector<std::pair<size_t, size_t>>;  // step, number of the operand or result
  std::unordered_map<ValueId, Uses> reads, writes;
  for (size_t k = 0; k + 1 < g_->in_place.size(); k += 2) {
    writes[alias_of_[g_->outputs[g_->in_place[k]]]];
    reads[g_->inputs[g_->in_place[k + 1]]];
  }
  const auto note = [&](std::unordered_map<ValueId, Uses>& uses, const std::vector<ValueId>& list,
                        size_t s) {
    for (size_t i = 0; i < list.size(); ++i)
      if (const auto it = uses.find(alias_of_[list[i]]); it != uses.end())
        it->second.emplace_back(s, i);
  };
  for (size_t s = 0; s < values_.size(); ++s) {
    note(reads, values_[s].in, s);
    note(writes, values_[s].out, s);
  }
  // Everything that reads the input must be done when the output is written. Several steps write the parts of a
  // concat; then nothing may read the input from the first of them on.
  for (size_t k = 0; k + 1 < g_->in_place.size(); k += 2) {
    const Uses& made = writes[alias_of_[g_->outputs[g_->in_place[k]]]];
    if (made.empty()) continue;
    const auto [writer, o] = made[0];
    for (const auto& [s, i] : reads[g_->inputs[g_->in_place[k + 1]]])
      if (s > writer ||
          (s == writer && (made.size() > 1 || !may_share(exe_.steps_[s], values_[s], i, o))))
        late[g_->in_place[k]] = 1;
  }
  return late;
}

void Executable::Compiler::place_sparse() {
  for (const StepValues& s : values_)
    for (ValueId v : s.out)
      if (Place& place = place_[alias_of_[v]];
          v < g_->values.size() && g_->values[v].sparse && place.kind == Place::nowhere)
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
  std::vector<uint8_t> taken(alias_of_.size(), 0);   // roots whose memory a result has taken over
  std::vector<uint32_t> reads(alias_of_.size(), 0);  // by this step
  size_t now = 0;
  const std::function<bool(ValueId)> is_free = [&](ValueId v) {
    return last[v] == now && !taken[v] && reads[v] == 1;
  };
  for (size_t s = 0; s < values_.size(); ++s) {
    now = s;
    Step& step = exe_.steps_[s];
    for (ValueId v : values_[s].in) ++reads[alias_of_[v]];
    for (size_t o = 0; o < values_[s].out.size(); ++o) {
      const ValueId root = alias_of_[values_[s].out[o]];
      if (place_[root].kind != Place::nowhere) continue;
      const size_t bytes = bytes_of(root);
      const ValueId donor = find_donor(step, values_[s], o, is_free);
      if (donor != kNoValue) {
        place_[root] = place_[donor];
        taken[donor] = 1;
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
      if (!taken[v]) plan.release(place_[v].at, bytes_of(v));
    for (ValueId v : values_[s].in) reads[alias_of_[v]] = 0;
  }
  exe_.arena_bytes_ = plan.peak();
}

size_t Executable::Compiler::scratch_of(const Step& step) const {
  return step.kernel ? step.kernel->scratch_bytes() : step.group ? step.group->scratch_bytes() : 0;
}

ValueId Executable::Compiler::find_donor(const Step& step, const StepValues& values, size_t o,
                                         const std::function<bool(ValueId)>& is_free) const {
  if (!is_on(Pass::sharing)) return kNoValue;
  if (values.out[o] >= g_->values.size()) return kNoValue;  // a packed form
  const TensorType& out = g_->values[values.out[o]];
  // A merged step may have thousands of sets, and only operands of the same set may share.
  const size_t first = step.many ? o / values.set_out * values.set_in : 0;
  const size_t end = step.many ? first + values.set_in : values.in.size();
  for (size_t i = first; i < end; ++i) {
    const ValueId root = alias_of_[values.in[i]];
    if (place_[root].kind == Place::arena && is_free(root) && bytes_of(root) == out.nbytes() &&
        may_share(step, values, i, o))
      return root;
  }
  return kNoValue;
}

bool Executable::Compiler::may_share(const Step& step, const StepValues& values, size_t i,
                                     size_t o) const {
  // The sets of a merged step run in any order.
  if (step.many && i / values.set_in != o / values.set_out) return false;
  if (step.kernel) return step.kernel->can_alias(i, o);
  return values.in_whole[i] && values.out_whole[o] &&
         size_of(g_->values[values.in[i]].dtype) == size_of(g_->values[values.out[o]].dtype);
}

void Executable::Compiler::make_pointers() {
  uint32_t next = 0;
  const auto slot = [&](Place place) {
    (place.kind == Place::input || place.kind == Place::output ? exe_.moving_ : exe_.fixed_)
        .push_back({next++, place});
  };
  std::vector<size_t> copied(values_.size(), SIZE_MAX);
  for (const auto& [step, output] : copies_) copied[step] = output;
  for (size_t s = 0; s < values_.size(); ++s) {
    Step& step = exe_.steps_[s];
    step.first = next;
    step.n_in = static_cast<uint32_t>(values_[s].in.size());
    for (ValueId v : values_[s].in) slot(place_[alias_of_[v]]);
    for (ValueId v : values_[s].out) slot(place_[alias_of_[v]]);
    if (copied[s] != SIZE_MAX) slot({Place::output, copied[s]});
    step.n_out = next - step.first - step.n_in;
  }
  exe_.n_pointers_ = next;
}

}  // namespace horngate::native
