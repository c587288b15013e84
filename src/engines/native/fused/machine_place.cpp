// MachineBuilder, second part: registers by last use, then the steps themselves.
#include <algorithm>

#include "engines/native/fused/machine_build.h"

namespace horngate::native::fused {

uint16_t MachineBuilder::take_slot() {
  if (free_slots_.empty()) return static_cast<uint16_t>(m_.registers_++);
  const uint16_t slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

// A value that a later stage reads keeps its slot: its own stage will not run again in between.
void MachineBuilder::release(Reg v, StageIndex stage, size_t item) {
  if (v == kNone) return;
  Value& value = values_[v];
  if (value.cell.bank != Bank::slot || value.stage != stage) return;
  if (compiled_ && stage == kBlock) return;  // all steps run in each iteration
  if (value.last_stage != stage || value.last_item != item) return;
  free_slots_.push_back(value.cell.index);
  value.last_item = SIZE_MAX;  // only once, even if it is two operands
}

void MachineBuilder::place_item(StageIndex stage, size_t index) {
  const Item& item = items_[stage][index];
  const Reg operands[3] = {item.a, item.b, item.c};
  if (item.dst >= 0 && values_[static_cast<size_t>(item.dst)].cell.bank == Bank::none) {
    Value& dst = values_[static_cast<size_t>(item.dst)];
    const bool kept = dst.last_stage == kBlock && dst.last_item == SIZE_MAX;
    if (compiled_ && stage == kBlock && !kept) return;  // lives in a vector register
  }
  if (item.dst >= 0 && values_[static_cast<size_t>(item.dst)].cell.bank == Bank::none) {
    Value& dst = values_[static_cast<size_t>(item.dst)];
    // The result may take the place of an operand of the same width.
    for (Reg r : operands)
      if (r != kNone && size_of(values_[r].lane) == size_of(dst.lane)) release(r, stage, index);
    dst.cell = {Bank::slot, take_slot()};
    dst.stage = stage;
    if (dst.last_stage < 0) release(static_cast<Reg>(item.dst), stage, index);
  }
  for (Reg r : operands) release(r, stage, index);
}

void MachineBuilder::place_values() {
  for (const StageIndex stage : {kOnce, kRow, kBlock}) {
    for (Reg r : loads_[stage]) values_[r].cell = {Bank::slot, take_slot()};
    for (size_t i = 0; i < items_[stage].size(); ++i) place_item(stage, i);
  }
}

uint16_t MachineBuilder::operand(Cell cell) const {
  size_t base = 0;
  switch (cell.bank) {
    case Bank::none: return 0;
    case Bank::slot: break;
    case Bank::repeated: base = m_.registers_; break;
    case Bank::constant: base = m_.registers_ + m_.repeated_; break;
    case Bank::tile: base = m_.registers_ + m_.repeated_ + p_.constants.size(); break;
    case Bank::in:
      base = m_.registers_ + m_.repeated_ + p_.constants.size() + m_.tiles_.size();
      break;
    case Bank::out:
      base =
          m_.registers_ + m_.repeated_ + p_.constants.size() + m_.tiles_.size() + p_.inputs.size();
      break;
  }
  return static_cast<uint16_t>(base + cell.index);
}

Machine::Step MachineBuilder::step_of(const Item& item) const {
  Machine::Step step = {};
  step.kernel = item.kernel;
  const Reg operands[3] = {item.a, item.b, item.c};
  uint16_t* fields[3] = {&step.a, &step.b, &step.c};
  constexpr unsigned kScalars[3] = {kScalarA, kScalarB, kScalarC};
  bool padded = true;
  for (int i = 0; i < 3; ++i) {
    if (operands[i] == kNone) continue;
    const Value& v = values_[operands[i]];
    *fields[i] = operand(v.cell);
    if (v.cell.bank == Bank::repeated || v.cell.bank == Bank::constant)
      step.flags |= kScalars[i];
    else
      padded = padded && (v.cell.bank == Bank::slot || v.cell.bank == Bank::tile);
  }
  if (padded) step.flags |= kPaddedIn;
  if (item.dst < 0) {
    step.dst = operand({Bank::out, static_cast<uint16_t>(-1 - item.dst)});
    return step;
  }
  const Value& dst = values_[static_cast<size_t>(item.dst)];
  step.dst = operand(dst.cell);
  if (dst.cell.bank != Bank::out) step.flags |= kPaddedOut;
  if (dst.cell.bank == Bank::repeated) step.count = static_cast<uint32_t>(64 / size_of(dst.lane));
  return step;
}

void MachineBuilder::emit() {
  Machine::Stage* stages[3] = {&m_.once_, &m_.row_, &m_.block_stage_};
  std::vector<bool> read(p_.inputs.size(), false), written(p_.outputs.size(), false);
  for (int stage = kOnce; stage <= kBlock; ++stage) {
    for (const Item& item : items_[stage]) {
      if (!compiled_ || stage != kBlock) stages[stage]->steps.push_back(step_of(item));
      for (Reg r : {item.a, item.b, item.c})
        if (r != kNone && values_[r].cell.bank == Bank::in) read[values_[r].cell.index] = true;
      if (item.dst < 0)
        written[static_cast<size_t>(-1 - item.dst)] = true;
      else if (const Cell at = values_[static_cast<size_t>(item.dst)].cell; at.bank == Bank::out)
        written[at.index] = true;
    }
    for (Reg r : loads_[stage])
      stages[stage]->loads.push_back({operand(values_[r].cell), r,
                                      static_cast<uint32_t>(horngate::size_of(p_.inputs[r])),
                                      Strided(s_, r, inner_, p_.inputs[r], m_.kernels())});
  }
  for (size_t i = 0; i < p_.inputs.size(); ++i)
    if (values_[i].used && values_[i].cell.bank == Bank::repeated)
      stages[values_[i].stage]->repeated.push_back(
          {operand(values_[i].cell), static_cast<uint16_t>(i), p_.inputs[i]});
  for (Reg v : fold_value_) {
    if (v != kNone && values_[v].cell.bank == Bank::in) read[values_[v].cell.index] = true;
    m_.fold_operand_.push_back(v == kNone ? uint16_t{0} : operand(values_[v].cell));
  }
  for (const auto& [o, v] : scatters_) {
    const DType dtype = p_.outputs[o].dtype;
    if (values_[v].cell.bank == Bank::in) read[values_[v].cell.index] = true;
    m_.block_stage_.stores.push_back({operand(values_[v].cell), static_cast<uint16_t>(o),
                                      static_cast<uint32_t>(horngate::size_of(dtype)),
                                      Strided(s_, out_access(o), inner_, dtype, m_.kernels())});
  }
  for (uint16_t i = 0; i < read.size(); ++i) {
    const auto size = static_cast<uint32_t>(horngate::size_of(p_.inputs[i]));
    if (read[i])
      m_.direct_in_.push_back({operand({Bank::in, i}), i, size, values_[i].uniform ? 0 : size});
  }
  for (uint16_t o = 0; o < written.size(); ++o) {
    const auto size = static_cast<uint32_t>(horngate::size_of(p_.outputs[o].dtype));
    if (written[o]) m_.direct_out_.push_back({operand({Bank::out, o}), o, size, size});
  }
  lay_out_memory();
}

void MachineBuilder::lay_out_memory() {
  // One cache line more than needed: slots at multiples of 4096 bytes would compete for the same
  // cache sets.
  const int64_t elements = (m_.block_ + 63) / 64 * 64;
  m_.register_bytes_ = static_cast<size_t>(elements) * slot_lane_ + 64;
  m_.register_bytes_ = (m_.register_bytes_ + 63) / 64 * 64;
  m_.operands_ = operand({Bank::out, 0}) + p_.outputs.size();
  for (uint16_t i = 0; i < m_.tiles_.size(); ++i) m_.tiles_[i].operand = operand({Bank::tile, i});
  m_.pointer_bytes_ = m_.operands_ * sizeof(void*) + m_.base_offset_.size() * sizeof(int64_t);
  const size_t slots = m_.registers_ + m_.tiles_.size() * Machine::kTileRows;
  m_.memory_bytes_ = slots * m_.register_bytes_ + m_.repeated_ * 64 + m_.pointer_bytes_;
  m_.constant_count_ = p_.constants.size();
  m_.constant_bytes_.resize((m_.constant_count_ + 1) * 64);
  const auto address = reinterpret_cast<uintptr_t>(m_.constant_bytes_.data());
  m_.constants_ = m_.constant_bytes_.data() + (64 - address % 64) % 64;
  for (size_t i = 0; i < m_.constant_count_; ++i)
    repeat(p_.constants[i].lane, m_.constants_ + i * 64, p_.constants[i].bits);
}

}  // namespace horngate::native::fused
