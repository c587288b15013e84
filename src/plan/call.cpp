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
  sparse.push_back(
      {p.values.size(), p.indptr.data<int64_t>(), p.indices.data<int64_t>(), p.values.raw()});
  return &sparse.back();
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
  return Array::view(data[s], type.dtype, type.shape.dims(), {}, [owner = owned[s]] {});
}

void FunctionImpl::Call::allocate(const Plan& plan, bool last) {
  data.assign(plan.slots.size(), nullptr);
  std::copy(inputs.begin(), inputs.end(), data.begin());
  for (const auto& [slot, value] : plan.fixed) data[slot] = value.raw();
  outputs.clear();
  new_values.clear();
  if (!plan.updates.empty()) new_values.resize(plan.updates.size());
  owned.clear();
  for (size_t s = inputs.size(); s < plan.slots.size(); ++s)
    if (plan.slots[s].sparse) data[s] = &sparse.emplace_back();
  const auto make = [&](SlotId s) {
    if (plan.slots[s].sparse || is_given(plan, s)) return Array();  // finish makes it
    if (s < inputs.size()) {  // an input that is fetched: a copy, so that nothing aliases
      Array a(plan.slots[s].dtype, plan.slots[s].shape.dims());
      if (a.nbytes()) std::memcpy(a.raw(), inputs[s], a.nbytes());
      return a;
    }
    Array a(plan.slots[s].dtype, plan.slots[s].shape.dims());
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
    const bool made =
        s >= inputs.size() && data[s];  // also an output, or the new value of two variables
    if (!made) new_values[i] = make(s);
  }
  size_t bytes = 0;
  for (size_t s = inputs.size(); s < plan.slots.size(); ++s)
    if (!data[s] && !is_given(plan, s)) bytes += aligned_bytes(plan.slots[s].nbytes()) + 64;
  if (bytes == 0) return;
  temporaries = Storage::allocate(bytes);
  auto* at = static_cast<std::byte*>(temporaries.data());
  for (size_t s = inputs.size(); s < plan.slots.size(); ++s) {
    if (data[s] || is_given(plan, s)) continue;
    data[s] = at;
    at += aligned_bytes(plan.slots[s].nbytes());
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
  for (size_t i = 0; i < plan.updates.size(); ++i) {
    const SlotId s = plan.updates[i];
    if (s != kNoValue && !new_values[i].defined())
      new_values[i] = Array::view(data[s], plan.slots[s].dtype, plan.slots[s].shape.dims()).copy();
  }
}

namespace {

/// What engines gave in a run, until it has an owner.
struct Given {
  std::vector<hg_buffer>& out;
  ~Given() {
    for (const hg_buffer& b : out)
      if (b.release) b.release(b.owner);
  }
};

}  // namespace

void FunctionImpl::Call::run(const Plan& plan) {
  const hg_run control = host.control();
  for (const Segment& s : plan.segments) {
    in.clear();
    out.clear();
    for (SlotId i : s.in) {
      in.push_back(buffer_of(plan.slots[i], data[i]));
      if (i < stamps.size()) in.back().stamp = stamps[i];
    }
    for (SlotId o : s.out) out.push_back(buffer_of(plan.slots[o], data[o]));  // NULL where given
    try {
      s.compiled->run(in.data(), out.data(), &control);
    } catch (...) {
      host.flush();
      throw;
    }
    const Given given{out};
    host.flush();
    for (size_t i = 0; i < out.size(); ++i) {
      if (!out[i].release) {
        check<RuntimeError>(!is_given(plan, s.out[i]) || out[i].bytes == 0, "engine", "result ", i,
                            " came without a way to give its memory back.");
        continue;
      }
      owned.resize(plan.slots.size());
      owned[s.out[i]] = std::shared_ptr<void>(out[i].owner, std::exchange(out[i].release, nullptr));
      if (is_given(plan, s.out[i])) data[s.out[i]] = out[i].data;
    }
  }
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
}

}  // namespace horngate
