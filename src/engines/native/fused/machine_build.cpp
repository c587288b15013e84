#include "engines/native/fused/machine_build.h"

#include <algorithm>
#include <cstdlib>

#include "engines/native/fused/simd.h"
#include "ir/check.h"

namespace horngate::native::fused {
namespace {

// All registers of a block should stay in the first-level cache (32 kB) along with what streams
// through it. Steps read and write in bursts of a block; for data from memory, short bursts overlap
// best with computing (measured: 2 kB instead of 4 kB is 3 % slower from the cache and 15 % faster
// from memory).
constexpr int64_t kRegisterBudget = 24 << 10, kMaxBlockBytes = 4096, kMaxMemoryBlockBytes = 2048;
constexpr int64_t kFromMemory = 4 << 20;
constexpr size_t kMaxTiles = 2;  // they are on the stack, 64 kB each
constexpr int64_t kMinBlock = 128, kBlockWithoutRegisters = 4096;

int cost_of(Op op) {
  switch (op) {
#define UNARY(name, cost) \
  case Op::name: return cost;
#define BINARY(name, cost) UNARY(name, cost)
#define PRIM(name, how, attributes)
#include "ir/prims.def"
    case Op::exp_nmul: return 8;
    default: return 1;
  }
}

}  // namespace

Machine::Machine(const Program& program, const Space& space, size_t inner, int64_t unit,
                 int64_t limit, bool by_columns)
    : kernels_(&fused::kernels()), program_inputs_(program.inputs.size()) {
  invariant(space.rank() <= kMaxRank, "a fused group has more than 16 axes");
  if (MachineBuilder(program, space, inner, by_columns, true, *this).build(unit, limit)) return;
  clear();
  MachineBuilder(program, space, inner, by_columns, false, *this).build(unit, limit);
}

void Machine::clear() {
  rows_ = block_ = cost_ = 1;
  length_ = 0;
  outer_extent_.clear();
  outer_stride_.clear();
  tiles_.clear();
  registers_ = repeated_ = 0;
  direct_in_.clear();
  direct_out_.clear();
  once_ = row_ = block_stage_ = {};
  fold_operand_.clear();
}

bool MachineBuilder::build(int64_t unit, int64_t limit) {
  m_.rows_ = s_.size(0, inner_);
  m_.length_ = s_.size(inner_, s_.rank());
  for (size_t i = 0; i < inner_; ++i) {
    m_.outer_extent_.push_back(s_.extent[i]);
    std::vector<int64_t> strides;
    for (const Ints& stride : s_.stride) strides.push_back(stride[i]);
    m_.outer_stride_.push_back(std::move(strides));
  }
  m_.base_offset_ = s_.offset;
  find_uses();
  compiled_ = may_compile_ && can_compile();
  choose_block(unit, limit);
  classify();
  choose_direct_outputs();
  list_items();
  list_outputs();
  mark_last_uses();
  place_values();
  emit();
  estimate_cost();
  return !compiled_ || compile_block();
}

bool MachineBuilder::is_direct(Reg v) const {
  return is_input(v) && !values_[v].uniform && stored_as_lane(p_.inputs[v]) &&
         s_.is_contiguous(v, inner_);
}

// Read in place, block by block: compiled code converts what it loads.
bool MachineBuilder::is_walked(Reg v) const {
  return is_direct(v) || (compiled_ && !values_[v].uniform && s_.is_contiguous(v, inner_));
}

// One value per row that only compiled code reads: it needs no copy.
bool MachineBuilder::is_read_in_place(Reg v) const {
  if (!compiled_ || !stored_as_lane(p_.inputs[v]) || p_.inputs[v] == DType::bool_) return false;
  for (size_t i = 0; i < p_.code.size(); ++i)
    for (Reg r : {p_.code[i].a, p_.code[i].b, p_.code[i].c})
      if (r == v && values_[p_.value_of(i)].uniform) return false;
  return true;
}

// Whether it moves less from row to row than along the row.
bool MachineBuilder::is_tiled(Reg v) const {
  return by_columns_ && values_[v].stage == kBlock && inner_ + 1 == s_.rank() &&
         std::abs(s_.stride[v][inner_ - 1]) < std::abs(s_.stride[v][inner_]) &&
         s_.stride[v][inner_ - 1] != 0;
}

void MachineBuilder::find_uses() {
  values_.resize(p_.value_count());
  for (size_t v = 0; v < values_.size(); ++v) values_[v].lane = p_.lane(static_cast<Reg>(v));
  for (const Instr& i : p_.code)
    for (Reg r : {i.a, i.b, i.c})
      if (r != kNone) values_[r].used = true;
  for (const Output& o : p_.outputs) values_[o.value].used = true;
  const size_t first_code = p_.value_of(0);
  for (size_t v = 0; v < first_code; ++v)
    values_[v].uniform = !is_input(static_cast<Reg>(v)) || s_.is_uniform(v, inner_);
  for (size_t i = 0; i < p_.code.size(); ++i) {
    bool uniform = true;
    for (Reg r : {p_.code[i].a, p_.code[i].b, p_.code[i].c})
      uniform = uniform && (r == kNone || values_[r].uniform);
    values_[p_.value_of(i)].uniform = uniform;
  }
  for (size_t i = 0; i < p_.inputs.size(); ++i) {
    size_t axis = inner_;
    while (axis < s_.rank() && s_.stride[i][axis] == 0) ++axis;
    period_.push_back(s_.size(axis, s_.rank()));
  }
}

// The largest number of registers in use at once if every instruction runs per block.
size_t MachineBuilder::live_values() const {
  std::vector<size_t> last(values_.size(), 0);
  for (size_t i = 0; i < p_.code.size(); ++i)
    for (Reg r : {p_.code[i].a, p_.code[i].b, p_.code[i].c})
      if (r != kNone) last[r] = i + 1;
  size_t live = 0;
  for (size_t i = 0; i < p_.inputs.size(); ++i)
    live += values_[i].used && !values_[i].uniform && !is_walked(static_cast<Reg>(i));
  if (compiled_) {
    for (size_t o = 0; o < p_.outputs.size(); ++o)
      live += p_.outputs[o].reduces || !s_.is_contiguous(out_access(o), inner_);
    return live;
  }
  size_t most = live;
  for (size_t i = 0; i < p_.code.size(); ++i) {
    const Instr& instr = p_.code[i];
    live += !values_[p_.value_of(i)].uniform;
    most = std::max(most, live);
    Reg done[3] = {instr.a, instr.b, instr.c};
    for (int k = 0; k < 3; ++k) {
      const bool repeated = (k > 0 && done[k] == done[0]) || (k > 1 && done[k] == done[1]);
      if (done[k] == kNone || repeated || values_[done[k]].uniform || is_direct(done[k])) continue;
      live -= last[done[k]] == i + 1;
    }
  }
  return most;
}

int64_t MachineBuilder::streamed_bytes() const {
  size_t bytes = 0;
  for (size_t i = 0; i < p_.inputs.size(); ++i)
    if (s_.is_contiguous(i, inner_)) bytes += horngate::size_of(p_.inputs[i]);
  for (const Output& o : p_.outputs)
    if (!o.reduces) bytes += horngate::size_of(o.dtype);
  return s_.size() * static_cast<int64_t>(bytes);
}

void MachineBuilder::choose_block(int64_t unit, int64_t limit) {
  for (const Value& v : values_)
    if (v.used && !v.uniform) slot_lane_ = std::max(slot_lane_, size_of(v.lane));
  const auto live = static_cast<int64_t>(live_values()), lane = static_cast<int64_t>(slot_lane_);
  int64_t block = kBlockWithoutRegisters;
  if (compiled_ ? live > 0 : live > 1 || p_.code.size() > 1) {
    const int64_t bytes = streamed_bytes() > kFromMemory ? kMaxMemoryBlockBytes : kMaxBlockBytes;
    block =
        std::clamp(kRegisterBudget / (std::max<int64_t>(live, 1) * lane), kMinBlock, bytes / lane);
    block = block / 64 * 64;
  }
  block = std::min(block, limit);
  // Whole periods, so that an input which repeats within the row is loaded only once.
  for (size_t i = 0; i < p_.inputs.size(); ++i)
    if (!s_.is_contiguous(i, inner_) && period_[i] <= block) unit = std::max(unit, period_[i]);
  block = std::max(block / unit, int64_t{1}) * unit;
  m_.block_ = std::max<int64_t>(std::min(block, m_.length_), 1);
}

// Hoisting pays only if the stage runs less often than the blocks do.
MachineBuilder::StageIndex MachineBuilder::settle(StageIndex stage, bool uniform) const {
  if (uniform) return stage;
  if (stage == kRow && m_.blocks_per_row() <= 1) stage = kBlock;
  if (stage == kOnce && m_.rows() * m_.blocks_per_row() <= 1) stage = kBlock;
  return stage;
}

void MachineBuilder::classify() {
  const size_t first_code = p_.value_of(0);
  for (size_t v = 0; v < first_code; ++v) {
    Value& value = values_[v];
    value.stage = kOnce;
    if (!is_input(static_cast<Reg>(v))) continue;
    if (compiled_ && is_walked(static_cast<Reg>(v))) {
      value.stage = kBlock;
      continue;
    }
    const bool repeats = value.uniform || (period_[v] <= m_.block_ && m_.block_ % period_[v] == 0);
    const StageIndex moving = s_.is_invariant(v, inner_) ? kOnce : kRow;
    value.stage = settle(repeats ? moving : kBlock, value.uniform);
  }
  for (size_t i = 0; i < p_.code.size(); ++i) {
    Value& value = values_[p_.value_of(i)];
    value.stage = kOnce;
    for (Reg r : {p_.code[i].a, p_.code[i].b, p_.code[i].c})
      if (r != kNone) value.stage = std::max(value.stage, values_[r].stage);
    value.stage = compiled_ && !value.uniform ? kBlock : settle(value.stage, value.uniform);
  }
}

// Outputs may share memory with inputs, so nothing may be written that a later step could still
// read.
bool MachineBuilder::input_read_after(size_t instruction) const {
  for (size_t i = instruction + 1; i < p_.code.size(); ++i)
    for (Reg r : {p_.code[i].a, p_.code[i].b, p_.code[i].c})
      if (r != kNone && is_direct(r) && values_[p_.value_of(i)].stage == kBlock) return true;
  return false;
}

void MachineBuilder::choose_direct_outputs() {
  for (size_t o = 0; o < p_.outputs.size(); ++o) {
    const Output& output = p_.outputs[o];
    if (output.reduces || output.value < p_.value_of(0) || !stored_as_lane(output.dtype)) continue;
    Value& value = values_[output.value];
    if (value.uniform || value.stage != kBlock || value.cell.bank != Bank::none) continue;
    if (!s_.is_contiguous(out_access(o), inner_)) continue;
    // Compiled code stores last.
    if (!compiled_ && input_read_after(output.value - p_.value_of(0))) continue;
    value.cell = {Bank::out, static_cast<uint16_t>(o)};
  }
}

void MachineBuilder::list_items() {
  const Kernels& k = m_.kernels();
  for (Reg r = 0; r < p_.inputs.size(); ++r) {
    const StageIndex stage = values_[r].stage;
    if (!values_[r].used) continue;
    if (values_[r].uniform && is_read_in_place(r)) {
      values_[r].cell = {Bank::in, r};
    } else if (values_[r].uniform) {
      values_[r].cell = {Bank::repeated, static_cast<uint16_t>(m_.repeated_++)};
    } else if (is_tiled(r) && m_.tiles_.size() < kMaxTiles) {
      values_[r].cell = {Bank::tile, static_cast<uint16_t>(m_.tiles_.size())};
      m_.tiles_.push_back({0, r, p_.inputs[r], s_.stride[r][inner_], s_.stride[r][inner_ - 1]});
    } else if (!s_.is_contiguous(r, inner_)) {
      loads_[stage].push_back(r);
    } else if (stored_as_lane(p_.inputs[r])) {
      values_[r].cell = {Bank::in, r};
    } else {
      // The buffer is a separate operand, which is converted into a register.
      Value buffer = values_[r];
      buffer.cell = {Bank::in, r};
      values_.push_back(buffer);
      items_[stage].push_back({k.load_of(p_.inputs[r]), r, static_cast<Reg>(values_.size() - 1)});
    }
  }
  for (size_t i = 0; i < p_.code.size(); ++i) {
    const Instr& instr = p_.code[i];
    const Kernel kernel =
        instr.op == Op::cast ? k.cast_of(instr.lane, instr.out) : k.of(instr.op, instr.lane);
    invariant(kernel != nullptr, "a fused instruction has no kernel");
    Value& value = values_[p_.value_of(i)];
    if (value.uniform) value.cell = {Bank::repeated, static_cast<uint16_t>(m_.repeated_++)};
    items_[value.stage].push_back({kernel, p_.value_of(i), instr.a, instr.b, instr.c, &instr});
  }
  for (size_t i = 0; i < p_.constants.size(); ++i)
    values_[p_.inputs.size() + i].cell = {Bank::constant, static_cast<uint16_t>(i)};
}

/// A separate register for a value that is uniform or still in an input's memory.
Reg MachineBuilder::copy_of(Reg v) {
  Value copy;
  copy.lane = values_[v].lane;
  values_.push_back(copy);
  const Reg r = static_cast<Reg>(values_.size() - 1);
  const Item item = {m_.kernels().of(Op::copy, copy.lane), r, v};
  // Inputs first, before anything is overwritten.
  if (is_direct(v))
    items_[kBlock].insert(items_[kBlock].begin(), item);
  else
    items_[kBlock].push_back(item);
  slot_lane_ = std::max(slot_lane_, size_of(copy.lane));
  return r;
}

void MachineBuilder::list_outputs() {
  const bool plain =
      std::any_of(p_.outputs.begin(), p_.outputs.end(), [](const Output& o) { return !o.reduces; });
  std::vector<std::pair<size_t, Reg>> stores;
  for (size_t o = 0; o < p_.outputs.size(); ++o) {
    const Output& output = p_.outputs[o];
    Reg v = output.value;
    const bool only = p_.outputs.size() == 1;
    if (output.reduces) {
      if (values_[v].uniform || (plain && is_direct(v))) v = copy_of(v);
      fold_value_.push_back(v);
      continue;
    }
    fold_value_.push_back(kNone);
    if (values_[v].cell.bank == Bank::out && values_[v].cell.index == o) continue;
    if (!only && is_direct(v)) v = copy_of(v);
    if (s_.is_contiguous(out_access(o), inner_)) {
      stores.emplace_back(o, v);
    } else {
      if (values_[v].uniform) v = copy_of(v);
      scatters_.emplace_back(o, v);
    }
  }
  for (const auto& [o, v] : stores)
    items_[kBlock].push_back(
        {m_.kernels().store_of(p_.outputs[o].dtype), -1 - static_cast<int>(o), v});
}

void MachineBuilder::estimate_cost() {
  for (size_t i = 0; i < p_.code.size(); ++i)
    if (values_[p_.value_of(i)].stage == kBlock) m_.cost_ += cost_of(p_.code[i].op);
  m_.cost_ += 4 * static_cast<int>(loads_[kBlock].size() + scatters_.size());
}

void MachineBuilder::mark_last_uses() {
  for (int stage = kOnce; stage <= kBlock; ++stage)
    for (size_t i = 0; i < items_[stage].size(); ++i)
      for (Reg r : {items_[stage][i].a, items_[stage][i].b, items_[stage][i].c})
        if (r != kNone) {
          values_[r].last_stage = stage;
          values_[r].last_item = i;
        }
  const auto until_end = [this](Reg v) {
    values_[v].last_stage = kBlock;
    values_[v].last_item = SIZE_MAX;
  };
  for (Reg v : fold_value_)
    if (v != kNone) until_end(v);
  for (const auto& scatter : scatters_) until_end(scatter.second);
}

}  // namespace horngate::native::fused
