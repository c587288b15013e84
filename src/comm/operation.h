// What ranks do together, on arrays in host memory.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "comm/reduce.h"
#include "horngate/dtype.h"
#include "horngate/ranks.h"

namespace horngate::comm {

enum class Kind { all_reduce, reduce_scatter, all_gather, all_to_all, broadcast, barrier };
inline constexpr int kKinds = 6;

/// ordered: by the tree of reduce.h; automatic: that for up to so many ranks.
using distributed::Order;
inline constexpr int kMostOrdered = 64;

/// One operation; every rank starts it with the same kind, dtype, count, reduction, order and root. With n ranks,
///   all_reduce      in: count, out: count
///   reduce_scatter  in: n * count, out: count, the sum of the ranks' parts for this one
///   all_gather      in: count, out: n * count
///   all_to_all      in and out: n * count; part r goes to rank r
///   broadcast       out: count; only root's is read
/// `in` and `out` are the same or do not overlap; in all_gather `in` may be this rank's place in `out`.
struct Operation {
  Kind kind = Kind::barrier;
  const void* in = nullptr;
  void* out = nullptr;
  size_t count = 0;
  DType dtype = DType::float32;
  Reduction reduction = Reduction::sum;
  Order order = Order::automatic;
  int root = 0;
  /// Keeps the memory alive while a library may still touch it, which after a fault can be longer than the operation.
  /// Without it the memory must outlive the communicator.
  std::shared_ptr<const void> keep = {};
  /// What the user calls it, and what it is to the user, for messages; ranks that differ in them do different things.
  std::string name = {}, form = {};
};

const char* name_of(Kind kind);
const char* name_of(Reduction reduction);

/// "all_reduce float32 x 1000, sum, "loss"": equal texts are operations that fit together.
std::string signature_of(const Operation& op);

}  // namespace horngate::comm
