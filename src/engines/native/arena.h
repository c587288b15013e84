// Arenas: the memory of a running plan. Leased for one run and returned warm, so that cached plans cost no
// memory and the steady state has no page faults.
#pragma once

#include <cstddef>

namespace horngate::native {

class ArenaLease {
 public:
  explicit ArenaLease(size_t bytes);  // throws RuntimeError if there is no memory
  ~ArenaLease();
  ArenaLease(const ArenaLease&) = delete;
  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  size_t capacity_ = 0;
};

/// Returns idle arenas to the system.
void release_arenas();
/// Bytes held, leased and idle; for tests.
size_t arena_bytes_held();

}  // namespace horngate::native
