// Arenas: the memory of a running plan. Leased for one run and given back warm, so that cached plans cost no
// memory and steady state has no page fault.
#pragma once

#include <cstddef>

namespace horngate::native {

class ArenaLease {
 public:
  explicit ArenaLease(size_t bytes);  // throws RuntimeError when memory is out
  ~ArenaLease();
  ArenaLease(const ArenaLease&) = delete;
  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  size_t capacity_ = 0;
};

/// Gives idle arenas back to the system.
void release_arenas();
/// Bytes held, leased and idle; for tests.
size_t arena_bytes_held();

}  // namespace horngate::native
