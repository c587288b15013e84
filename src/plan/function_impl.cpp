// The path of a call: check the feeds, find the plan, snapshot, run, commit.
#include "plan/function_impl.h"

#include <algorithm>
#include <set>

#include "ir/abi.h"
#include "ir/check.h"
#include "ir/fold_ints.h"
#include "ir/per_thread.h"
#include "ir/primitive.h"
#include "ir/warn.h"
#include "plan/call.h"

namespace horngate {
namespace {

constexpr size_t kMaxPlans = 64;
constexpr size_t kManyShapes = 33;
constexpr int64_t kMaxKeyedInts = 16;

struct InCall {
  InCall(const FunctionImpl*& running, const FunctionImpl* f) : running_(running) {
    check<RuntimeError>(!running_, "function",
                        "a function is called from inside another call on the same thread.");
    running_ = f;
  }
  ~InCall() { running_ = nullptr; }
  InCall(const InCall&) = delete;

 private:
  const FunctionImpl*& running_;
};

}  // namespace

std::vector<VariableState*> in_id_order(std::vector<VariableState*> variables) {
  std::sort(variables.begin(), variables.end(), [](auto* a, auto* b) { return a->id < b->id; });
  variables.erase(std::unique(variables.begin(), variables.end()), variables.end());
  return variables;
}

VariableLocks::VariableLocks(std::vector<VariableState*> variables)
    : variables_(in_id_order(std::move(variables))) {
  for (VariableState* v : variables_) v->writer.lock();
}
VariableLocks::~VariableLocks() {
  for (size_t i = variables_.size(); i-- > 0;) variables_[i]->writer.unlock();
}

size_t FunctionImpl::KeyHash::operator()(const Key& k) const {
  uint64_t h = 0x9e3779b97f4a7c15ull;
  for (int64_t v : k) h = (h ^ static_cast<uint64_t>(v)) * 0xff51afd7ed558ccdull ^ (h >> 31);
  return h;
}

FunctionImpl::FunctionImpl(const Tensors& inputs, const Tensors& outputs, const Tensors& updates,
                           std::string name, const Engine* engine)
    : name_(name.empty() ? "function" : std::move(name)), engine_(engine) {
  Tensors fed;
  std::set<std::pair<const Node*, uint32_t>> seen;
  for (const Tensor& t : inputs) {
    Input in;
    in.is_open = !t.defined();
    if (t.defined()) {
      in.type = type_of(t);
      in.name = t.name();
      in.is_phase = t.node()->prim == Prim::learning_phase;
      check(in.is_phase || seen.emplace(t.node(), t.index()).second, name_, "input ",
            inputs_.size(), " \"", in.name, "\" is among the inputs twice.");
    }
    inputs_.push_back(in);
    fed.push_back(in.is_phase ? Tensor()
                              : t);  // the phase is part of the key, not a value that is fed
  }
  for (size_t i = 0; i < outputs.size(); ++i)
    check(outputs[i].defined(), name_, "output ", i, " is empty (a gradient that is None?).");
  program_ = to_function_graph(fed, outputs, updates);
  for (const std::string& variable : std::exchange(program_.overwritten, {}))
    warn(text_of(name_, ": variable \"", variable,
                 "\" has several updates; the last one that sets it overrides those before it."));
  log_stage("program", program_.graph);
  context_.n_outputs = program_.n_outputs;
  for (uint32_t u : program_.updated)
    context_.updated_inputs.push_back(static_cast<uint32_t>(program_.n_fed + u));
  context_.stable_inputs.assign(program_.graph.inputs.size(), 0);
  for (uint32_t i = 0; i < program_.variables.size(); ++i) {
    lock_order_.push_back(i);
    context_.stable_inputs[program_.n_fed + i] = 1;
  }
  for (uint32_t i : context_.updated_inputs) context_.stable_inputs[i] = 0;
  std::sort(lock_order_.begin(), lock_order_.end(), [&](uint32_t a, uint32_t b) {
    return program_.variables[a]->id < program_.variables[b]->id;
  });
  for (uint32_t i : lock_order_) locked_.push_back(program_.variables[i].get());
  for (uint32_t i = 0; i < program_.updated.size(); ++i) updated_order_.push_back(i);
  std::sort(updated_order_.begin(), updated_order_.end(), [&](uint32_t a, uint32_t b) {
    return program_.variables[program_.updated[a]]->id <
           program_.variables[program_.updated[b]]->id;
  });
  find_keyed_inputs();
  // If nothing depends on the phase, there is one form of the graph, and the raw one can go.
  uses_phase_ = uses_phase(program_.graph);
  if (uses_phase_) return;
  program_.graph = prepare(program_.graph, false, evaluate);
  log_stage("prepare", program_.graph);
}

/// Finds small integer inputs from which a shape operand is computed: their values become part of the key, so that
/// the plan need not be cut.
void FunctionImpl::find_keyed_inputs() {
  const Graph& g = program_.graph;
  std::vector<uint8_t> shapes(g.values.size(), 0);
  for (size_t i = g.nodes.size(); i-- > 0;) {
    const GraphNode& n = g.nodes[i];
    const Primitive& p = primitive(n.prim);
    const auto open = [&](const char* field) {
      const Ints* attr = p.ints(n.attrs.get(), field);
      return attr && std::find(attr->begin(), attr->end(), kFromOperand) != attr->end();
    };
    if (n.prim == Prim::slice) {
      for (size_t k = 1; k < n.in.size(); ++k) shapes[n.in[k]] = 1;
    } else if (open("shape")) {
      shapes[n.in.back()] = 1;
    }
    bool needed = false;
    for (ValueId v : n.out) needed |= shapes[v];
    if (needed && n.prim != Prim::shape_of)
      for (ValueId v : n.in)
        shapes[v] |= !is_float(g.values[v].dtype) && g.values[v].shape.ndim() <= 1;
  }
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const TensorType& t = g.values[g.inputs[i]];
    inputs_[i].keyed = shapes[g.inputs[i]] && !inputs_[i].is_open && !inputs_[i].is_phase &&
                       !is_float(t.dtype) && t.shape.ndim() <= 1;
  }
}

void FunctionImpl::check_count(size_t n) const {
  if (n == inputs_.size()) return;
  const char* inputs = inputs_.size() == 1 ? " input; got " : " inputs; got ";
  if (n > inputs_.size()) fail(name_, "takes ", inputs_.size(), inputs, n, ".");
  fail(name_, "takes ", inputs_.size(), inputs, n, ": input ", n, " \"", inputs_[n].name,
       "\" is missing.");
}

/// The array in the form the program takes: of the input's dtype, contiguous, with a shape that fits.
Array FunctionImpl::checked_feed(size_t i, const Array& a) const {
  const Input& in = inputs_[i];
  check(a.defined(), name_, "input ", i, " \"", in.name, "\" got an empty array.");
  bool fits = a.ndim() == in.type.shape.ndim() && a.is_sparse() == in.type.sparse;
  for (size_t k = 0; fits && k < a.ndim(); ++k)
    fits = in.type.shape.dim(k) < 0 || in.type.shape.dim(k) == a.dims()[k];
  if (!fits) [[unlikely]] {
    check<TypeError>(a.is_sparse() == in.type.sparse, name_, "input ", i, " \"", in.name,
                     "\" takes a ", in.type.sparse ? "sparse" : "dense", " array; got a ",
                     a.is_sparse() ? "sparse" : "dense", " one.");
    const bool hint = a.ndim() + 1 == in.type.shape.ndim() && in.type.shape.dim(0) < 0;
    fail(name_, "input ", i, " \"", in.name, "\" takes shape ", in.type.shape,
         "; got an array of shape ", a.shape(), ".",
         hint ? " Did you forget the batch dimension?" : "");
  }
  if (a.dtype() == in.type.dtype && a.is_contiguous()) return a;
  return a.is_sparse() ? a.cast(in.type.dtype) : a.cast(in.type.dtype).contiguous();
}

const Graph& FunctionImpl::prepared(bool training) {
  if (!uses_phase_) return program_.graph;
  std::lock_guard lock(prepare_mutex_);
  auto& g = prepared_[training];
  if (!g) {
    g = std::make_unique<const Graph>(prepare(program_.graph, training, evaluate));
    log_stage("prepare", *g);
  }
  return *g;
}

std::vector<TensorType> FunctionImpl::program_types(const std::vector<Array>& feeds) const {
  const Graph& g = program_.graph;
  std::vector<TensorType> types;
  for (size_t i = 0; i < g.inputs.size(); ++i) {
    TensorType t = g.values[g.inputs[i]];
    if (i < feeds.size() && feeds[i].defined()) t.shape = feeds[i].shape();
    types.push_back(std::move(t));
  }
  return types;
}

InputInts FunctionImpl::keyed_ints(const std::vector<Array>& feeds) const {
  InputInts ints;
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (inputs_[i].keyed && feeds[i].size() <= kMaxKeyedInts) {
      const Array wide = feeds[i].cast(DType::int64);
      ints[i] = Ints(wide.data<int64_t>(), wide.data<int64_t>() + wide.size());
    }
  return ints;
}

PlanRef FunctionImpl::plan_for(const Key& key, const std::vector<Array>& feeds, bool training) {
  std::shared_ptr<Cached> entry, dropped;
  {
    std::lock_guard lock(plans_mutex_);
    if (!plans_.empty() && plans_.front()->key == key && plans_.front()->plan) {
      plans_.front()->used = plan_time();
      return plans_.front()->plan;
    }
    if (const auto it = by_key_.find(key); it != by_key_.end()) {
      plans_.splice(plans_.begin(), plans_, it->second);
      entry = plans_.front();
      entry->used = plan_time();
      if (entry->plan) return entry->plan;
    } else {
      entry = std::make_shared<Cached>();
      entry->key = key;
      plans_.push_front(entry);
      try {
        by_key_.emplace(key, plans_.begin());
      } catch (...) {
        plans_.pop_front();
        throw;
      }
      if (plans_.size() > kMaxPlans) {
        dropped = plans_.back();  // freed outside the lock
        by_key_.erase(dropped->key);
        plans_.pop_back();
      }
    }
  }
  // Callers that miss the same key wait here for a single build.
  std::lock_guard building(entry->building);
  {
    std::lock_guard lock(plans_mutex_);
    if (entry->plan) return entry->plan;
  }
  PlanRef plan = make_plan(prepared(training), program_types(feeds), keyed_ints(feeds), context_,
                           engine(), &open_parts_);
  bool are_many = false;
  {
    std::lock_guard lock(plans_mutex_);
    if (!plan->is_shared) are_many = note_shape(key);
    entry->plan = plan;
    entry->used = plan_time();
    ++plans_made_;
  }
  if (are_many) warn_of_many_shapes();
  keep_plan_budget(entry.get());
  return plan;
}

void FunctionImpl::list_plans(std::vector<KeptPlan>& all) {
  std::lock_guard lock(plans_mutex_);
  for (const auto& entry : plans_)
    if (entry->plan) all.push_back({entry->used, entry->plan->total_bytes(), this, entry.get()});
}

std::shared_ptr<const void> FunctionImpl::drop_plan(const void* plan) {
  std::lock_guard lock(plans_mutex_);
  const auto at = std::find_if(plans_.begin(), plans_.end(),
                               [plan](const auto& entry) { return entry.get() == plan; });
  if (at == plans_.end()) return nullptr;
  const std::shared_ptr<Cached> dropped = *at;
  by_key_.erase(dropped->key);
  plans_.erase(at);
  return dropped;
}

bool FunctionImpl::note_shape(const Key& key) {
  if (shapes_.size() == kManyShapes ||
      std::find(shapes_.begin(), shapes_.end(), key) != shapes_.end())
    return false;
  shapes_.push_back(key);
  return shapes_.size() == kManyShapes;
}

/// Happens once: the list of shapes is full then and no longer grows.
void FunctionImpl::warn_of_many_shapes() const {
  // Find which dimension differs: the first entry where the last key differs from an earlier one.
  std::string which = "an input's shape";
  const Key& key = shapes_.back();
  for (size_t i = shapes_.size() - 1; i-- > 0;) {
    const Key& other = shapes_[i];
    if (other.size() != key.size()) continue;
    const size_t at = static_cast<size_t>(
        std::mismatch(key.begin(), key.end(), other.begin()).first - key.begin());
    size_t word = 1;
    for (const Input& in : inputs_) {
      const size_t n = in.is_open || in.is_phase ? 0 : in.type.shape.ndim();
      if (at >= word && at < word + n)
        which = text_of("axis ", at - word, " of input \"", in.name, "\"");
      word += n;
    }
    break;
  }
  warn(text_of(name_, ": ", kManyShapes, " different input shapes so far; ", which,
               " varies. Each new shape is planned once: padding to a few sizes is faster."));
}

size_t FunctionImpl::plan_count() const {
  std::lock_guard lock(plans_mutex_);
  return plans_.size();
}

/// One per thread, so that its vectors keep their capacity between calls. Out of line, or the compiler would look
/// up the thread-local again at every use.
[[gnu::noinline]] FunctionImpl::Call& FunctionImpl::threads_call() {
  thread_local PerThread<Call> call;
  return *call;
}

bool FunctionImpl::is_updated_by_this_thread(const VariableState& variable) {
  const FunctionImpl* f = threads_call().running;
  if (!f) return false;
  const auto& updated = f->program_.updated;
  return std::any_of(updated.begin(), updated.end(),
                     [&](uint32_t u) { return f->program_.variables[u].get() == &variable; });
}

/// The plan that follows one whose shapes depend on data, keyed by the computed integers.
PlanRef FunctionImpl::next_plan(Plan& plan, Call& c) {
  if (c.types.empty()) {
    c.types = program_types(c.feeds);
    c.ints = keyed_ints(c.feeds);
  }
  std::vector<int64_t> key;
  for (size_t i = 0; i < plan.crossing.size(); ++i) {
    if (i < plan.n_needed) {
      const Array wide = c.crossing[i].cast(DType::int64);
      c.ints[c.inputs.size()] = Ints(wide.data<int64_t>(), wide.data<int64_t>() + wide.size());
      key.insert(key.end(), wide.data<int64_t>(), wide.data<int64_t>() + wide.size());
    }
    c.types.push_back(plan.slots[plan.crossing[i]]);
    c.inputs.push_back(nullptr);
    if (c.own) c.own_inputs.emplace_back();
    c.set_input(c.inputs.size() - 1, c.crossing[i]);
    c.kept.push_back(c.crossing[i]);
  }
  std::lock_guard lock(plan.next_mutex);
  if (const auto it = plan.next.find(key); it != plan.next.end()) return it->second;
  PlanRef next = make_plan(*plan.rest, c.types, c.ints, context_, engine(), nullptr);
  const ForkHold hold;
  if (plan.next.size() >= kMaxPlans) plan.next.clear();
  return plan.next[std::move(key)] = std::move(next);
}

/// All updates become visible together. Nothing here can fail once a variable has been written.
void FunctionImpl::commit(Call& c, const Plan& plan) {
  const auto variable = [&](size_t update) -> VariableState& {
    return *program_.variables[program_.updated[update]];
  };
  // First, because copying into an engine's memory may fail, and locks variables.
  if (c.own && plan.commit)
    for (SlotId s : plan.commit_in) c.pointer_for(plan.commit->engine(), plan, s);
  const ForkHold hold;
  for (uint32_t u : updated_order_) variable(u).guard.lock();
  struct Unlock {
    FunctionImpl& f;
    ~Unlock() {
      for (size_t i = f.updated_order_.size(); i-- > 0;)
        f.program_.variables[f.program_.updated[f.updated_order_[i]]]->guard.unlock();
    }
  } unlock{*this};
  if (plan.commit) {
    // In place if nobody else holds the old value; our own snapshot no longer counts.
    const Engine& engine = plan.commit->engine();
    const size_t n_in = plan.commit_in.size(), n_out = plan.commit_updates.size();
    hg_buffer* const* const out = c.begin_run(n_in, n_out);
    for (size_t i = 0; i < n_in; ++i) c.set_in(i, engine, plan, plan.commit_in[i]);
    for (size_t i = 0; i < n_out; ++i) {
      const uint32_t u = plan.commit_updates[i];
      c.variables[program_.updated[u]] = Storage();
      *out[i] = plan.buffers[context_.updated_inputs[u]];
      out[i]->data = c.place_of_update(u, variable(u));
    }
    hg_run control = c.host.control();
    control.threads = engine.threads;
    control.stopped = nullptr;  // a commit runs to its end
    plan.commit->run(c.list.data(), out, &control);
  }
  for (size_t u = 0; u < c.new_values.size(); ++u) {
    if (c.new_values[u].defined()) variable(u).value = std::move(c.new_values[u]);
    variable(u).is_new();
  }
}

Arrays FunctionImpl::call(std::span<const Array> arrays) {
  check_count(arrays.size());
  Call& c = threads_call();
  const InCall guard(c.running, this);
  struct Clean {
    Call& c;
    ~Clean() { c.clear(); }
  } clean{c};

  // Feeds and the plan's key: phase, then dimensions, then integers that decide shapes.
  bool training = false;
  Key& key = c.key;
  key.assign(1, 0);
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].is_phase) {
      training =
          arrays[i].defined() &&
          arrays[i].cast(DType::float64).contiguous().reshape({-1}).rows(0, 1).item<double>() != 0;
      c.feeds.emplace_back();
      continue;
    }
    if (inputs_[i].is_open) {
      c.feeds.emplace_back();
      continue;
    }
    c.feeds.push_back(checked_feed(i, arrays[i]));
    for (int64_t d : c.feeds.back().dims()) key.push_back(d);
  }
  key[0] = training;
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (inputs_[i].keyed && c.feeds[i].size() <= kMaxKeyedInts) {
      const Array wide = c.feeds[i].cast(DType::int64);
      for (int64_t k = 0; k < wide.size(); ++k) key.push_back(wide.data<int64_t>()[k]);
    }
  PlanRef plan = plan_for(key, c.feeds, training);

  // Calls that update the same variable take turns: they hold its writer lock throughout.
  for (uint32_t u : updated_order_) program_.variables[program_.updated[u]]->writer.lock();
  struct Unlock {
    FunctionImpl& f;
    ~Unlock() {
      for (size_t i = f.updated_order_.size(); i-- > 0;)
        f.program_.variables[f.program_.updated[f.updated_order_[i]]]->writer.unlock();
    }
  } unlock{*this};

  // Snapshot: all variables at one moment.
  const size_t n_fed = inputs_.size(), n_variables = program_.variables.size();
  c.variables.resize(n_variables);
  c.inputs.assign(program_.graph.inputs.size(), nullptr);
  if (plan->own_engine) [[unlikely]] {
    c.own = plan->own_engine;
    c.own_inputs.assign(c.inputs.size(), nullptr);
    c.program = &program_;
  }
  c.stamps.assign(program_.graph.inputs.size(), 0);
  for (size_t i = 0; i < n_fed; ++i) c.set_input(i, c.feeds[i]);
  {
    const ReadLocks locks(locked_);
    for (uint32_t i : lock_order_) {
      const VariableState& v = *program_.variables[i];
      c.variables[i] = v.value.storage();  // a sparse value never changes, so it need not be held
      c.set_input(n_fed + i, v);
      c.stamps[n_fed + i] = v.version;
    }
  }
  c.draws.resize(program_.draws.size());
  for (size_t i = 0; i < program_.draws.size(); ++i) {
    c.draws[i] = {program_.draws[i]->next.fetch_add(1, std::memory_order_relaxed), 0};
    c.inputs[n_fed + n_variables + i] = c.draws[i].data();
  }
  // A call that fails must not use up a draw; but if another call has drawn meanwhile, the number is lost.
  struct GiveBack {
    const FunctionGraph& program;
    Call& c;
    bool is_done = false;
    ~GiveBack() {
      for (size_t i = 0; !is_done && i < c.draws.size(); ++i) {
        uint64_t next = c.draws[i][0] + 1;
        program.draws[i]->next.compare_exchange_strong(next, next - 1, std::memory_order_relaxed);
      }
    }
  } draws{program_, c};

  // Everything that may fail or be interrupted.
  const LastChance last_chance;
  while (plan->rest) {
    c.allocate(*plan, false);
    c.run(*plan);
    c.finish(*plan, false);
    plan = next_plan(*plan, c);
    if (plan_bytes() > plan_budget()) keep_plan_budget(nullptr);
  }
  c.allocate(*plan, true);
  c.run(*plan);
  c.finish(*plan, true);
  c.copy_shared_results(*plan);
  tell_warnings();

  if (!program_.updated.empty()) {
    last_chance.stop_if_asked();
    commit(c, *plan);
  }
  draws.is_done = true;
  return std::move(c.outputs);
}

}  // namespace horngate
