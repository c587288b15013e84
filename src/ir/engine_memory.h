// EngineMemory: a piece of memory that only an engine can read, as arrays hold it.
#pragma once

#include <cstddef>

namespace horngate {

class EngineMemory {
 public:
  virtual ~EngineMemory() = default;
  EngineMemory(const EngineMemory&) = delete;
  EngineMemory& operator=(const EngineMemory&) = delete;
  /// All of it, once what was asked of the engine before is done. Throws what the engine says.
  virtual void copy_out(void* to) const = 0;

 protected:
  EngineMemory() = default;
};

}  // namespace horngate
