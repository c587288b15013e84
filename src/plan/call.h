// The values of one call of a function.
#pragma once

#include <deque>

#include "engines/own_memory.h"
#include "plan/function_impl.h"
#include "plan/host.h"

namespace horngate {

struct FunctionImpl::Call {
  const FunctionImpl* running = nullptr;  // whose call it is, while one runs
  Key key;
  std::vector<Array> feeds;
  std::vector<Storage> variables;  // snapshot; keeps old values alive while we read them
  std::deque<hg_sparse> sparse;    // sparse inputs and results; pointers into it stay valid
  std::vector<std::shared_ptr<void>> owned;  // by slot: memory that engines gave
  std::vector<std::array<uint64_t, 2>> draws;
  std::vector<void*> inputs;          // data of the program's inputs
  std::vector<uint64_t> stamps;       // of variables among them: versions
  std::vector<void*> data;            // data of the slots of the current plan
  std::vector<Array> outputs;         // of the last plan
  std::vector<Array> new_values;      // of updates that are adopted
  std::vector<Array> crossing, kept;  // handed from one plan to the next
  std::vector<TensorType> types;      // of the inputs, which grow by what crosses
  InputInts ints;                     // known integers among them
  Storage temporaries;
  Host host;
  std::vector<hg_buffer> buffers;  // of a run: inputs, then outputs
  std::vector<hg_buffer*> list;    // pointers to them

  /// The engine if it has memory of its own, and what is there, by input and by slot.
  const Engine* own = nullptr;
  std::vector<std::shared_ptr<OwnMemory>> own_inputs, own_data;
  const FunctionGraph* program = nullptr;
  std::vector<Array> brought;  // what native needed from there

  /// The pointer that engines get for an array.
  void* pointer_of(const Array& a);
  void set_input(size_t i, const Array& a);
  /// Uses the variable's value, or the engine's copy of it.
  void set_input(size_t i, const VariableState& v);
  /// A sparse value of the plan, over the memory its engine gave; a copy if it is an input.
  Array sparse_array(const Plan& plan, SlotId s) const;
  static bool is_given(const Plan& plan, SlotId s) { return !plan.given.empty() && plan.given[s]; }
  static bool is_own(const Plan& plan, SlotId s) {
    return !plan.own.empty() && plan.own[s] && plan.buffers[s].bytes > 0;
  }
  bool is_made(SlotId s) const { return data[s] || (own && own_data[s]); }
  /// Where the engine can read the slot's value: in its own memory, or here.
  void* pointer_for(const Engine& engine, const Plan& plan, SlotId s);
  void* own_pointer(const Plan& plan, SlotId s);
  /// Makes room for a run's buffers; returns where the list of its outputs begins.
  hg_buffer* const* begin_run(size_t n_in, size_t n_out);
  void set_in(size_t i, const Engine& engine, const Plan& plan, SlotId s) {
    hg_buffer& b = buffers[i] = plan.buffers[s];
    b.data = own ? pointer_for(engine, plan, s) : data[s];
    if (s < stamps.size()) b.stamp = stamps[s];
  }
  /// A value over the memory its engine gave.
  Array given_array(const Plan& plan, SlotId s) const;
  /// Memory for what the plan makes: arrays for results, one block for the rest.
  void allocate(const Plan& plan, bool last);
  /// After the run: fetches sparse results and those in an engine's memory.
  void finish(const Plan& plan, bool last);
  /// A new value that is also an output gets memory of its own: the caller may write into the output.
  void copy_shared_results(const Plan& plan);
  /// Where the commit writes the new value of a variable: in place, or into new_values.
  void* place_of_update(size_t update, const VariableState& v);
  void run(const Plan& plan);
  /// Ends the call: releases everything, but the vectors keep their capacity for the next one.
  void clear();
};

}  // namespace horngate
