// MachineBuilder, third part: the block stage as machine code.
#include <optional>
#include <string_view>
#include <utility>

#include "engines/native/fused/machine_build.h"
#include "engines/native/fused/simd.h"
#include "engines/native/jit/lower.h"
#include "ir/switches.h"

namespace horngate::native::fused {
namespace {

/// Less work than this is done sooner than it is compiled.
constexpr int64_t kWorthCompiling = 128;

std::optional<jit::Isa> compiled_isa() {
  const std::string_view target = simd_target();
  if (!is_on(Pass::jit)) return std::nullopt;
  if (target == "avx512") return jit::Isa::avx512;
  if (target == "avx2") return jit::Isa::avx2;
  return std::nullopt;
}

}  // namespace

// All instructions of the block stage must have a compiled form, in lanes of one width. A single
// instruction on lanes as they are stored has nothing to gain.
bool MachineBuilder::can_compile() {
  const std::optional<jit::Isa> isa = compiled_isa();
  if (!isa || s_.size() < kWorthCompiling) return false;
  bool converts = false;
  size_t count = 0;
  int width = 0;
  const auto fits = [&width](Lane lane) {
    if (lane == Lane::b8) return true;
    const int w = jit::width_of(lane);
    if (width == 0) width = w;
    return w != 0 && w == width;
  };
  for (size_t k = 0; k < p_.code.size(); ++k) {
    const Instr& i = p_.code[k];
    if (values_[p_.value_of(k)].uniform) continue;
    if (!jit::can_lower(i) || !fits(i.lane) || !fits(i.out)) return false;
    ++count;
  }
  for (size_t i = 0; i < p_.inputs.size(); ++i) {
    if (!values_[i].used || values_[i].uniform) continue;
    if (!fits(values_[i].lane) || !jit::can_load(p_.inputs[i])) return false;
    converts = converts || !stored_as_lane(p_.inputs[i]);
  }
  for (const Output& o : p_.outputs) {
    if (!fits(values_[o.value].lane)) return false;
    // Registers of reductions and scattered outputs hold lanes.
    if (!jit::can_store(o.dtype, *isa, width)) return false;
    converts = converts || !stored_as_lane(o.dtype);
  }
  lane_bytes_ = width;
  return width != 0 && count + (converts ? 1 : 0) > 1;
}

bool MachineBuilder::compile_block() {
  const jit::Isa isa = *compiled_isa();
  jit::Recording recording(isa, lane_bytes_);
  std::vector<jit::Id> ids(values_.size(), jit::kNoId);
  const auto id_of = [&](Reg r) {
    if (r == kNone) return jit::kNoId;
    jit::Id& id = ids[r];
    if (id != jit::kNoId) return id;
    const Value& v = values_[r];
    const uint16_t where = operand(v.cell);
    switch (v.cell.bank) {
      case Bank::constant:
        return id = jit::lower_constant(recording, v.lane, p_.constants[v.cell.index].bits);
      case Bank::repeated: return id = jit::lower_uniform(recording, v.lane, where, true);
      case Bank::in:
        if (v.uniform) return id = jit::lower_uniform(recording, v.lane, where, false);
        return id = jit::lower_load(recording, p_.inputs[v.cell.index], where);
      default: return id = jit::lower_load(recording, dtype_of(v.lane), where);
    }
  };
  std::vector<std::pair<int, Reg>> stores;
  for (const Item& item : items_[kBlock]) {
    const jit::Id a = id_of(item.a), b = id_of(item.b), c = id_of(item.c);
    if (item.dst < 0)
      stores.emplace_back(-1 - item.dst, item.a);
    else
      ids[static_cast<size_t>(item.dst)] =
          item.instr ? jit::lower(recording, *item.instr, a, b, c) : a;
  }
  // Last, because outputs may share memory with inputs.
  for (const Item& item : items_[kBlock]) {
    if (item.dst < 0) continue;
    const Value& v = values_[static_cast<size_t>(item.dst)];
    if (v.cell.bank == Bank::none) continue;
    const DType dtype =
        v.cell.bank == Bank::out ? p_.outputs[v.cell.index].dtype : dtype_of(v.lane);
    jit::lower_store(recording, dtype, operand(v.cell), ids[static_cast<size_t>(item.dst)]);
  }
  for (const auto& [o, v] : stores)
    jit::lower_store(recording, p_.outputs[static_cast<size_t>(o)].dtype,
                     operand({Bank::out, static_cast<uint16_t>(o)}), ids[v]);
  m_.block_code_ = jit::compile(recording);
  return m_.block_code_ != nullptr;
}

}  // namespace horngate::native::fused
