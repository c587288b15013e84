// The verifier of compiled plans. It follows the steps with a map of memory that says whose value each byte holds, and
// does not know how places were chosen: every byte that a step reads must hold the value that the step expects.
#include <algorithm>
#include <map>
#include <set>

#include "engines/native/compiler.h"
#include "ir/check.h"
#include "ir/switches.h"

namespace horngate::native {
namespace {

/// An access with more separate runs than this counts as everything between its ends.
constexpr int64_t kMostRuns = 1 << 16;

struct Run {
  size_t begin, end;  // bytes
  bool overlaps(const Run& other) const { return begin < other.end && other.begin < end; }
};

/// The runs of memory that an access touches, and whether it touches all of each. A sum over nothing is written too.
std::pair<std::vector<Run>, bool> runs_of(const fused::Access& access, const Ints& extent,
                                          size_t item, bool writes) {
  struct Axis {
    int64_t stride, count;
  };
  std::vector<Axis> axes;
  int64_t first = access.offset, runs = 1;
  for (size_t i = 0; i < extent.size(); ++i) {
    int64_t stride = access.stride[i];
    if (extent[i] == 0 && !(writes && stride == 0)) return {{}, true};
    if (extent[i] == 1 || stride == 0) continue;
    if (stride < 0) {
      first += stride * (extent[i] - 1);
      stride = -stride;
    }
    axes.push_back({stride, extent[i]});
  }
  std::sort(axes.begin(), axes.end(), [](Axis a, Axis b) { return a.stride < b.stride; });
  int64_t length = 1;
  size_t inner = 0;
  while (inner < axes.size() && axes[inner].stride == length) length *= axes[inner++].count;
  int64_t last = first;
  for (size_t i = inner; i < axes.size(); ++i) {
    last += axes[i].stride * (axes[i].count - 1);
    runs *= axes[i].count;
  }
  const auto bytes = [item](int64_t begin, int64_t end) {
    return Run{static_cast<size_t>(begin) * item, static_cast<size_t>(end) * item};
  };
  invariant(first >= 0, "an access begins before its array");
  if (runs > kMostRuns) return {{bytes(first, last + length)}, false};
  std::vector<Run> made;
  std::vector<int64_t> index(axes.size(), 0);
  for (int64_t r = 0; r < runs; ++r) {
    int64_t at = first;
    for (size_t i = inner; i < axes.size(); ++i) at += index[i] * axes[i].stride;
    made.push_back(bytes(at, at + length));
    for (size_t i = inner; i < axes.size() && ++index[i] == axes[i].count; ++i) index[i] = 0;
  }
  return {made, true};
}

/// Whose value each byte holds.
class Memory {
 public:
  void write(Run run, ValueId owner) {
    if (run.begin == run.end) return;
    cut(run.begin);
    cut(run.end);
    auto at = stretches_.lower_bound(run.begin);
    while (at != stretches_.end() && at->first < run.end) at = stretches_.erase(at);
    stretches_[run.begin] = {run.end, owner};
  }
  bool holds(Run run, ValueId owner) const {
    for (size_t at = run.begin; at < run.end;) {
      const auto it = find(at);
      if (it == stretches_.end() || it->second.owner != owner) return false;
      at = it->second.end;
    }
    return true;
  }
  bool holds_any(Run run, ValueId owner) const {
    auto it = stretches_.upper_bound(run.begin);
    if (it != stretches_.begin()) --it;
    for (; it != stretches_.end() && it->first < run.end; ++it)
      if (it->second.owner == owner && it->second.end > run.begin) return true;
    return false;
  }
  void clear() { stretches_.clear(); }

 private:
  struct Stretch {
    size_t end;
    ValueId owner;
  };
  std::map<size_t, Stretch>::const_iterator find(size_t at) const {
    auto it = stretches_.upper_bound(at);
    if (it == stretches_.begin()) return stretches_.end();
    --it;
    return it->second.end > at ? it : stretches_.end();
  }
  void cut(size_t at) {
    const auto it = find(at);
    if (it == stretches_.end() || it->first == at) return;
    const Stretch rest = it->second;
    stretches_[it->first].end = at;
    stretches_[at] = rest;
  }

  std::map<size_t, Stretch> stretches_;
};

}  // namespace

class Executable::Compiler::Verifier {
 public:
  explicit Verifier(const Compiler& c) : c_(c), g_(*c.g_) {}

  void run() {
    for (size_t k = 0; k + 1 < g_.in_place.size(); k += 2)
      shared_[g_.in_place[k]] = g_.in_place[k + 1];
    for (ValueId v : g_.inputs) fill(v);
    for (const GraphNode& n : g_.nodes)
      if (n.prim == Prim::constant) fill(n.out[0]);
    for (size_t s = 0; s < c_.values_.size(); ++s) {
      if (s == c_.exe_.n_early_)
        memory({Place::arena, 0}).clear();  // derive() runs in another arena
      step_ = s;
      check_step(s);
    }
    step_ = c_.values_.size();
    for (size_t i = 0; i < g_.outputs.size(); ++i) {
      const ValueId root = c_.alias_of_[g_.outputs[i]];
      require(memory({Place::output, i}).holds({0, bytes_of(root)}, root), "output ", i,
              " is not written");
    }
  }

 private:
  struct Placed {
    Touch touch;
    Place place;
    std::vector<Run> runs;  // within the place's memory
    bool exact = true;
  };

  template <class... P>
  void require(bool ok, const P&... parts) const {
    if (ok) return;
    const std::string what = text_of(parts...);
    invariant(false, "the plan's step ", step_, " (",
              step_ < c_.exe_.steps_.size() ? c_.exe_.steps_[step_].name : "end", "): ", what,
              ".\n", c_.exe_.describe());
  }

  /// If the caller passes an output in the memory of an input, that is the memory meant.
  Memory& memory(Place place) {
    size_t at = place.at;
    Place::Kind kind = place.kind;
    if (kind == Place::output)
      if (const auto it = shared_.find(at); it != shared_.end()) {
        kind = Place::input;
        at = it->second;
      }
    if (kind == Place::arena || kind == Place::derived) at = 0;
    return memories_[{kind, at}];
  }
  static size_t base_of(Place place) {
    return place.kind == Place::arena || place.kind == Place::derived ? place.at : 0;
  }
  bool is_sparse(ValueId v) const { return v < g_.values.size() && g_.values[v].sparse; }
  /// A sparse value counts as a single byte.
  size_t bytes_of(ValueId v) const { return is_sparse(v) ? 1 : c_.bytes_of(v); }
  void fill(ValueId v) { memory(c_.place_[v]).write({0, bytes_of(v)}, v); }

  Touch whole(ValueId v) const {
    const auto bytes = static_cast<int64_t>(bytes_of(v));
    return {c_.alias_of_[v], {{1}, 0}, {bytes}, 1};
  }

  Placed placed(const Touch& t, Place place, bool writes) const {
    auto [runs, exact] = runs_of(t.access, t.extent, t.item, writes);
    Placed p{t, place, std::move(runs), exact};
    const size_t size = bytes_of(t.root), base = base_of(place);
    require(place.kind != Place::nowhere, "value ", t.root, " has no memory");
    for (Run& r : p.runs) {
      require(r.end <= size, "bytes up to ", r.end, " of value ", t.root, ", which has ", size);
      r = {r.begin + base, r.end + base};
    }
    return p;
  }

  void check_step(size_t s) {
    const StepValues& values = c_.values_[s];
    const Step& step = c_.exe_.steps_[s];
    const size_t scratch = c_.scratch_of(step);
    const Run scratch_run{step.scratch, step.scratch + scratch};
    if (scratch) memory({Place::arena, 0}).write(scratch_run, kNoValue);
    std::vector<std::pair<Placed, size_t>> reads, writes;  // with the number of their phase
    std::vector<Phase> phases = values.phases;
    if (phases.empty()) {
      phases.emplace_back();
      for (ValueId v : values.in) phases[0].reads.push_back(whole(v));
      for (ValueId v : values.out) phases[0].writes.push_back(whole(v));
    }
    for (size_t p = 0; p < phases.size(); ++p) {
      for (const Touch& t : phases[p].reads) {
        reads.emplace_back(placed(t, c_.place_[t.root], false), p);
        for (const Run& r : reads.back().first.runs)
          require(memory(c_.place_[t.root]).holds(r, t.root), "reads bytes [", r.begin, ", ", r.end,
                  ") of value ", t.root, " in ", name_of(c_.place_[t.root]),
                  ", which hold something else");
      }
      for (const Touch& t : phases[p].writes) write(t, c_.place_[t.root], p, writes);
    }
    for (const auto& [index, output] : c_.copies_)
      if (index == s) write(whole(values.in[0]), {Place::output, output}, 0, writes);
    for (const auto& [w, phase] : writes) {
      if (scratch && w.place.kind == Place::arena)
        for (const Run& r : w.runs)
          require(!r.overlaps(scratch_run), "writes into its own scratch");
      for (const auto& [r, read_phase] : reads)
        if (r.touch.root != w.touch.root && overlap(r, w))
          require(may_share(step, values, r, read_phase, w, phase), "writes value ", w.touch.root,
                  " over value ", r.touch.root, ", which it still reads");
    }
  }

  void write(const Touch& t, Place place, size_t phase,
             std::vector<std::pair<Placed, size_t>>& writes) {
    writes.emplace_back(placed(t, place, true), phase);
    require(place.kind != Place::constant, "writes a constant");
    require(place.kind != Place::derived || step_ < c_.exe_.n_early_,
            "writes a derived value in each run, which other threads may read");
    // A copy to an output holds the same value as the original.
    Memory& m = memory(place);
    if (!writes.back().first.exact) rough_.insert(t.root);
    for (const Run& r : writes.back().first.runs) {
      // Parts of a concat may lie between each other's elements.
      require(rough_.count(t.root) || !m.holds_any(r, t.root), "writes value ", t.root, " twice");
      m.write(r, t.root);
    }
  }

  bool overlap(const Placed& a, const Placed& b) {
    if (&memory(a.place) != &memory(b.place)) return false;
    if (a.runs.size() * b.runs.size() > kMostRuns) {
      const auto hull = [](const Placed& p) {
        return Run{p.runs.front().begin, p.runs.back().end};
      };
      return hull(a).overlaps(hull(b));
    }
    for (const Run& x : a.runs)
      for (const Run& y : b.runs)
        if (x.overlaps(y)) return true;
    return false;
  }

  /// Element by element, each read before it is written; or as the kernel promises.
  bool may_share(const Step& step, const StepValues& values, const Placed& r, size_t read_phase,
                 const Placed& w, size_t write_phase) const {
    if (step.kernel) {
      for (size_t i = 0; i < values.in.size(); ++i)
        for (size_t o = 0; o < values.out.size(); ++o)
          if (c_.alias_of_[values.in[i]] == r.touch.root &&
              c_.alias_of_[values.out[o]] == w.touch.root && !step.kernel->can_alias(i, o))
            return false;
      return !values.out.empty();
    }
    if (read_phase != write_phase || r.touch.item != w.touch.item ||
        base_of(r.place) != base_of(w.place))
      return false;
    if (!(r.touch.extent == w.touch.extent) || r.touch.access.offset != w.touch.access.offset)
      return false;
    for (size_t i = 0; i < w.touch.extent.size(); ++i) {
      const int64_t stride = w.touch.access.stride[i];
      if (w.touch.extent[i] > 1 && (stride == 0 || stride != r.touch.access.stride[i]))
        return false;
    }
    return true;
  }

  static const char* name_of(Place place) {
    switch (place.kind) {
      case Place::input: return "an input";
      case Place::output: return "an output";
      case Place::arena: return "the arena";
      case Place::derived: return "derived values";
      case Place::constant: return "a constant";
      case Place::sparse: return "a sparse buffer";
      default: return "no memory";
    }
  }

  const Compiler& c_;
  const Graph& g_;
  std::set<ValueId> rough_;  // values with a write of which only the two ends are known
  size_t step_ = 0;
  std::map<size_t, size_t> shared_;  // output -> input
  std::map<std::pair<Place::Kind, size_t>, Memory> memories_;
};

void Executable::Compiler::verify_memory() const { Verifier(*this).run(); }

void Executable::Compiler::verify_steps(const char* pass) const {
  const auto require = [&](bool ok, const auto&... parts) {
    if (!ok) invariant(false, "after the pass ", pass, ": ", parts...);
  };
  // The first passes run before there are steps.
  if (!exe_.n_pointers_ && values_.empty()) {
    verify(*g_, pass);
    const auto same_types = [&](const auto& now, const auto& before) {
      require(std::equal(now.begin(), now.end(), before.begin(), before.end(),
                         [&](auto v, auto b) { return g_->values[v] == given_.values[b]; }),
              "the types of the graph's inputs or outputs have changed");
    };
    same_types(g_->inputs, given_.inputs);
    same_types(g_->outputs, given_.outputs);
    return;
  }
  require(values_.size() == exe_.steps_.size(), values_.size(), " lists of values for ",
          exe_.steps_.size(), " steps");
  std::vector<uint8_t> made(alias_of_.size(), 0);
  for (ValueId v = 0; v < g_->values.size(); ++v)
    made[v] = place_[v].kind == Place::input || place_[v].kind == Place::constant;
  for (size_t s = 0; s < values_.size(); ++s) {
    const StepValues& values = values_[s];
    for (ValueId v : values.in)
      require(made[alias_of_[v]], "step ", s, " (", exe_.steps_[s].name, ") reads value ", v,
              ", which no step before it makes");
    for (ValueId v : values.out) {
      require(alias_of_[v] == v, "step ", s, " makes value ", v,
              ", which lies in another value's memory");
      made[v] = 1;
    }
    if (s >= pending_.size() || pending_[s].sets.empty()) continue;
    const PendingGroup& group = pending_[s];
    const size_t in = group.sets.size() * group.program.inputs.size(),
                 out = group.sets.size() * group.program.outputs.size();
    require(values.in.size() == in && values.in_whole.size() == in && values.out.size() == out &&
                values.out_whole.size() == out,
            "step ", s, " (", exe_.steps_[s].name, ") has ", values.in.size(), " operands and ",
            values.out.size(), " results for a program with ", in, " and ", out);
  }
  for (ValueId v : g_->outputs)
    require(made[alias_of_[v]], "value ", v, " is an output, and no step makes it");
}

}  // namespace horngate::native
