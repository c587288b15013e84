// OwnMemory: memory from an engine with HG_CAP_OWN_MEMORY.
#pragma once

#include <memory>

#include "engines/registry.h"
#include "ir/engine_memory.h"

namespace horngate {

class OwnMemory final : public EngineMemory {
 public:
  /// Allocates uninitialised memory; bytes > 0.
  OwnMemory(const Engine& engine, size_t bytes);
  /// Takes over what an engine supplied for an output.
  OwnMemory(const Engine& engine, const hg_buffer& given);
  ~OwnMemory() override;
  const Engine& engine() const { return engine_; }
  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  void copy_out(void* to) const override;
  void copy_in(const void* from);
  /// A copy in memory of the same engine.
  std::shared_ptr<OwnMemory> copy() const;

 private:
  const Engine& engine_;
  const size_t bytes_;
  void* data_ = nullptr;
  void* owner_ = nullptr;
  void (*release_)(void* owner) = nullptr;
};

/// The array's memory in that engine, or null if it is not there.
std::shared_ptr<OwnMemory> own_memory_of(const Array& array, const Engine& engine);

}  // namespace horngate
