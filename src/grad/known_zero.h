// Which tensors are zero whatever is fed: from the graph alone.
#pragma once

#include <unordered_map>

#include "ir/node.h"

namespace horngate {

/// Answers for the tensors of one graph; remembers what it found. What it does not know counts as not zero; a product
/// with zero counts as zero, although NaN and infinities make it NaN.
class KnownZero {
 public:
  bool operator()(const Tensor& t);

 private:
  bool from_operands(const Node& n, uint32_t index);
  bool at(const Tensor& t) const;

  std::unordered_map<const Node*, std::vector<uint8_t>> known_;  // per result
};

}  // namespace horngate
