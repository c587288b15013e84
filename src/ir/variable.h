// What a variable node points to (its value, version and locks), and the counter of a random node.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "horngate/array.h"
#include "horngate/tensor.h"
#include "ir/fork.h"
#include "ir/ref.h"
#include "ir/type.h"

namespace horngate {

/// Locks are taken in id order. A call that updates the variable holds `writer` throughout; `guard` is held only for
/// a snapshot (shared) or a commit (exclusive, inside a ForkHold, so that a child sees all of it or nothing).
struct VariableState : Counted {
  VariableState(TensorType t, Array v);
  const uint64_t id;
  const TensorType type;
  std::string name;
  std::function<Tensor(const Tensor&)> constraint;  // set once, before anybody else sees it
  Array value;  // contiguous, or sparse and then never changed; guarded by `guard`
  uint64_t version =
      next_version();  // of the value, no two alike in the process; guarded by `guard`
  static uint64_t next_version();
  /// Call after each change of the value.
  void is_new() {
    version = next_version();
    in_engine = nullptr;
  }
  /// The copy of the value that an engine keeps, and its version; guarded by `guard`.
  std::shared_ptr<EngineMemory> in_engine;
  uint64_t in_engine_version = 0;
  ForkMutex writer;
  ForkSharedMutex guard;
};

/// The value for a variable, in its dtype: the array itself where nobody else holds its memory, else a copy, since
/// updates write into it.
Array owned(Array&& value, DType dtype);

/// What is behind a tensor that variable() made; the TypeError for others begins with the function's name.
VariableState& variable_state(const Tensor& t, std::string_view function);

/// Number of the next call that draws from a random node.
struct DrawState : Counted {
  std::atomic<uint64_t> next{0};
};

}  // namespace horngate
