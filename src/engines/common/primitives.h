// Primitives by kind, for rules that hold for a whole kind. Those not listed here run on native.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace horngate::engines {

// clang-format off
/// Each element of the result comes from one element of each operand. Not broadcast, which takes a shape.
inline constexpr std::string_view kElementwise[] = {
    "neg", "abs", "sign", "exp", "expm1", "log", "log1p", "sqrt", "rsqrt", "sin", "cos", "tanh", "sigmoid", "erf",
    "floor", "round", "logical_not", "cast", "add", "sub", "mul", "div", "floordiv", "mod", "pow", "maximum",
    "minimum", "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "select"};

inline constexpr std::string_view kReductions[] = {
    "reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_any", "reduce_all"};
// clang-format on

template <size_t N>
constexpr bool is_one_of(const std::string_view (&list)[N], std::string_view prim) {
  return std::find(std::begin(list), std::end(list), prim) != std::end(list);
}

}  // namespace horngate::engines
