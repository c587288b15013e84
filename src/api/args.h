// Shared argument handling of src/api: axes, shapes, dtypes, weak scalars, scopes.
#pragma once

#include <string_view>

#include "horngate/args.h"
#include "horngate/ops/elementwise.h"
#include "prims/build.h"

namespace horngate {

/// Non-negative sorted axes; all axes when unset. Errors name the function.
Ints axes_of(std::string_view function, const Axis& axis, const Tensor& x);

/// A shape argument as numbers and at most one operand. -1 and None stay kInfer. Scalars of the graph whose value
/// shape arithmetic already knows become numbers.
SymShape sym_shape_of(std::string_view function, const ShapeArg& shape,
                      std::string_view argument = "shape");
/// The same for functions that infer nothing: -1 and None are errors.
SymShape full_shape_of(std::string_view function, const ShapeArg& shape,
                       std::string_view argument = "shape");

/// The dtype two operands agree on: floats win over integers, the wider wins between floats or between integers,
/// and bool yields to both.
DType common_dtype(DType a, DType b);
void unify(std::string_view function, Tensor* a, Tensor* b);
/// The same for a list.
void unify(std::string_view function, Tensors* tensors);

/// A plain number next to a tensor takes its dtype; a fractional number next to an integer tensor makes both
/// floatx, and so does any number next to a bool tensor. An integer type too narrow for the number becomes int64.
Tensor weak_scalar(double value, Tensor* beside);

/// Whether an integer type has that value.
bool holds(DType integer, double value);

/// A parameter that may be a number or a tensor, in a dtype.
Tensor parameter_of(std::string_view function, const Number& parameter, DType dtype,
                    std::string_view argument);

/// Inside control_dependencies a variable operand becomes after(variable, updates). Every K function passes
/// through here any tensor operand that may be a variable.
Tensor operand(const Tensor& x);
void push_control_dependencies(Tensors updates);
void pop_control_dependencies();
/// The updates of all scopes open on this thread, outermost first.
const Tensors& control_updates();

/// The result of a K function as a tensor of its own, even where it equals one that was there before: the gradient with
/// respect to x * 1 is not that with respect to x, and whoever feeds it does not feed x. Constants for
/// shapes may be shared.
Tensor own(const CalledAs& called, Tensor result);

/// operand(x), after checking that x is defined and dense.
Tensor dense_operand(std::string_view function, const Tensor& x, std::string_view argument = "x");
/// The same, with bool converted to floatx: for arithmetic.
Tensor numeric_operand(std::string_view function, const Tensor& x, std::string_view argument = "x");
/// The same, with bool and integers converted to floatx: for fractional results.
Tensor float_operand(std::string_view function, const Tensor& x, std::string_view argument = "x");
/// The same for positions: int32 or int64; narrower integers are widened; TypeError for other dtypes.
Tensor index_operand(std::string_view function, const Tensor& x,
                     std::string_view argument = "indices");

/// Fails with the function's name when the shapes do not broadcast together.
void check_broadcast(std::string_view function, const Tensor& a, const Tensor& b);

/// Calls a function that the user gave to a K function: the nodes it makes carry the names of what it calls.
template <class F>
auto users(const F& f) {
  const CalledInstead called(nullptr);
  return f();
}

/// The value of a tensor that needs no feeds, always computed by native: initial values of variables have the
/// same bits on every engine and cost none of them a compilation.
Array initial_value(const Tensor& x);

}  // namespace horngate
