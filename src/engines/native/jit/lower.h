// From the instructions of a fused program to micro code.
#pragma once

#include "engines/native/fused/program.h"
#include "engines/native/jit/micro.h"

namespace horngate::native::jit {

/// Bytes of a lane in registers; 0 if the JIT has no such lane. Bools are masks and fit any width.
int width_of(fused::Lane lane);
bool can_lower(const fused::Instr& instr);
bool can_load(DType dtype);
bool can_store(DType dtype, Isa isa, int width);

/// Values are ids in the recording; those of bool lanes are masks.
Id lower_constant(Recording& r, fused::Lane lane, uint64_t bits);
Id lower_load(Recording& r, DType dtype, uint16_t operand);
/// One value for all elements, in the lane's layout. `repeated`: it fills 64 bytes.
Id lower_uniform(Recording& r, fused::Lane lane, uint16_t operand, bool repeated);
Id lower(Recording& r, const fused::Instr& instr, Id a, Id b, Id c);
void lower_store(Recording& r, DType dtype, uint16_t operand, Id value);

}  // namespace horngate::native::jit
