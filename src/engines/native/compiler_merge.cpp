// Merges steps into one: equal updates, and row chains.
#include <algorithm>

#include "engines/native/compiler.h"
#include "ir/check.h"
#include "ir/switches.h"

namespace horngate::native {

void Executable::Compiler::merge_updates() {
  if (g_->in_place.empty()) return;
  std::vector<int64_t> made_by(alias_of_.size(),
                               -1);  // the last step so far that writes it, or a part of it
  const auto made = [&](size_t s, size_t by) {
    for (ValueId v : values_[s].out) made_by[v] = std::max(made_by[v], static_cast<int64_t>(by));
  };
  std::unordered_multimap<size_t, size_t> by_program;
  std::vector<uint8_t> merged(values_.size(), 0);
  for (size_t s = 0; s < values_.size(); ++s) {
    PendingGroup& group = pending_[s];
    if (group.sets.empty() || !group.reduced.empty()) {
      made(s, s);
      continue;
    }
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
      made(s, s);
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
    append(values_[h].phases, values_[s].phases);
    made(s, h);
    merged[s] = 1;
  }
  for (size_t s = 0; s < values_.size(); ++s)
    if (pending_[s].sets.size() > 1) exe_.steps_[s].name += text_of(" x ", pending_[s].sets.size());
  remove_steps(merged);
}

void Executable::Compiler::chain_rows() {
  if (!g_->in_place.empty()) return;
  bool is_large = false;
  for (const TensorType& t : g_->values)
    is_large |= !t.sparse && t.nbytes() >= static_cast<size_t>(kWorthAChain);
  if (!is_large) return;
  std::vector<std::optional<RowMember>> members(values_.size());
  bool any = false;
  for (size_t s = 0; s < members.size(); ++s) any |= (members[s] = row_member(s)).has_value();
  if (!any) return;
  const auto used = find_uses();
  for (std::optional<RowMember>& m : members)
    if (m)
      for (RowMember::Operand& o : m->out) o.last_use = used[o.root].second;
  const std::vector<RowRange> chains = find_row_chains(members);
  if (chains.empty()) return;
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
    const std::vector<ValueId> inside = values_inside(chain, used);
    if (is_verified())
      for (const RowMember* m : list) values.phases.push_back(phase_of(*m, inside));
    RowChain made = make_row_chain(list, chain.rows, inside);
    step.kernel = std::move(made.kernel);
    values.in = std::move(made.in);
    values.out = std::move(made.out);
    exe_.steps_[chain.first] = std::move(step);
    values_[chain.first] = std::move(values);
    pending_[chain.first] = {};
  }
  remove_steps(gone);
}

std::optional<RowMember> Executable::Compiler::row_member(size_t s) const {
  const PendingGroup& group = pending_[s];
  const StepValues& values = values_[s];
  const bool is_kernel =
      values.node && !values.in.empty() && is_row_kernel(*values.node, g_->values[values.in[0]]);
  if (!is_kernel && group.sets.size() != 1) return std::nullopt;
  for (ValueId v : values.out)
    if (stable_[v] || g_->values[v].sparse) return std::nullopt;
  RowMember m;
  const auto add = [&](std::vector<RowMember::Operand>& list, ValueId v, fused::Access access) {
    const TensorType& type = g_->values[alias_of_[v]];
    list.push_back({alias_of_[v], std::move(access), static_cast<int64_t>(size_of(type.dtype)),
                    type.shape.size()});
  };
  if (is_kernel) {
    m.node = values.node;
    m.from = g_->values[values.in[0]];
    m.to = g_->values[values.out[0]];
    m.extent = m.to.shape.dims();
    const fused::Access whole{contiguous_strides(m.extent), 0};
    add(m.in, values.in[0],
        makes_random(*m.node) ? fused::Access{Ints(m.extent.size(), 0), 0} : whole);
    add(m.out, values.out[0], whole);
    // A part of a larger array is not laid out as a whole.
    if (!makes_random(*m.node) && m.in[0].size != m.from.shape.size()) return std::nullopt;
    return m;
  }
  m.program = &group.program;
  m.extent = group.sets[0].extent;
  m.reduced = group.reduced;
  for (size_t i = 0; i < values.in.size(); ++i) add(m.in, values.in[i], group.sets[0].in[i]);
  for (size_t o = 0; o < values.out.size(); ++o) add(m.out, values.out[o], group.sets[0].out[o]);
  return m;
}

std::vector<std::pair<size_t, size_t>> Executable::Compiler::find_uses() const {
  std::vector<std::pair<size_t, size_t>> used(alias_of_.size(), {values_.size(), 0});
  for (size_t s = 0; s < values_.size(); ++s)
    for (const auto* list : {&values_[s].in, &values_[s].out})
      for (ValueId v : *list) {
        auto& [first, last] = used[alias_of_[v]];
        first = std::min(first, s);
        last = std::max(last, s);
      }
  for (ValueId v : g_->outputs) used[alias_of_[v]] = {0, values_.size()};
  return used;
}

std::vector<ValueId> Executable::Compiler::values_inside(
    const RowRange& chain, const std::vector<std::pair<size_t, size_t>>& used) const {
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

Executable::Compiler::Phase Executable::Compiler::phase_of(const RowMember& m,
                                                           const std::vector<ValueId>& inside) {
  Phase phase;
  const auto add = [&](std::vector<Touch>& to, const RowMember::Operand& o) {
    if (std::find(inside.begin(), inside.end(), o.root) == inside.end())
      to.push_back({o.root, o.access, m.extent, static_cast<size_t>(o.item)});
  };
  for (const RowMember::Operand& o : m.in) add(phase.reads, o);
  for (const RowMember::Operand& o : m.out) add(phase.writes, o);
  return phase;
}

void Executable::Compiler::remove_steps(const std::vector<uint8_t>& gone) {
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

}  // namespace horngate::native
