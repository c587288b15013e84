// Compiling a static graph to steps: fusion, kernels, memory plan, pointers.
#include "engines/native/executable.h"

#include <algorithm>
#include <cstring>

#include "engines/native/layout.h"
#include "engines/native/memory_plan.h"
#include "engines/native/row_chain.h"
#include "engines/native/views.h"
#include "engines/native/work.h"
#include "ir/align.h"
#include "ir/check.h"
#include "ir/plain.h"
#include "passes/passes.h"

namespace horngate::native {
/// Builds an executable: fusion, kernels, memory plan, pointer table.
class Executable::Compiler {
 public:
  Compiler(const Graph& g, Executable& exe) : g_(g), exe_(exe) {}

  void run() {
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
    views_ = find_views(g_, steps, maker_, consumers_);
    make_steps(steps);
    if (!g_.in_place.empty())
      merge_updates();
    else if (!is_plain())
      chain_rows();
    make_groups();
    place_outputs();
    place_sparse();
    choose_early_steps();
    plan_memory();
    make_pointers();
  }

 private:
  /// A fused group before it is made: merging may turn several into one step.
  struct PendingGroup {
    fused::Program program;
    std::vector<fused::MultiGroup::Set> sets;
    std::vector<bool> reduced;
  };
  struct StepValues {
    std::vector<ValueId> in, out;
    std::vector<uint8_t> in_whole, out_whole;  // of a group: accessed element by element, in order
    size_t set_in = 1, set_out = 1;            // values per set of a merged group
    const GraphNode* node = nullptr;           // of a kernel
  };

  const GraphNode* maker(ValueId v) const {
    return maker_[v] < 0 ? nullptr : &g_.nodes[static_cast<size_t>(maker_[v])];
  }

  /// Values that depend on constants and stable inputs alone.
  void find_stable() {
    stable_.assign(g_.values.size(), 0);
    if (is_plain()) return;
    for (uint32_t i : g_.stable) stable_[g_.inputs[i]] = !g_.values[g_.inputs[i]].sparse;
    for (const GraphNode& n : g_.nodes) {
      uint8_t stable = !(primitive(n.prim).flags & kEffect);
      for (ValueId v : n.in) stable &= stable_[v];
      for (ValueId v : n.out) stable_[v] = stable && !g_.values[v].sparse;
    }
  }

  /// Steps that make stable values run once, before the others, and again only when an input has changed.
  void choose_early_steps() {
    const auto is_early = [&](size_t s) {
      bool early = !values_[s].out.empty();
      for (ValueId v : values_[s].out)
        early &= is_stable(v) && place_[alias_of_[v]].kind == Place::nowhere;
      // What a step reads must be there early too: a part of a concat may be late.
      for (ValueId v : values_[s].in) early &= is_stable(v);
      return early;
    };
    std::vector<uint8_t> early(values_.size(), 0);
    size_t bytes = 0;
    std::unordered_map<ValueId, uint8_t> late;  // a root that a late step writes is late
    for (size_t s = 0; s < values_.size(); ++s) {
      early[s] = is_early(s);
      if (!early[s])
        for (ValueId v : values_[s].out) late[alias_of_[v]] = 1;
    }
    for (size_t s = 0; s < values_.size(); ++s) {
      for (ValueId v : values_[s].out) early[s] &= !late.count(alias_of_[v]);
      for (ValueId v : values_[s].in) early[s] &= !late.count(alias_of_[v]);
      if (!early[s])
        for (ValueId v : values_[s].out) late[alias_of_[v]] = 1;
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

  void move_to_front(const std::vector<uint8_t>& early) {
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

  bool is_stable(ValueId v) const { return v >= g_.values.size() || stable_[v]; }
  /// Of a value, or of a packed form of one, which is numbered behind the graph's values.
  size_t bytes_of(ValueId v) const {
    return v < g_.values.size() ? g_.values[v].nbytes() : packed_bytes_[v - g_.values.size()];
  }

  /// A kernel that packs an operand gets a stable one packed: an early step does it. So with all else that it would
  /// compute from stable operands in each run.
  void prepare_operands(Step& step, StepValues& values) {
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

  ValueId add_early_step(KernelPtr kernel, std::string name, std::vector<ValueId> from,
                         size_t bytes) {
    const auto made = static_cast<ValueId>(g_.values.size() + packed_bytes_.size());
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

  void place_inputs_and_constants() {
    place_.resize(g_.values.size());
    for (size_t i = 0; i < g_.inputs.size(); ++i) place_[g_.inputs[i]] = {Place::input, i};
    for (const GraphNode& n : g_.nodes)
      if (n.prim == Prim::constant) {
        place_[n.out[0]] = {Place::constant, exe_.constants_.size()};
        exe_.constants_.push_back(n.as<attrs::constant>().value);
      }
  }

  void make_steps(const std::vector<StepNodes>& steps) {
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

  void make_kernel(const GraphNode& n, Step& step, StepValues& values) {
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

  void make_group(const StepNodes& s, Step& step, StepValues& values, PendingGroup& group) {
    const GraphNode& root = g_.nodes[s.nodes.back()];
    const bool reduces = primitive(root.prim).how == How::reduction;
    const Ints extent = g_.values[reduces ? root.in[0] : root.out[0]].shape.dims();
    fused::ProgramBuilder builder;
    std::unordered_map<ValueId, fused::Reg> regs;
    std::vector<fused::Access> in, out;
    step.name = "fused(";
    step.node = root.name;
    const auto moved = [&](ValueId v) {
      step.work.bytes += static_cast<double>(g_.values[v].nbytes());
    };
    const auto load = [&](ValueId v) {
      if (const auto it = regs.find(v); it != regs.end()) return it->second;
      fused::Reg r;
      const GraphNode* from = maker(v);
      if (from && from->prim == Prim::constant && from->as<attrs::constant>().value.size() == 1) {
        const Array& a = from->as<attrs::constant>().value;
        r = is_float(a.dtype())
                ? builder.constant(a.item<double>(), a.dtype())
                : builder.constant(*a.cast(DType::int64).data<int64_t>(), a.dtype());
      } else {
        r = builder.input(g_.values[v].dtype);
        moved(v);
        const auto view = views_.slices.find(v);
        const bool direct = view == views_.slices.end();
        in.push_back(direct
                         ? broadcast_access(g_.values[v].shape.dims(), extent)
                         : broadcast_view(view->second.access, g_.values[v].shape.dims(), extent));
        values.in.push_back(direct ? v : view->second.source);
        values.in_whole.push_back(direct && g_.values[v].shape.dims() == extent);
      }
      regs[v] = r;
      return r;
    };
    const std::vector<uint8_t> read_outside = members_read_outside(s);
    for (size_t k = 0; k < s.nodes.size(); ++k) {
      const GraphNode& n = g_.nodes[s.nodes[k]];
      step.name += std::string(k ? ", " : "") + primitive(n.prim).name;
      step.work.flops += flops_of(g_, n);
      if (reduces && k + 1 == s.nodes.size()) {
        builder.reduce_output(load(n.in[0]), n.prim);
        moved(n.out[0]);
        values.out.push_back(n.out[0]);
        values.out_whole.push_back(false);
        out.push_back(reduce_access(n, extent));
        continue;
      }
      const fused::Reg a = load(n.in[0]);
      fused::Reg r;
      if (n.prim == Prim::broadcast)
        r = a;
      else if (n.prim == Prim::cast)
        r = builder.cast(a, g_.values[n.out[0]].dtype);
      else {
        const fused::Reg b = n.in.size() > 1 ? load(n.in[1]) : fused::kNone;
        const fused::Reg c = n.in.size() > 2 ? load(n.in[2]) : fused::kNone;
        const DType dtype = g_.values[n.in[n.prim == Prim::select ? 1 : 0]].dtype;
        r = builder.op(n.prim, dtype, a, b, c);
      }
      regs[n.out[0]] = r;
      if (read_outside[k]) {
        builder.output(r);
        moved(n.out[0]);
        const auto part = views_.parts.find(n.out[0]);
        const bool whole = part == views_.parts.end();
        values.out.push_back(whole ? n.out[0] : part->second.source);
        values.out_whole.push_back(whole);
        out.push_back(whole ? fused::Access{contiguous_strides(extent), 0} : part->second.access);
      }
    }
    step.name += ")";
    if (reduces) {
      group.reduced.assign(extent.size(), false);
      for (int64_t axis : *primitive(root.prim).ints(root.attrs.get(), "axes"))
        group.reduced[static_cast<size_t>(axis)] = true;
    }
    group.program = builder.build();
    group.sets.push_back({extent, std::move(in), std::move(out)});
  }

  /// An optimizer's update is the same program for every parameter: such groups become one step, which is shared
  /// out over the threads by elements. A group may join an earlier one when all that it reads is made before it.
  void merge_updates() {
    std::vector<int64_t> made_by(alias_of_.size(), -1);
    for (size_t s = 0; s < values_.size(); ++s)
      for (ValueId v : values_[s].out) made_by[v] = static_cast<int64_t>(s);
    std::unordered_multimap<size_t, size_t> by_program;
    std::vector<uint8_t> merged(values_.size(), 0);
    for (size_t s = 0; s < values_.size(); ++s) {
      PendingGroup& group = pending_[s];
      if (group.sets.empty() || !group.reduced.empty()) continue;
      int64_t ready = -1;
      for (ValueId v : values_[s].in) ready = std::max(ready, made_by[alias_of_[v]]);
      const size_t hash = group.program.hash();
      const auto [first, last] = by_program.equal_range(hash);
      const auto host = std::find_if(first, last, [&](const auto& entry) {
        return static_cast<int64_t>(entry.second) > ready &&
               pending_[entry.second].program == group.program;
      });
      if (host == last) {
        by_program.emplace(hash, s);
        continue;
      }
      const size_t h = host->second;
      exe_.steps_[h].work += exe_.steps_[s].work;
      pending_[h].sets.push_back(std::move(group.sets[0]));
      const auto append = [](auto& to, const auto& from) {
        to.insert(to.end(), from.begin(), from.end());
      };
      append(values_[h].in, values_[s].in);
      append(values_[h].out, values_[s].out);
      append(values_[h].in_whole, values_[s].in_whole);
      append(values_[h].out_whole, values_[s].out_whole);
      for (ValueId v : values_[s].out) made_by[v] = static_cast<int64_t>(h);
      merged[s] = 1;
    }
    for (size_t s = 0; s < values_.size(); ++s)
      if (pending_[s].sets.size() > 1)
        exe_.steps_[s].name += text_of(" x ", pending_[s].sets.size());
    remove_steps(merged);
  }

  /// The step as part of a row chain, if it can be one.
  std::optional<RowMember> row_member(size_t s) const {
    const PendingGroup& group = pending_[s];
    const StepValues& values = values_[s];
    const bool is_kernel = values.node && is_row_kernel(values.node->prim);
    if (!is_kernel && group.sets.size() != 1) return std::nullopt;
    for (ValueId v : values.out)
      if (stable_[v] || g_.values[v].sparse) return std::nullopt;
    RowMember m;
    const auto add = [&](std::vector<RowMember::Operand>& list, ValueId v, fused::Access access) {
      const TensorType& type = g_.values[alias_of_[v]];
      list.push_back({alias_of_[v], std::move(access), static_cast<int64_t>(size_of(type.dtype)),
                      type.shape.size()});
    };
    if (is_kernel) {
      m.node = values.node;
      m.from = g_.values[values.in[0]];
      m.to = g_.values[values.out[0]];
      m.extent = m.to.shape.dims();
      add(m.in, values.in[0], {Ints(m.extent.size(), 0), 0});
      add(m.out, values.out[0], {contiguous_strides(m.extent), 0});
      return m;
    }
    m.program = &group.program;
    m.extent = group.sets[0].extent;
    m.reduced = group.reduced;
    for (size_t i = 0; i < values.in.size(); ++i) add(m.in, values.in[i], group.sets[0].in[i]);
    for (size_t o = 0; o < values.out.size(); ++o) add(m.out, values.out[o], group.sets[0].out[o]);
    return m;
  }

  /// Neighbouring steps over the same rows become one.
  void chain_rows() {
    std::vector<std::optional<RowMember>> members(values_.size());
    for (size_t s = 0; s < members.size(); ++s) members[s] = row_member(s);
    const std::vector<RowRange> chains = find_row_chains(members);
    if (chains.empty()) return;
    const auto used = find_uses();
    std::vector<uint8_t> gone(values_.size(), 0);
    for (const RowRange& chain : chains) {
      std::vector<const RowMember*> list;
      Step step;
      StepValues values;
      for (size_t s = chain.first; s < chain.first + chain.count; ++s) {
        list.push_back(&*members[s]);
        step.name += (step.name.empty() ? "rows(" : ", ") + exe_.steps_[s].name;
        step.node = exe_.steps_[s].node;
        step.work += exe_.steps_[s].work;
        gone[s] = s > chain.first;
      }
      step.name += ")";
      RowChain made = make_row_chain(list, chain.rows, values_inside(chain, used));
      step.kernel = std::move(made.kernel);
      values.in = std::move(made.in);
      values.out = std::move(made.out);
      exe_.steps_[chain.first] = std::move(step);
      values_[chain.first] = std::move(values);
      pending_[chain.first] = {};
    }
    remove_steps(gone);
  }

  /// From the first to the last step that writes or reads each root; all of them for what a call takes or gives.
  std::vector<std::pair<size_t, size_t>> find_uses() const {
    std::vector<std::pair<size_t, size_t>> used(alias_of_.size(), {values_.size(), 0});
    for (size_t s = 0; s < values_.size(); ++s)
      for (const auto* list : {&values_[s].in, &values_[s].out})
        for (ValueId v : *list) {
          auto& [first, last] = used[alias_of_[v]];
          first = std::min(first, s);
          last = std::max(last, s);
        }
    for (ValueId v : g_.outputs) used[alias_of_[v]] = {0, values_.size()};
    return used;
  }

  /// Roots that only the steps of the chain write and read.
  std::vector<ValueId> values_inside(const RowRange& chain,
                                     const std::vector<std::pair<size_t, size_t>>& used) const {
    std::vector<ValueId> inside;
    for (size_t s = chain.first; s < chain.first + chain.count; ++s)
      for (ValueId v : values_[s].out) {
        const ValueId root = alias_of_[v];
        const auto [first, last] = used[root];
        if (first >= chain.first && last < chain.first + chain.count &&
            place_[root].kind == Place::nowhere)
          inside.push_back(root);
      }
    return inside;
  }

  void remove_steps(const std::vector<uint8_t>& gone) {
    size_t kept = 0;
    for (size_t s = 0; s < values_.size(); ++s) {
      if (gone[s]) continue;
      if (kept != s) {
        exe_.steps_[kept] = std::move(exe_.steps_[s]);
        values_[kept] = std::move(values_[s]);
        pending_[kept] = std::move(pending_[s]);
      }
      ++kept;
    }
    exe_.steps_.resize(kept);
    values_.resize(kept);
    pending_.resize(kept);
  }

  void make_groups() {
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

  static fused::Access reduce_access(const GraphNode& n, const Ints& extent) {
    fused::Access a;
    a.stride = Ints(extent.size(), 0);
    std::vector<bool> reduced(extent.size(), false);
    for (int64_t axis : *primitive(n.prim).ints(n.attrs.get(), "axes"))
      reduced[static_cast<size_t>(axis)] = true;
    int64_t stride = 1;
    for (size_t i = extent.size(); i-- > 0;) {
      if (reduced[i]) continue;
      a.stride[i] = stride;
      stride *= extent[i];
    }
    return a;
  }

  /// Which members' values are graph outputs or read by other steps.
  std::vector<uint8_t> members_read_outside(const StepNodes& s) {
    std::vector<uint8_t> outside(s.nodes.size(), 0);
    for (size_t k = 0; k < s.nodes.size(); ++k) {
      if (std::find(s.unstored.begin(), s.unstored.end(), s.nodes[k]) != s.unstored.end()) continue;
      for (uint32_t c : consumers_[g_.nodes[s.nodes[k]].out[0]])
        outside[k] |= !std::binary_search(s.nodes.begin(), s.nodes.end(), c);
    }
    return outside;
  }

  /// Values that are outputs live in the caller's memory from the start; what cannot (an input, a constant, a
  /// value asked for twice) is copied at the end.
  void place_outputs() {
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

  static KernelPtr copy_kernel(const TensorType& type) {
    if (type.sparse)
      return kernel_of([rows = type.shape.dim(0), item = size_of(type.dtype)](
                           const void* const* in, void* const* out, RunContext&) {
        SparseBuffer::at(out[0]).assign(*static_cast<const SparseView*>(in[0]), rows, item);
      });
    return kernel_of([bytes = type.nbytes()](const void* const* in, void* const* out, RunContext&) {
      if (bytes && in[0] != out[0]) std::memcpy(out[0], in[0], bytes);
    });
  }

  /// Sparse values between steps have buffers of their own.
  void place_sparse() {
    for (const StepValues& s : values_)
      for (ValueId v : s.out)
        if (Place& place = place_[alias_of_[v]];
            v < g_.values.size() && g_.values[v].sparse && place.kind == Place::nowhere)
          place = {Place::sparse, exe_.n_sparse_++};
  }

  void plan_memory() {
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
      const size_t scratch = step.kernel  ? step.kernel->scratch_bytes()
                             : step.group ? step.group->scratch_bytes()
                                          : 0;
      if (scratch) {
        step.scratch = plan.allocate(scratch);
        plan.release(step.scratch, scratch);
      }
      for (ValueId v : dying[s])
        if (std::find(taken.begin(), taken.end(), v) == taken.end())
          plan.release(place_[v].at, bytes_of(v));
    }
    exe_.arena_bytes_ = plan.peak();
  }

  /// An operand in the arena that ends with this step and whose memory the result may have.
  ValueId find_donor(const Step& step, const StepValues& values, size_t o, size_t s,
                     const std::vector<size_t>& last, const std::vector<ValueId>& taken) const {
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

  /// May result o of a step be written into the memory of operand i?
  bool may_share(const Step& step, const StepValues& values, size_t i, size_t o) const {
    // Different sets of a merged step run in any order.
    if (step.many && i / values.set_in != o / values.set_out) return false;
    if (step.kernel) return step.kernel->can_alias(i, o);
    return values.in_whole[i] && values.out_whole[o] &&
           size_of(g_.values[values.in[i]].dtype) == size_of(g_.values[values.out[o]].dtype);
  }

  /// The caller passes output o in the memory of input i: is everything that reads the input done by then?
  bool in_place_is_safe(size_t output, size_t input) const {
    const ValueId out = alias_of_[g_.outputs[output]], in = g_.inputs[input];
    size_t writer = 0;
    for (size_t s = 0; s < values_.size(); ++s)
      for (ValueId v : values_[s].out)
        if (alias_of_[v] == out) writer = s;
    for (size_t s = writer; s < values_.size(); ++s)
      for (size_t i = 0; i < values_[s].in.size(); ++i) {
        if (alias_of_[values_[s].in[i]] != in) continue;
        if (s > writer) return false;
        for (size_t o = 0; o < values_[s].out.size(); ++o)
          if (alias_of_[values_[s].out[o]] == out && !may_share(exe_.steps_[s], values_[s], i, o))
            return false;
      }
    return true;
  }

  void make_pointers() {
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

  const Graph& g_;
  Executable& exe_;
  std::vector<ValueId> alias_of_;  // the value whose memory it is
  std::vector<int32_t> maker_;
  std::vector<uint8_t> stable_;
  std::vector<size_t> packed_bytes_;
  std::vector<Place> place_;
  std::vector<StepValues> values_;
  std::vector<PendingGroup> pending_;
  std::vector<Consumers> consumers_;
  std::vector<std::pair<size_t, size_t>> copies_;  // step, output
  Views views_;
};

void Executable::compile(const Graph& graph) {
  const std::optional<Graph> other = channels_last(graph);
  Compiler(other ? *other : graph, *this).run();
}

}  // namespace horngate::native
