// Group: a program over an iteration space, ready to run. MultiGroup: one program over many spaces.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engines/native/fused/geometry.h"
#include "engines/native/fused/program.h"
#include "horngate/small_vec.h"

namespace horngate::native::fused {

class Schedule;
class PlainSchedule;
class Group;

/// What the groups of one graph share: equal ones run the same schedule. Layers repeat, and chains of a million
/// operations are a few programs over and over.
class GroupCache {
 public:
  GroupCache();
  ~GroupCache();

 private:
  friend class Group;
  friend class MultiGroup;
  struct Key;
  struct KeyHash;
  struct Table;
  std::unique_ptr<Table> table_;
};

/// Immutable; several threads may call run at once, each with its own scratch. An output may share memory with an
/// input that has the same element size, the same access and the full extent.
class Group {
 public:
  /// One Access per input and output of the program. Plain outputs span the full extent; the access
  /// of a reduce output has stride 0 on the reduced axes.
  static std::unique_ptr<Group> make(Program program, Ints extent, std::vector<Access> in,
                                     std::vector<Access> out, std::vector<bool> reduced_axes = {},
                                     GroupCache* cache = nullptr);
  ~Group();

  /// Never allocates, never fails. The result does not depend on the number of threads.
  void run(const void* const* in, void* const* out, void* scratch) const;
  size_t scratch_bytes() const;

 private:
  Group() = default;
  std::shared_ptr<const Schedule> schedule_;  // null if there is nothing to do
};

/// The same program, without reductions, for many sets of arrays in one parallel loop: an optimizer's update of all
/// parameters.
class MultiGroup {
 public:
  struct Set {
    Ints extent;
    std::vector<Access> in, out;
  };
  static std::unique_ptr<MultiGroup> make(const Program& program, const std::vector<Set>& sets);
  ~MultiGroup();

  /// The pointers of the first set, then of the second, ...
  void run(const void* const* in, void* const* out) const;

 private:
  MultiGroup() = default;
  size_t inputs_ = 0, outputs_ = 0;
  int64_t grain_ = 1;
  std::vector<size_t> index_;  // which sets are not empty
  std::vector<std::shared_ptr<const PlainSchedule>> schedules_;
  std::vector<int64_t> first_block_;  // per schedule, then the total
};

}  // namespace horngate::native::fused
