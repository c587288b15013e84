// Making plans: specialise, separate the updates, partition, compile.
#include <algorithm>

#include "ir/abi.h"
#include "ir/check.h"
#include "ir/environment.h"
#include "ir/primitive.h"
#include "ir/profile.h"
#include "ir/switches.h"
#include "plan/plan.h"

namespace horngate {
namespace {

/// Nodes that only serve updates: element-wise, and read by nothing else. They run in the commit.
std::vector<uint8_t> commit_nodes(const Graph& g, size_t n_outputs) {
  std::vector<uint8_t> elsewhere(g.values.size(), 0), wanted(g.values.size(), 0),
      in_commit(g.nodes.size(), 0);
  for (size_t i = 0; i < n_outputs; ++i) elsewhere[g.outputs[i]] = 1;
  for (size_t i = n_outputs; i < g.outputs.size(); ++i) wanted[g.outputs[i]] = 1;
  for (size_t i = g.nodes.size(); i-- > 0;) {
    const GraphNode& n = g.nodes[i];
    const bool fits = n.out.size() == 1 && primitive(n.prim).how == How::elementwise &&
                      wanted[n.out[0]] && !elsewhere[n.out[0]];
    in_commit[i] = fits;
    for (ValueId v : n.in) (fits ? wanted : elsewhere)[v] = 1;
  }
  return in_commit;
}

/// For leaving sizes open: the graph for other sizes, partitioned in the same way.
struct Opening {
  OpenParts& parts;
  std::vector<Partition> probes;
};

class Maker {
 public:
  Maker(const PlanContext& context, const Engine& engine, Plan& plan, Opening* opening = nullptr)
      : context_(context), engine_(engine), plan_(plan), opening_(opening) {}

  void run(Graph g) {
    plan_.slots.resize(g.inputs.size());
    slot_.assign(g.values.size(), kNoValue);
    for (size_t i = 0; i < g.inputs.size(); ++i) {
      plan_.slots[i] = g.values[g.inputs[i]];
      slot_[g.inputs[i]] = static_cast<SlotId>(i);
    }
    plan_.updates.assign(g.outputs.size() - context_.n_outputs, kNoValue);
    std::vector<uint8_t> in_commit(g.nodes.size(), 0);
    if (engine_.has(HG_CAP_IN_PLACE)) {
      in_commit = commit_nodes(g, context_.n_outputs);
      if (!engine_.has(HG_CAP_EVERYTHING)) drop_unsupported(g, in_commit);
    }

    std::vector<uint8_t> late(g.values.size(), 0);  // made in the commit
    for (size_t i = 0; i < g.nodes.size(); ++i)
      if (in_commit[i]) late[g.nodes[i].out[0]] = 1;
    std::vector<const GraphNode*> constants(g.values.size(), nullptr);
    for (const GraphNode& n : g.nodes)
      if (n.prim == Prim::constant) constants[n.out[0]] = &n;

    // The main part makes the outputs, the new values that are not made in the commit, and what the commit reads.
    std::vector<ValueId> wanted(g.outputs.begin(),
                                g.outputs.begin() + static_cast<int64_t>(context_.n_outputs));
    std::vector<uint32_t> plain;
    for (size_t i = context_.n_outputs; i < g.outputs.size(); ++i) {
      if (late[g.outputs[i]]) continue;
      plain.push_back(static_cast<uint32_t>(i - context_.n_outputs));
      wanted.push_back(g.outputs[i]);
    }
    std::vector<ValueId> commit_in;
    std::vector<uint8_t> listed(g.values.size(), 0);
    for (size_t i = 0; i < g.nodes.size(); ++i) {
      if (!in_commit[i]) continue;
      for (ValueId v : g.nodes[i].in)
        if (!late[v] && !constants[v] && !listed[v]) {
          listed[v] = 1;
          commit_in.push_back(v);
        }
    }
    const size_t n_fixed = wanted.size();
    for (ValueId v : commit_in)
      if (slot_[v] == kNoValue) wanted.push_back(v);
    Graph commit;
    const bool has_commit = std::find(in_commit.begin(), in_commit.end(), 1) != in_commit.end();
    if (has_commit) commit = commit_graph(g, in_commit, constants, commit_in, late);
    compile_main(std::move(g), wanted);
    plan_.outputs.assign(out_slots_.begin(),
                         out_slots_.begin() + static_cast<int64_t>(context_.n_outputs));
    for (size_t i = 0; i < plain.size(); ++i)
      plan_.updates[plain[i]] = out_slots_[context_.n_outputs + i];
    for (size_t i = n_fixed; i < wanted.size(); ++i) slot_[wanted[i]] = out_slots_[i];
    if (!has_commit) return;
    for (ValueId v : commit_in) plan_.commit_in.push_back(slot_[v]);
    log_stage("commit", commit);
    plan_.commit = std::make_unique<Compiled>(engine_, commit);
  }

 private:
  /// A commit is a single graph: the engine takes all of it, or there is none.
  void drop_unsupported(const Graph& g, std::vector<uint8_t>& in_commit) const {
    Graph alone;
    alone.values = g.values;
    for (size_t i = 0; i < g.nodes.size(); ++i)
      if (in_commit[i]) alone.nodes.push_back(g.nodes[i]);
    std::string which;
    if (!alone.nodes.empty() && !supports_all(alone, engine_, &which))
      in_commit.assign(in_commit.size(), 0);
  }

  /// Compiles what makes `wanted` and sets out_slots_ to where each value will be.
  void compile_main(Graph g, const std::vector<ValueId>& wanted) {
    Graph part = extract(std::move(g), wanted);
    log_stage("plan", part);
    const auto fresh = [&](const TensorType& t) {
      plan_.slots.push_back(t);
      return static_cast<SlotId>(plan_.slots.size() - 1);
    };
    if (engine_.has(HG_CAP_EVERYTHING)) {
      Segment s;
      for (size_t i = 0; i < part.inputs.size(); ++i) s.in.push_back(static_cast<SlotId>(i));
      // An output that is an input needs no work; a repeated value is computed once.
      std::vector<SlotId> known(part.values.size(), kNoValue);
      std::vector<ValueId> outputs;
      for (ValueId v : part.outputs) {
        if (known[v] == kNoValue) {
          known[v] = fresh(part.values[v]);
          s.out.push_back(known[v]);
          outputs.push_back(v);
        }
        out_slots_.push_back(known[v]);
      }
      part.outputs = std::move(outputs);
      drop_unused_inputs(part, s);
      mark_stable(part, s);
      if (part.outputs.empty() && part.nodes.empty()) return;
      mark_memory(engine_, s);
      s.compiled = std::make_unique<Compiled>(engine_, part);
      plan_.segments.push_back(std::move(s));
      return;
    }
    Partition p = partition(part, engine_);
    std::vector<SlotId> at(p.graph.values.size(), kNoValue);
    for (size_t i = 0; i < p.graph.inputs.size(); ++i)
      at[p.graph.inputs[i]] = static_cast<SlotId>(i);
    for (Part& piece : p.parts) {
      Segment s;
      for (ValueId v : piece.in) s.in.push_back(at[v]);
      for (ValueId v : piece.out) {
        at[v] = fresh(p.graph.values[v]);
        s.out.push_back(at[v]);
      }
      mark_stable(piece.graph, s);
      const Engine& engine = piece.on_engine ? engine_ : native_engine();
      mark_memory(engine, s);
      if (opening_ && piece.on_engine) compile_open(p, piece, s);
      if (!s.compiled) s.compiled = std::make_shared<Compiled>(engine, piece.graph);
      plan_.segments.push_back(std::move(s));
    }
    for (ValueId v : p.graph.outputs) out_slots_.push_back(at[v]);
    for (auto* flags : {&plan_.given, &plan_.own})
      if (!flags->empty()) flags->resize(plan_.slots.size(), 0);
  }

  /// Compiles a part with open sizes, or reuses what a plan for other sizes has compiled. If neither is possible,
  /// the segment stays as it is.
  void compile_open(const Partition& whole, const Part& piece, Segment& s) {
    const auto number = static_cast<size_t>(&piece - whole.parts.data());
    std::string why = opening_->probes.empty() ? "the inputs" : "";
    for (const Partition& probe : opening_->probes) {
      if (probe.parts.size() != whole.parts.size()) continue;
      const std::optional<OpenGraph> open = open_dims(piece.graph, probe.parts[number].graph, &why);
      if (!open || !supports_all(open->graph, engine_, &why)) continue;
      bool is_new;
      s.compiled = opening_->parts.get(
          open->graph, [&] { return std::make_shared<Compiled>(engine_, open->graph); }, &is_new);
      plan_.is_shared |= !is_new;
      for (const Array& a : open->extras) {
        s.in.push_back(static_cast<SlotId>(plan_.slots.size()));
        plan_.slots.emplace_back(a.dtype(), a.shape());
        plan_.fixed.emplace_back(s.in.back(), a);
      }
      if (is_new) log_stage("open", open->graph);
      return;
    }
    log_text("compile", text_of("compiled for these sizes only, because of ", why, "\n"));
  }

  /// Records whose memory the results of a segment will be in.
  void mark_memory(const Engine& engine, const Segment& s) {
    const auto mark = [&](std::vector<uint8_t>& flags, uint64_t cap) {
      if (!engine.has(cap)) return;
      flags.resize(plan_.slots.size(), 0);
      for (SlotId o : s.out) flags[o] = !plan_.slots[o].sparse;
    };
    mark(plan_.given, HG_CAP_GIVES_MEMORY);
    mark(plan_.own, HG_CAP_OWN_MEMORY);
  }

  void mark_stable(Graph& g, const Segment& s) const {
    for (uint32_t i = 0; i < s.in.size(); ++i)
      if (s.in[i] < context_.stable_inputs.size() && context_.stable_inputs[s.in[i]])
        g.stable.push_back(i);
  }

  static void drop_unused_inputs(Graph& g, Segment& s) {
    std::vector<uint8_t> used(g.values.size(), 0);
    for (const GraphNode& n : g.nodes)
      for (ValueId v : n.in) used[v] = 1;
    for (ValueId v : g.outputs) used[v] = 1;
    std::vector<ValueId> inputs;
    std::vector<SlotId> slots;
    for (size_t i = 0; i < g.inputs.size(); ++i)
      if (used[g.inputs[i]]) {
        inputs.push_back(g.inputs[i]);
        slots.push_back(s.in[i]);
      }
    g.inputs = std::move(inputs);
    s.in = std::move(slots);
  }

  Graph commit_graph(const Graph& g, const std::vector<uint8_t>& in_commit,
                     const std::vector<const GraphNode*>& constants,
                     const std::vector<ValueId>& inputs, const std::vector<uint8_t>& late) {
    Graph c;
    c.values = g.values;
    c.inputs = inputs;
    std::vector<uint8_t> present(g.values.size(), 0);
    for (size_t i = 0; i < g.nodes.size(); ++i) {
      if (!in_commit[i]) continue;
      for (ValueId v : g.nodes[i].in)
        if (constants[v] && !present[v]) {
          present[v] = 1;
          c.nodes.push_back(*constants[v]);
        }
      c.nodes.push_back(g.nodes[i]);
    }
    std::vector<uint32_t> place(g.values.size(), kNoValue);
    for (uint32_t i = 0; i < inputs.size(); ++i) place[inputs[i]] = i;
    for (size_t i = context_.n_outputs; i < g.outputs.size(); ++i) {
      const ValueId v = g.outputs[i];
      if (!late[v]) continue;
      const auto update = static_cast<uint32_t>(i - context_.n_outputs);
      // The new value may take the memory of the old one, which the commit also reads.
      const ValueId old = g.inputs[context_.updated_inputs[update]];
      if (place[old] != kNoValue) {
        c.in_place.push_back(static_cast<uint32_t>(c.outputs.size()));
        c.in_place.push_back(place[old]);
      }
      c.outputs.push_back(v);
      plan_.commit_updates.push_back(update);
    }
    return c;
  }

  const PlanContext& context_;
  const Engine& engine_;
  Plan& plan_;
  Opening* const opening_;
  std::vector<SlotId> slot_, out_slots_;
};

void find_repeated(Plan& plan) {
  const std::vector<SlotId>& results = plan.rest ? plan.crossing : plan.outputs;
  std::vector<uint32_t> first(plan.slots.size(), kNoValue);
  for (uint32_t i = 0; i < results.size(); ++i) {
    if (first[results[i]] == kNoValue) first[results[i]] = i;
    plan.first_of.push_back(first[results[i]]);
  }
  for (SlotId s : plan.updates) {
    plan.is_repeated.push_back(s != kNoValue && first[s] != kNoValue);
    if (s != kNoValue) first[s] = 0;
  }
}

void make_buffers(Plan& plan) {
  plan.types.reserve(plan.slots.size());
  plan.buffers.reserve(plan.slots.size());
  for (const TensorType& t : plan.slots) {
    plan.types.push_back(c_type(t));
    plan.buffers.push_back(buffer_of(plan.types.back(), t.sparse ? sizeof(hg_sparse) : t.nbytes()));
  }
}

void count_bytes(Plan& plan) {
  size_t bytes =
      sizeof(Plan) + plan.slots.size() * (sizeof(TensorType) + sizeof(hg_type) + sizeof(hg_buffer));
  for (const Segment& s : plan.segments)  // count shared parts once
    if (s.compiled.use_count() == 1) bytes += s.compiled->bytes();
  if (plan.commit) bytes += plan.commit->bytes();
  if (plan.rest) bytes += graph_bytes(*plan.rest);
  plan.bytes.set(bytes);
}

Graph improve(Graph graph) {
  return is_plain() ? without_kernels(graph) : improve_loops(std::move(graph));
}

/// The graph, partitioned, for each set of other sizes of its unknown dimensions with which it can be made.
std::vector<Partition> make_probes(const Graph& graph, const std::vector<TensorType>& inputs,
                                   const InputInts& ints, const Engine& engine) {
  std::vector<TensorType> open;
  for (ValueId v : graph.inputs) open.push_back(graph.values[v]);
  std::vector<Partition> probes;
  for (const std::vector<TensorType>& types : probe_types(open, inputs)) {
    try {
      Specialised s = specialise(graph, types, ints, true);
      if (!s.result) continue;
      Graph g = improve_loops(std::move(*s.result));
      const std::vector<ValueId> outputs = g.outputs;
      probes.push_back(partition(extract(std::move(g), outputs), engine));
    } catch (const Error& e) {
      log_text("compile", text_of("cannot plan for other sizes: ", e.what(), "\n"));
    }
  }
  return probes;
}

}  // namespace

size_t Plan::total_bytes() {
  size_t total = 0;
  std::vector<std::shared_ptr<Plan>> held;
  std::vector<Plan*> todo = {this};
  while (!todo.empty()) {
    Plan& plan = *todo.back();
    todo.pop_back();
    total += plan.bytes.get();
    // Do not wait for one that is being made.
    const std::unique_lock lock(plan.next_mutex, std::try_to_lock);
    if (!lock) continue;
    for (const auto& [key, next] : plan.next) {
      held.push_back(next);
      todo.push_back(next.get());
    }
  }
  return total;
}

PlanRef make_plan(const Graph& graph, const std::vector<TensorType>& inputs, const InputInts& ints,
                  const PlanContext& context, const Engine& engine, OpenParts* open_parts) {
  check_environment();
  profile::start_from_environment();
  const profile::Scope bar("plan");
  auto plan = std::make_shared<Plan>();
  if (engine.has(HG_CAP_OWN_MEMORY)) plan->own_engine = &engine;
  const bool may_open = open_parts && engine.has(HG_CAP_FREE_DIMS) && !engine.has(HG_CAP_IN_PLACE);
  Specialised s = specialise(graph, inputs, ints, may_open);
  if (s.result) {
    std::optional<Opening> opening;
    if (may_open) opening.emplace(Opening{*open_parts, make_probes(graph, inputs, ints, engine)});
    Maker(context, engine, *plan, opening && !opening->probes.empty() ? &*opening : nullptr)
        .run(improve(std::move(*s.result)));
    find_repeated(*plan);
    make_buffers(*plan);
    count_bytes(*plan);
    return plan;
  }
  // Shapes depend on data: plan the part that computes them; the rest waits for the numbers.
  Split parts = split(graph, s.needed);
  Specialised first = specialise(parts.first, inputs, ints);
  invariant(first.result.has_value(),
            "the values that shapes depend on need other such values first");
  PlanContext all;
  all.stable_inputs = context.stable_inputs;
  all.n_outputs = first.result->outputs.size();
  Maker(all, engine, *plan).run(improve(std::move(*first.result)));
  plan->crossing = std::move(plan->outputs);
  plan->outputs.clear();
  plan->n_needed = s.needed.size();
  plan->rest = std::make_shared<const Graph>(std::move(parts.second));
  find_repeated(*plan);
  make_buffers(*plan);
  count_bytes(*plan);
  return plan;
}

}  // namespace horngate
