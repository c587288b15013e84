// TensorType: what is known about a value before it exists.
#pragma once

#include <string_view>

#include "horngate/dtype.h"
#include "horngate/shape.h"

namespace horngate {

struct TensorType {
  Shape shape;
  DType dtype = DType::float32;
  bool sparse = false;

  TensorType() = default;
  TensorType(DType t, Shape s, bool is_sparse = false)
      : shape(std::move(s)), dtype(t), sparse(is_sparse) {}
  bool operator==(const TensorType&) const = default;
  std::string str() const;  // "float32(None, 10)"
  /// Bytes of a dense value; the shape must be static.
  size_t nbytes() const { return static_cast<size_t>(shape.size()) * size_of(dtype); }
};

/// The type that covers both: dimensions that differ become None. TypeError/ValueError when there is none.
TensorType join(std::string_view function, const TensorType& a, const TensorType& b);

using Types = SmallVec<TensorType, 1>;

}  // namespace horngate
