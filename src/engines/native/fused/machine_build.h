// MachineBuilder: decides where each value of a program lives and when it is computed.
#pragma once

#include <vector>

#include "engines/native/fused/machine.h"

namespace horngate::native::fused {

class MachineBuilder {
 public:
  MachineBuilder(const Program& program, const Space& space, size_t inner, bool by_columns,
                 bool may_compile, Machine& machine)
      : p_(program),
        s_(space),
        inner_(inner),
        by_columns_(by_columns),
        may_compile_(may_compile),
        m_(machine) {}
  /// False if the code was to be compiled but cannot be; then the machine is of no use.
  bool build(int64_t unit, int64_t limit);

 private:
  /// once: the same in all rows; row: in all blocks of a row.
  enum StageIndex : uint8_t { kOnce, kRow, kBlock };
  /// In which of the machine's memories a value lies, and where.
  enum class Bank : uint8_t { none, slot, repeated, constant, tile, in, out };
  struct Cell {
    Bank bank = Bank::none;
    uint16_t index = 0;
  };
  struct Value {
    Lane lane = Lane::f32;
    StageIndex stage = kBlock;
    bool uniform = false;  // one value per row, kept repeated
    bool used = false;
    Cell cell;
    int last_stage = -1;  // of its last use
    size_t last_item = 0;
  };
  /// A step before its cells are known. dst < 0: output -1 - dst.
  struct Item {
    Kernel kernel;
    int dst;
    Reg a = kNone, b = kNone, c = kNone;
    const Instr* instr = nullptr;  // null: copies, loads or stores
  };

  size_t out_access(size_t output) const { return p_.inputs.size() + output; }
  bool is_direct(Reg v) const;
  bool is_walked(Reg v) const;
  bool is_read_in_place(Reg v) const;
  bool is_input(Reg v) const { return v < p_.inputs.size(); }
  bool is_tiled(Reg v) const;

  void find_uses();
  void choose_block(int64_t unit, int64_t limit);
  size_t live_values() const;
  int64_t streamed_bytes() const;
  void classify();
  StageIndex settle(StageIndex stage, bool uniform) const;
  void choose_direct_outputs();
  bool input_read_after(size_t instruction) const;
  void list_items();
  void list_outputs();
  Reg copy_of(Reg v);
  void mark_last_uses();
  void place_values();
  void place_item(StageIndex stage, size_t index);
  uint16_t take_slot();
  void release(Reg v, StageIndex stage, size_t item);
  uint16_t operand(Cell cell) const;
  Machine::Step step_of(const Item& item) const;
  bool can_compile();
  bool compile_block();
  void emit();
  void lay_out_memory();
  void estimate_cost();

  const Program& p_;
  const Space& s_;
  const size_t inner_;
  const bool by_columns_, may_compile_;
  Machine& m_;
  std::vector<Value> values_;    // of the program, then copies
  std::vector<int64_t> period_;  // per input: the number of elements after which it repeats
  std::vector<Item> items_[3];
  std::vector<Reg> loads_[3];  // strided loads
  std::vector<Reg> fold_value_;
  std::vector<std::pair<size_t, Reg>> scatters_;  // output and value
  std::vector<uint16_t> free_slots_;
  size_t slot_lane_ = 1;
  int lane_bytes_ = 0;     // of compiled code
  bool compiled_ = false;  // the block stage is machine code, which has no registers in memory
};

}  // namespace horngate::native::fused
