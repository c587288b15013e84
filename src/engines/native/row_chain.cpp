#include "engines/native/row_chain.h"

#include <algorithm>
#include <unordered_map>

#include "engines/native/kernels/random.h"
#include "engines/native/kernels/workers.h"
#include "ir/align.h"
#include "ir/check.h"

namespace horngate::native {
namespace {

// Measured: chains pay for rows that are only read, from the second-level cache, and for arrays that fit into the
// third; when more is written, whole passes over memory are as fast. Random numbers are slow to make and are best
// used from the first-level cache.
constexpr int64_t kTileBytes = 192 << 10, kRandomTileBytes = 48 << 10, kMaxRowBytes = 512 << 10;
constexpr int64_t kWorthReading = 4 << 20, kMostWritten = 12 << 20;
constexpr int64_t kRowValues = 16;  // fewer elements per row do not count as writing
constexpr size_t kMaxMembers = 12, kMaxOperands = 24;

using Operand = RowMember::Operand;

/// Number of leading axes of the extent that make up that many rows; 0 if none do.
size_t leading_axes(const RowMember& m, int64_t rows) {
  int64_t n = 1;
  size_t last = 0;  // the longest choice includes axes of size 1
  for (size_t i = 0; i < m.extent.size() && !(i < m.reduced.size() && m.reduced[i]); ++i) {
    n *= m.extent[i];
    if (n == rows) last = i + 1;
    if (n > rows) break;
  }
  return last;
}

/// Elements from row to row, 0 if all rows see the same; empty if the axes do not form a single one.
std::optional<int64_t> row_stride(const RowMember& m, const Operand& o, size_t axes) {
  int64_t stride = 0, length = 0;
  for (size_t i = axes; i-- > 0;) {
    if (m.extent[i] == 1) continue;
    if (length == 0)
      stride = o.access.stride[i];
    else if (o.access.stride[i] != stride * length)
      return std::nullopt;
    length = (length ? length : 1) * m.extent[i];
  }
  if (stride < 0) return std::nullopt;
  return stride;
}

/// Whether row r of the operand lies in elements [r, r + 1) * size / rows of its memory.
bool keeps_to_its_row(const RowMember& m, const Operand& o, size_t axes, int64_t rows) {
  const std::optional<int64_t> stride = row_stride(m, o, axes);
  if (!stride || o.size % rows != 0 || *stride != o.size / rows || o.access.offset < 0)
    return false;
  int64_t last = o.access.offset;
  for (size_t i = axes; i < m.extent.size(); ++i) {
    if (o.access.stride[i] < 0) return false;
    last += (m.extent[i] - 1) * o.access.stride[i];
  }
  return last < *stride;
}

/// Whether every element of the extent has its own place.
bool is_whole(const RowMember& m, const Operand& o) {
  for (size_t i = 0; i < m.extent.size(); ++i)
    if (m.extent[i] > 1 && o.access.stride[i] == 0) return false;
  return true;
}

/// Whether reads are row by row or the same for all rows, and writes keep to their row.
bool works_by_rows(const RowMember& m, int64_t rows) {
  const size_t axes = leading_axes(m, rows);
  if (axes == 0 || m.in.size() + m.out.size() > kMaxOperands) return false;
  if (m.node && !makes_random(*m.node) && axes == m.extent.size()) return false;
  for (const Operand& o : m.in)
    if (!row_stride(m, o, axes)) return false;
  for (const Operand& o : m.out)
    if (!keeps_to_its_row(m, o, axes, rows)) return false;
  return true;
}

/// Whether everything that an earlier member writes is read in the same row.
bool follows(std::span<const std::optional<RowMember>> before, const RowMember& m, int64_t rows) {
  if (!works_by_rows(m, rows)) return false;
  const size_t axes = leading_axes(m, rows);
  for (const Operand& o : m.in)
    for (const auto& other : before)
      for (const Operand& made : other->out)
        if (made.root == o.root && !keeps_to_its_row(m, o, axes, rows)) return false;
  return true;
}

struct Use {
  int64_t row_bytes = 0;
  size_t members = 0;
};

/// For each root that moves with the rows: its bytes per row and how many members touch it.
std::unordered_map<ValueId, Use> uses_of(std::span<const RowMember* const> members, int64_t rows) {
  std::unordered_map<ValueId, Use> uses;
  for (const RowMember* m : members) {
    const size_t axes = leading_axes(*m, rows);
    std::vector<ValueId> seen;
    for (const auto* list : {&m->in, &m->out})
      for (const Operand& o : *list) {
        if (row_stride(*m, o, axes).value_or(0) == 0) continue;
        if (std::find(seen.begin(), seen.end(), o.root) != seen.end()) continue;
        seen.push_back(o.root);
        Use& use = uses[o.root];
        use.row_bytes = o.size / rows * o.item;
        ++use.members;
      }
  }
  return uses;
}

int64_t bytes_of_a_row(const std::unordered_map<ValueId, Use>& uses) {
  int64_t bytes = 0;
  for (const auto& [root, use] : uses) bytes += use.row_bytes;
  return bytes;
}

bool has_random(std::span<const RowMember* const> members) {
  return std::any_of(members.begin(), members.end(),
                     [](const RowMember* m) { return m->node && makes_random(*m->node); });
}

/// Whether steps from `end` on read rows that the member writes.
bool writes_rows(const RowMember* m, int64_t rows, size_t end) {
  return std::any_of(m->out.begin(), m->out.end(), [&](const Operand& o) {
    return o.size / rows >= kRowValues && o.last_use >= end;
  });
}

/// Whether something large is touched more than once. `end`: the step after the members.
bool pays(std::span<const RowMember* const> members, int64_t rows, size_t end) {
  const auto uses = uses_of(members, rows);
  const int64_t row_bytes = bytes_of_a_row(uses);
  if (row_bytes > kMaxRowBytes) return false;
  const bool random = has_random(members);
  const bool writes = std::any_of(members.begin(), members.end(),
                                  [&](const RowMember* m) { return writes_rows(m, rows, end); });
  if (!random && writes && row_bytes * rows > kMostWritten) return false;
  return std::any_of(uses.begin(), uses.end(), [&](const auto& entry) {
    return entry.second.members > 1 &&
           entry.second.row_bytes * rows >= (random ? kWorthAChain : kWorthReading);
  });
}

int64_t rows_of_a_tile(std::span<const RowMember* const> members, int64_t rows) {
  const int64_t bytes = std::max<int64_t>(1, bytes_of_a_row(uses_of(members, rows)));
  const bool random = has_random(members);
  const int64_t most =
      std::clamp<int64_t>((random ? kRandomTileBytes : kTileBytes) / bytes, 1, rows);
  constexpr int64_t kUnit = kernels::random::kPartUnit;
  if (random) return std::min(rows, (most + kUnit - 1) / kUnit * kUnit);
  for (int64_t n = most; n > most / 2; --n)
    if (rows % n == 0) return n;
  return most;
}

/// Runs the members over tiles; the last one may have fewer rows.
class RowChainKernel final : public Kernel {
 public:
  RowChainKernel(std::span<const RowMember* const> members, int64_t rows,
                 const std::vector<ValueId>& inside, RowChain& chain)
      : rows_(rows),
        tile_(rows_of_a_tile(members, rows)),
        tiles_((rows + tile_ - 1) / tile_),
        slots_(slots_for(tiles_)) {
    for (const RowMember* m : members) {
      Member made;
      made.in = places_of(*m, m->in, inside, chain.in, Kind::in);
      made.out = places_of(*m, m->out, inside, chain.out, Kind::out);
      made.row_elements = m->out[0].size / rows;
      make(*m, tile_, made.whole);
      if (rows % tile_) make(*m, rows % tile_, made.rest);
      members_.push_back(std::move(made));
    }
    note_sharing(members, chain);
    size_t scratch = 0;
    for (const Member& m : members_)
      for (const Code* code : {&m.whole, &m.rest})
        scratch = std::max(scratch, code->kernel  ? code->kernel->scratch_bytes()
                                    : code->group ? code->group->scratch_bytes()
                                                  : 0);
    slot_bytes_ = inside_bytes_ + aligned_bytes(scratch);
  }

  size_t scratch_bytes() const override { return static_cast<size_t>(slots_) * slot_bytes_; }

  bool can_alias(size_t in, size_t out) const override {
    return std::find(shared_.begin(), shared_.end(), std::pair(in, out)) != shared_.end();
  }

  void run(const void* const* in, void* const* out, RunContext& context) override {
    for_units(tiles_, slots_, [&](int64_t slot, int64_t tile) {
      run_tile(tile, in, out,
               static_cast<std::byte*>(context.scratch) + static_cast<size_t>(slot) * slot_bytes_,
               context);
    });
  }

 private:
  enum class Kind : uint8_t { in, out, inside };
  struct RowOperand {
    Kind kind;
    size_t at;          // number of the operand or result, or offset in a slot
    int64_t row_bytes;  // 0: the same for all rows
  };
  struct Code {
    std::unique_ptr<fused::Group> group;
    KernelPtr kernel;
  };
  struct Member {
    std::vector<RowOperand> in, out;
    Code whole, rest;
    int64_t row_elements = 0;  // of a kernel's result
  };

  void run_tile(int64_t t, const void* const* in, void* const* out, std::byte* memory,
                RunContext& context) {
    const int64_t row = t * tile_;
    const bool whole = row + tile_ <= rows_;
    void* pointers[kMaxOperands];
    for (const Member& m : members_) {
      size_t k = 0;
      for (const auto* list : {&m.in, &m.out})
        for (const RowOperand& p : *list) {
          if (p.kind == Kind::inside)
            pointers[k++] = memory + p.at;
          else
            pointers[k++] =
                static_cast<char*>(p.kind == Kind::in ? const_cast<void*>(in[p.at]) : out[p.at]) +
                row * p.row_bytes;
        }
      const Code& code = whole ? m.whole : m.rest;
      if (code.group) {
        code.group->run(pointers, pointers + m.in.size(), memory + inside_bytes_);
      } else {
        RunContext own = context;
        own.scratch = memory + inside_bytes_;
        own.first = row * m.row_elements;
        code.kernel->run(pointers, pointers + m.in.size(), own);
      }
    }
  }

  void make(const RowMember& m, int64_t rows, Code& code) const {
    const size_t axes = leading_axes(m, rows_);
    if (m.node) {
      code.kernel = make_kernel(m, rows, axes);
      return;
    }
    Ints extent{rows};
    std::vector<bool> reduced{false};
    for (size_t i = axes; i < m.extent.size(); ++i) {
      extent.push_back(m.extent[i]);
      reduced.push_back(i < m.reduced.size() && m.reduced[i]);
    }
    const auto accesses = [&](const std::vector<Operand>& list) {
      std::vector<fused::Access> made;
      for (const Operand& o : list) {
        fused::Access a{{*row_stride(m, o, axes)}, o.access.offset};
        for (size_t i = axes; i < m.extent.size(); ++i) a.stride.push_back(o.access.stride[i]);
        made.push_back(std::move(a));
      }
      return made;
    };
    code.group = fused::Group::make(*m.program, std::move(extent), accesses(m.in), accesses(m.out),
                                    std::move(reduced));
  }

  static KernelPtr make_kernel(const RowMember& m, int64_t rows, size_t axes) {
    int64_t elements = rows;
    for (size_t i = axes; i < m.extent.size(); ++i) elements *= m.extent[i];
    KernelCall call;
    if (makes_random(*m.node)) {
      const TensorType to{m.to.dtype, Shape{elements}};
      call.in = {&m.from, 1};
      call.out = {&to, 1};
      call.attrs = m.node->attrs.get();
      return find_kernel(m.node->prim)(call);
    }
    const TensorType type{m.to.dtype, Shape{elements / m.extent.back(), m.extent.back()}};
    const AttrRef attrs = m.node->prim == Prim::softmax
                              ? AttrRef(new AttrsOf<attrs::softmax>({.axis = 1}))
                              : AttrRef(new AttrsOf<attrs::log_softmax>({.axis = 1}));
    call.in = call.out = {&type, 1};
    call.attrs = attrs.get();
    return find_kernel(m.node->prim)(call);
  }

  std::vector<RowOperand> places_of(const RowMember& m, const std::vector<Operand>& list,
                                    const std::vector<ValueId>& inside, std::vector<ValueId>& outer,
                                    Kind kind) {
    std::vector<RowOperand> places;
    for (const Operand& o : list) {
      const int64_t bytes = *row_stride(m, o, leading_axes(m, rows_)) * o.item;
      if (std::find(inside.begin(), inside.end(), o.root) != inside.end()) {
        const auto [it, fresh] = inside_at_.try_emplace(o.root, inside_bytes_);
        if (fresh) inside_bytes_ += aligned_bytes(static_cast<size_t>(bytes * tile_));
        places.push_back({Kind::inside, it->second, bytes});
        continue;
      }
      // What an earlier member wrote is read from the same place.
      const auto made = kind == Kind::in ? made_at_.find(o.root) : made_at_.end();
      if (made != made_at_.end()) {
        places.push_back({Kind::out, made->second, bytes});
        continue;
      }
      auto at = std::find(outer.begin(), outer.end(), o.root);
      if (at == outer.end()) at = outer.insert(outer.end(), o.root);
      const auto number = static_cast<size_t>(at - outer.begin());
      if (kind == Kind::out) made_at_[o.root] = number;
      places.push_back({kind, number, bytes});
    }
    return places;
  }

  /// A result may take the memory of an operand if the last to read it is the member that writes the result,
  /// element by element, or a member before that.
  void note_sharing(std::span<const RowMember* const> members, const RowChain& chain) {
    for (size_t o = 0; o < chain.out.size(); ++o)
      for (size_t i = 0; i < chain.in.size(); ++i)
        if (may_share(members, chain.in[i], chain.out[o])) shared_.emplace_back(i, o);
  }

  bool may_share(std::span<const RowMember* const> members, ValueId in, ValueId out) const {
    size_t writer = SIZE_MAX;
    const Operand* written = nullptr;
    for (size_t k = 0; k < members.size(); ++k)
      for (const Operand& o : members[k]->out)
        if (o.root == out) {
          if (written) return false;  // several members write parts of it
          written = &o;
          writer = k;
        }
    for (size_t k = 0; k < members.size(); ++k) {
      const RowMember& m = *members[k];
      for (const Operand& o : m.in) {
        if (o.root != in) continue;
        if (k > writer || o.item != written->item || o.size != written->size ||
            !keeps_to_its_row(m, o, leading_axes(m, rows_), rows_))
          return false;
        if (k < writer) continue;
        if (!is_whole(m, *written) || o.access.offset != written->access.offset ||
            !(o.access.stride == written->access.stride))
          return false;
      }
    }
    return true;
  }

  const int64_t rows_, tile_, tiles_, slots_;
  std::vector<Member> members_;
  std::unordered_map<ValueId, size_t> inside_at_, made_at_;
  std::vector<std::pair<size_t, size_t>> shared_;  // operand, result
  size_t inside_bytes_ = 0, slot_bytes_ = 0;  // of a slot: values inside, then scratch of members
};

}  // namespace

bool makes_random(const GraphNode& node) {
  return node.prim == Prim::random_uniform || node.prim == Prim::random_normal ||
         node.prim == Prim::random_truncated_normal || node.prim == Prim::random_bernoulli;
}

bool is_row_kernel(const GraphNode& node, const TensorType& from) {
  const auto rank = static_cast<int64_t>(from.shape.dims().size());
  const auto is_last = [rank](int64_t axis) {
    return rank > 1 && (axis == -1 || axis == rank - 1);
  };
  if (node.prim == Prim::softmax) return is_last(node.as<attrs::softmax>().axis);
  if (node.prim == Prim::log_softmax) return is_last(node.as<attrs::log_softmax>().axis);
  return makes_random(node);
}

std::vector<RowRange> find_row_chains(const std::vector<std::optional<RowMember>>& steps) {
  std::vector<RowRange> chains;
  const auto members = [&](size_t first, size_t count) {
    std::vector<const RowMember*> list;
    for (size_t k = first; k < first + count; ++k) list.push_back(&*steps[k]);
    return list;
  };
  const auto has_large = [](const std::vector<Operand>& list) {
    return std::any_of(list.begin(), list.end(),
                       [](const Operand& o) { return o.size * o.item >= kWorthAChain; });
  };
  for (size_t s = 0; s < steps.size(); ++s) {
    if (!steps[s] || (!has_large(steps[s]->out) && !has_large(steps[s]->in))) continue;
    // Of all row counts, take the one with the longest chain; if several, the one with the most rows.
    RowRange best;
    int64_t rows = 1;
    for (size_t i = 0; i < steps[s]->extent.size(); ++i) {
      rows *= steps[s]->extent[i];
      if (rows <= 1 || !works_by_rows(*steps[s], rows)) continue;
      size_t count = 1;
      while (count < kMaxMembers && s + count < steps.size() && steps[s + count] &&
             follows({&steps[s], count}, *steps[s + count], rows))
        ++count;
      while (count > 1 && !pays(members(s, count), rows, s + count)) --count;
      if (count > 1 && count >= best.count) best = {s, count, rows};
    }
    if (best.count == 0) continue;
    chains.push_back(best);
    s += best.count - 1;
  }
  return chains;
}

RowChain make_row_chain(std::span<const RowMember* const> members, int64_t rows,
                        const std::vector<ValueId>& inside) {
  RowChain chain;
  chain.kernel = std::make_unique<RowChainKernel>(members, rows, inside, chain);
  return chain;
}

}  // namespace horngate::native
