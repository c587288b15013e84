// The values of one call of a function.
#pragma once

#include <deque>

#include "plan/function_impl.h"
#include "plan/host.h"

namespace horngate {

struct FunctionImpl::Call {
  bool running = false;
  Key key;
  std::vector<Array> feeds;
  std::vector<Storage> variables;  // snapshot; keeps old values alive while we read them
  std::deque<hg_sparse> sparse;    // sparse inputs and what the plan makes; pointers into it stay
  std::vector<std::shared_ptr<void>> owned;  // by slot: memory that engines gave
  std::vector<std::array<uint64_t, 2>> draws;
  std::vector<void*> inputs;          // data of the program's inputs
  std::vector<uint64_t> stamps;       // of variables among them: versions
  std::vector<void*> data;            // of the slots of the current plan
  std::vector<Array> outputs;         // of the last plan
  std::vector<Array> new_values;      // of updates that are adopted
  std::vector<Array> crossing, kept;  // handed from a plan to the next
  std::vector<TensorType> types;      // of the inputs, once they grow by what crosses
  InputInts ints;                     // known integers among them
  Storage temporaries;
  Host host;
  std::vector<hg_buffer> in, out;

  /// What engines get for an array.
  void* pointer_of(const Array& a);
  /// A sparse value of the plan, over the memory that its engine gave; a copy when it is an input.
  Array sparse_array(const Plan& plan, SlotId s) const;
  static bool is_given(const Plan& plan, SlotId s) { return !plan.given.empty() && plan.given[s]; }
  /// A value over the memory that its engine gave.
  Array given_array(const Plan& plan, SlotId s) const;
  /// Memory for what the plan makes: arrays for results, one block for the rest.
  void allocate(const Plan& plan, bool last);
  /// Sparse results, and those in an engine's memory, are there once the plan has run.
  void finish(const Plan& plan, bool last);
  /// A new value that is an output too gets memory of its own: the caller may write into what it was given.
  void copy_shared_results(const Plan& plan);
  void run(const Plan& plan);
  /// Ends the call: nothing is held any more, but the vectors keep their memory for the next one.
  void clear();
};

}  // namespace horngate
