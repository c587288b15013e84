// Memory of a call's values, and running a plan over them.
#include "plan/call.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "ir/abi.h"
#include "ir/align.h"
#include "ir/check.h"

namespace horngate {

void* FunctionImpl::Call::pointer_of(const Array& a) {
  if (!a.is_sparse()) return a.raw();
  const auto& p = a.sparse_parts();
  sparse.push_back({sizeof(hg_sparse), p.values.size(), p.indptr.data<int64_t>(),
                    p.indices.data<int64_t>(), p.values.raw()});
  return &sparse.back();
}

void FunctionImpl::Call::set_input(size_t i, const Array& a) {
  if (own) [[unlikely]] {
    own_inputs[i] = own_memory_of(a, *own);
    if (own_inputs[i]) return;
  }
  inputs[i] = pointer_of(a);
}

void FunctionImpl::Call::set_input(size_t i, const VariableState& v) {
  if (own && v.in_engine && v.in_engine_version == v.version) [[unlikely]] {
    auto kept = std::static_pointer_cast<OwnMemory>(v.in_engine);
    if (&kept->engine() == own) own_inputs[i] = std::move(kept);
  }
  if (!own || !own_inputs[i]) set_input(i, v.value);
}

/// Copies a value to the engine's memory. A variable's copy stays there for the next call.
void* FunctionImpl::Call::own_pointer(const Plan& plan, SlotId s) {
  std::shared_ptr<OwnMemory>& memory = own_data[s];
  const size_t bytes = plan.buffers[s].bytes;
  if (memory || bytes == 0) return memory ? memory->data() : nullptr;
  memory = std::make_shared<OwnMemory>(*own, bytes);
  memory->copy_in(data[s]);
  const size_t first = feeds.size();
  if (s >= first && s < first + program->variables.size()) {
    VariableState& v = *program->variables[s - first];
    const std::lock_guard lock(v.guard);
    if (v.version == stamps[s]) {
      v.in_engine = memory;
      v.in_engine_version = v.version;
    }
  }
  return memory->data();
}

void* FunctionImpl::Call::pointer_for(const Engine& engine, const Plan& plan, SlotId s) {
  if (!own) return data[s];
  if (engine.has(HG_CAP_OWN_MEMORY)) return own_pointer(plan, s);
  if (!data[s] && own_data[s]) {
    brought.emplace_back(plan.slots[s].dtype, plan.slots[s].shape.dims());
    own_data[s]->copy_out(brought.back().raw());
    data[s] = brought.back().raw();
  }
  return data[s];
}

Array FunctionImpl::Call::sparse_array(const Plan& plan, SlotId s) const {
  const TensorType& type = plan.slots[s];
  const auto& v = *static_cast<const hg_sparse*>(data[s]);
  const std::shared_ptr<void> owner = s < owned.size() ? owned[s] : nullptr;
  const auto part = [&](const void* from, DType dtype, int64_t n) {
    const Array a = Array::view(const_cast<void*>(from), dtype, {n}, {}, [owner] {});
    return s < inputs.size() ? a.copy() : a;
  };
  return Array::sparse(part(v.indptr, DType::int64, type.shape.dim(0) + 1),
                       part(v.indices, DType::int64, v.nnz), part(v.values, type.dtype, v.nnz),
                       type.shape.dims());
}

Array FunctionImpl::Call::given_array(const Plan& plan, SlotId s) const {
  const TensorType& type = plan.slots[s];
  if (own && own_data[s]) return Array::in_engine(own_data[s], type.dtype, type.shape.dims());
  return Array::view(data[s], type.dtype, type.shape.dims(), {}, [owner = owned[s]] {});
}

void FunctionImpl::Call::allocate(const Plan& plan, bool last) {
  data.assign(plan.slots.size(), nullptr);
  std::copy(inputs.begin(), inputs.end(), data.begin());
  if (own) {
    own_data.assign(plan.slots.size(), nullptr);
    std::copy(own_inputs.begin(), own_inputs.end(), own_data.begin());
  }
  for (const auto& [slot, value] : plan.fixed) data[slot] = value.raw();
  outputs.clear();
  new_values.clear();
  if (!plan.updates.empty()) new_values.resize(plan.updates.size());
  owned.clear();
  for (size_t s = inputs.size(); s < plan.slots.size(); ++s)
    if (plan.slots[s].sparse) data[s] = &sparse.emplace_back();
  const auto make = [&](SlotId s) {
    if (plan.slots[s].sparse || is_given(plan, s)) return Array();  // finish makes it
    const TensorType& type = plan.slots[s];
    if (s < inputs.size()) {  // a fetched input: copied, so that nothing aliases
      if (own && !inputs[s] && own_inputs[s])
        return Array::in_engine(own_inputs[s]->copy(), type.dtype, type.shape.dims());
      Array a(type.dtype, type.shape.dims());
      if (a.nbytes()) std::memcpy(a.raw(), inputs[s], a.nbytes());
      return a;
    }
    if (is_own(plan, s)) {
      own_data[s] = std::make_shared<OwnMemory>(*own, plan.buffers[s].bytes);
      return Array::in_engine(own_data[s], type.dtype, type.shape.dims());
    }
    Array a(type.dtype, type.shape.dims());
    data[s] = a.raw();
    return a;
  };
  std::vector<Array>& results = last ? outputs : crossing;
  results.clear();
  const std::vector<SlotId>& slots = last ? plan.outputs : plan.crossing;
  results.reserve(slots.size());
  for (size_t i = 0; i < slots.size(); ++i) {
    const size_t first = plan.first_of[i];
    results.push_back(first == i ? make(slots[i]) : results[first]);
  }
  for (size_t i = 0; i < plan.updates.size(); ++i) {
    if (plan.updates[i] == kNoValue) continue;
    const SlotId s = plan.updates[i];
    // Unless the slot already has memory, as an output or as the new value of another variable.
    if (s < inputs.size() || !is_made(s)) new_values[i] = make(s);
  }
  size_t bytes = 0;
  for (SlotId s = static_cast<SlotId>(inputs.size()); s < plan.slots.size(); ++s) {
    if (is_made(s) || is_given(plan, s)) continue;
    if (is_own(plan, s))
      own_data[s] = std::make_shared<OwnMemory>(*own, plan.buffers[s].bytes);
    else
      bytes += aligned_bytes(plan.buffers[s].bytes) + 64;
  }
  if (bytes == 0) return;
  temporaries = Storage::allocate(bytes);
  auto* at = static_cast<std::byte*>(temporaries.data());
  for (SlotId s = static_cast<SlotId>(inputs.size()); s < plan.slots.size(); ++s) {
    if (is_made(s) || is_given(plan, s)) continue;
    data[s] = at;
    at += aligned_bytes(plan.buffers[s].bytes);
  }
}

void FunctionImpl::Call::finish(const Plan& plan, bool last) {
  const std::vector<SlotId>& slots = last ? plan.outputs : plan.crossing;
  std::vector<Array>& results = last ? outputs : crossing;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (plan.slots[slots[i]].sparse)
      results[i] = sparse_array(plan, slots[i]);
    else if (is_given(plan, slots[i]))
      results[i] = results[plan.first_of[i]];
    if (!results[i].defined()) results[i] = given_array(plan, slots[i]);
  }
  if (!last || plan.given.empty()) return;
  for (size_t i = 0; i < plan.updates.size(); ++i) {
    const SlotId s = plan.updates[i];
    if (s == kNoValue || !is_given(plan, s) || new_values[i].defined()) continue;
    if (!plan.is_repeated[i]) new_values[i] = given_array(plan, s);  // else it is copied
  }
}

void FunctionImpl::Call::copy_shared_results(const Plan& plan) {
  // Writing into one result must not change another.
  for (size_t i = 0; i < plan.outputs.size(); ++i)
    if (plan.first_of[i] != i) outputs[i] = outputs[i].copy();
  for (size_t i = 0; i < plan.updates.size(); ++i) {
    const SlotId s = plan.updates[i];
    if (s == kNoValue || new_values[i].defined()) continue;
    const TensorType& type = plan.slots[s];
    new_values[i] = own && own_data[s]
                        ? Array::in_engine(own_data[s]->copy(), type.dtype, type.shape.dims())
                        : Array::view(data[s], type.dtype, type.shape.dims()).copy();
  }
}

namespace {

/// Memory that engines gave in a run, until it has an owner.
struct Given {
  hg_buffer* const* out;
  size_t n;
  ~Given() {
    for (size_t i = 0; i < n; ++i)
      if (out[i]->release) out[i]->release(out[i]->owner);
  }
};

}  // namespace

hg_buffer* const* FunctionImpl::Call::begin_run(size_t n_in, size_t n_out) {
  if (buffers.size() < n_in + n_out) {
    buffers.resize(n_in + n_out);
    list.clear();
    for (hg_buffer& b : buffers) list.push_back(&b);
  }
  return list.data() + n_in;
}

void FunctionImpl::Call::run(const Plan& plan) {
  hg_run control = host.control();
  for (const Segment& s : plan.segments) {
    const Engine& engine = s.compiled->engine();
    control.threads = engine.threads;
    hg_buffer* const* const out = begin_run(s.in.size(), s.out.size());
    for (size_t i = 0; i < s.in.size(); ++i) set_in(i, engine, plan, s.in[i]);
    for (size_t i = 0; i < s.out.size(); ++i) {
      const SlotId o = s.out[i];
      *out[i] = plan.buffers[o];  // its data is null where the engine gives the memory
      out[i]->data = own && own_data[o] ? own_data[o]->data() : data[o];
    }
    try {
      s.compiled->run(list.data(), out, &control);
    } catch (...) {
      host.flush();
      throw;
    }
    const Given given{out, s.out.size()};
    host.flush();
    for (size_t i = 0; i < s.out.size(); ++i) {
      const SlotId o = s.out[i];
      if (!out[i]->release) {
        check<RuntimeError>(!is_given(plan, o) || out[i]->bytes == 0, "engine", "result ", i,
                            " has memory but no release function.");
        continue;
      }
      if (is_own(plan, o)) {
        own_data[o] = std::make_shared<OwnMemory>(engine, *out[i]);
        out[i]->release = nullptr;
        continue;
      }
      owned.resize(plan.slots.size());
      owned[o] = std::shared_ptr<void>(out[i]->owner, std::exchange(out[i]->release, nullptr));
      if (is_given(plan, o)) data[o] = out[i]->data;
    }
  }
}

void* FunctionImpl::Call::place_of_update(size_t update, const VariableState& v) {
  const bool is_free = v.value.storage().unique();
  if (!own) {
    if (!is_free) new_values[update] = Array(v.type.dtype, v.type.shape.dims());
    return is_free ? v.value.raw() : new_values[update].raw();
  }
  if (v.value.nbytes() == 0) return nullptr;
  std::shared_ptr<OwnMemory> to = is_free ? own_memory_of(v.value, *own) : nullptr;
  if (!to) {
    to = std::make_shared<OwnMemory>(*own, v.value.nbytes());
    new_values[update] = Array::in_engine(to, v.type.dtype, v.type.shape.dims());
  }
  return to->data();
}

void FunctionImpl::Call::clear() {
  feeds.clear();
  variables.clear();
  sparse.clear();
  owned.clear();
  draws.clear();
  inputs.clear();
  outputs.clear();
  new_values.clear();
  crossing.clear();
  kept.clear();
  types.clear();
  ints.clear();
  temporaries = Storage();
  own = nullptr;
  own_inputs.clear();
  own_data.clear();
  brought.clear();
}

}  // namespace horngate
