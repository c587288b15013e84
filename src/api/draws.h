// Random nodes: where their seeds come from and what makes each call draw different numbers.
#pragma once

#include <optional>
#include <string_view>

#include "prims/build.h"

namespace horngate {

/// The given seed, or the next one of the process.
int64_t seed_or_next(const std::optional<int64_t>& seed);

/// The operand of a random node: its own counter of calls and, in a loop, the step.
Tensor draw_operand();

/// A random node of that shape.
template <class A>
Tensor draw_numbers(A a, const SymShape& shape) {
  a.shape = shape.dims;
  SmallVec<Tensor, 2> in{draw_operand()};
  if (shape.operand.defined()) in.push_back(shape.operand);
  return emit(std::move(a), std::move(in));
}

/// 1 with probability p, which broadcasts to the shape, else 0.
Tensor draw_flags(std::string_view function, const Tensor& p, DType dtype, int64_t seed,
                  const SymShape& shape);

}  // namespace horngate
