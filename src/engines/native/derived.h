// What an executable derives from inputs that seldom change (packed weights, folded statistics), kept until a
// stamp changes.
#pragma once

#include "engines/native/engine.h"
#include "engines/native/executable.h"
#include "ir/fork.h"

namespace horngate::native {

class Derived {
 public:
  using Bytes = std::shared_ptr<const std::byte>;
  Derived() = default;
  ~Derived();

  /// The derived values for these inputs. `stamps`, one per input: equal ones mean equal contents, 0 means
  /// nothing.
  Bytes get(Executable& exe, const void* const* in, const uint64_t* stamps, std::byte* arena,
            RunContext& context);

 private:
  bool is_for(const Executable& exe, const uint64_t* stamps) const;

  LeafMutex mutex_;
  std::vector<uint64_t> stamps_;  // of the stable inputs
  Bytes bytes_;
};

}  // namespace horngate::native
