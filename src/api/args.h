// Shared argument handling of src/api: axes, shapes, dtypes, weak scalars, scopes.
#pragma once

#include <string_view>

#include "horngate/args.h"
#include "prims/build.h"

namespace horngate {

/// Non-negative sorted axes; all axes when unset. Errors name the function.
Ints axes_of(std::string_view function, const Axis& axis, const Tensor& x);

/// A shape argument as numbers and at most one operand. -1 and None stay kInfer. Scalars of the
/// graph that shape arithmetic can tell now become numbers.
SymShape sym_shape_of(std::string_view function, const ShapeArg& shape,
                      std::string_view argument = "shape");
/// The same for functions that infer nothing: -1 and None are errors.
SymShape full_shape_of(std::string_view function, const ShapeArg& shape,
                       std::string_view argument = "shape");

/// Two operands made to agree in dtype: the float wins over the integer; between floats (and
/// between integers) the wider one; bool gives way.
DType common_dtype(DType a, DType b);
void unify(std::string_view function, Tensor* a, Tensor* b);
/// The same for a list.
void unify(std::string_view function, Tensors* tensors);

/// A plain number beside a tensor takes its dtype; a fractional number beside an integer tensor
/// makes both floatx, and so does any number beside a bool tensor. An integer type that is too
/// narrow for the number becomes int64.
Tensor weak_scalar(double value, Tensor* beside);

/// Inside control_dependencies a variable operand becomes after(variable, updates). Every K
/// function that takes a tensor operand which may be a variable passes it through here.
Tensor operand(const Tensor& x);
void push_control_dependencies(Tensors updates);
void pop_control_dependencies();
/// The updates of all scopes that are open on this thread, outermost first.
const Tensors& control_updates();

/// operand(x), after the checks that x is there and dense.
Tensor dense_operand(std::string_view function, const Tensor& x, std::string_view argument = "x");
/// The same, with bool made floatx: for arithmetic.
Tensor numeric_operand(std::string_view function, const Tensor& x, std::string_view argument = "x");
/// The same, with bool and integers made floatx: for what has fractional results.
Tensor float_operand(std::string_view function, const Tensor& x, std::string_view argument = "x");
/// The same for positions: int32 or int64, narrower integers are widened; TypeError for other
/// dtypes.
Tensor index_operand(std::string_view function, const Tensor& x,
                     std::string_view argument = "indices");

/// Fails with the function's name when the shapes do not broadcast together.
void check_broadcast(std::string_view function, const Tensor& a, const Tensor& b);

/// Calls a function that the user gave to a K function: what it makes is in the name of what it calls.
template <class F>
auto users(const F& f) {
  const CalledInstead called(nullptr);
  return f();
}

/// The value of a tensor that needs no feeds, computed by native whatever the engine: initial values of variables
/// have the same bits everywhere and cost no engine a compilation.
Array initial_value(const Tensor& x);

}  // namespace horngate
