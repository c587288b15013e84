// TensorKey: a tensor as a key in tables, by its node and the number of the result.
#pragma once

#include <functional>

#include "ir/node.h"

namespace horngate {

struct TensorKey {
  const Node* node;
  uint32_t index;
  bool operator==(const TensorKey&) const = default;
};
inline TensorKey key_of(const Tensor& t) { return {t.node(), t.index()}; }

struct TensorKeyHash {
  size_t operator()(const TensorKey& k) const {
    return std::hash<const void*>()(k.node) * 31 + k.index;
  }
};

}  // namespace horngate
