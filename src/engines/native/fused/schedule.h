// Schedule: the order in which, and the threads on which, a machine goes over its space.
#pragma once

#include <cstddef>
#include <memory>

#include "engines/native/fused/geometry.h"
#include "engines/native/fused/machine.h"
#include "engines/native/fused/program.h"

namespace horngate::native::fused {

/// Work worth handing to another thread, in units of Machine::cost().
inline constexpr int64_t kWorthAThread = 1 << 16;
/// Rows shorter than this are joined with the next axis.
inline constexpr int64_t kShortRow = 256;

class Schedule {
 public:
  virtual ~Schedule() = default;
  virtual void run(const void* const* in, void* const* out, void* scratch) const = 0;
  virtual size_t scratch_bytes() const { return 0; }
};

/// Every element once, in memory order.
class PlainSchedule final : public Schedule {
 public:
  PlainSchedule(const Program& program, Space space);
  void run(const void* const* in, void* const* out, void* scratch) const override;

  /// The work is cut into blocks; MultiGroup shares the blocks of many schedules among threads.
  int64_t blocks() const { return machine_->rows() * machine_->blocks_per_row(); }
  int64_t block_cost() const { return machine_->block() * machine_->cost(); }
  void run_blocks(int64_t begin, int64_t end, const void* const* in, void* const* out) const;

 private:
  bool columns_first_ = false;
  std::unique_ptr<Machine> machine_;
};

/// The schedule for a program with reduce outputs.
std::unique_ptr<Schedule> make_reduction(const Program& program, Space space);

}  // namespace horngate::native::fused
