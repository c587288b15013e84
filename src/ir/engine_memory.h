// EngineMemory: memory that only an engine can read, held by arrays.
#pragma once

#include <cstddef>

namespace horngate {

class EngineMemory {
 public:
  virtual ~EngineMemory() = default;
  EngineMemory(const EngineMemory&) = delete;
  EngineMemory& operator=(const EngineMemory&) = delete;
  /// Copies all of it, once the engine has finished earlier work. Throws what the engine reports.
  virtual void copy_out(void* to) const = 0;

 protected:
  EngineMemory() = default;
};

}  // namespace horngate
