// Variables, placeholders, constants, and questions about any tensor.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "horngate/args.h"
#include "horngate/config.h"
#include "horngate/options.h"
#include "horngate/tensor.h"

namespace horngate {

/// What optimizers do to a variable after each update: takes the new value, returns the one to keep.
using Constraint = std::function<Tensor(const Tensor&)>;

struct VariableOptions {
  DTypeChoice dtype = {};  // unset: of the value; Python numbers and lists become floatx
  std::string name = {};
  Constraint constraint = {};  // kept for optimizers, see constraint_of
};

/// A value that functions can read and update. The array is copied; sparse arrays make sparse variables, which
/// cannot be updated.
/// Example: auto w = K::variable(K::zeros_array({784, 10}), {.name = "w"});
[[nodiscard]] HORNGATE_API Variable variable(const Array& value,
                                             const VariableOptions& options = {});

/// The same; an array that nobody else holds is taken, not copied.
/// Example: auto w = K::variable(K::zeros_array({784, 10}));
[[nodiscard]] HORNGATE_API Variable variable(Array&& value, const VariableOptions& options = {});

/// A number has the type of the program, as in Python: floatx, unless options say otherwise.
/// Example: auto rate = K::variable(0.1);
template <class T>
  requires std::is_arithmetic_v<T>
[[nodiscard]] Variable variable(T value, VariableOptions options = {}) {
  if (!options.dtype) options.dtype = floatx();
  return variable(Array(value), options);
}

/// The constraint that the variable was made with; empty if none.
/// Example: if (const auto& keep = K::constraint_of(w)) y = keep(y);
[[nodiscard]] HORNGATE_API const Constraint& constraint_of(const Variable& x);

struct PlaceholderOptions {
  ShapeOption shape = {};
  std::optional<int64_t> ndim = {};  // used if shape is unset: all dimensions None
  DTypeChoice dtype = {};            // unset: floatx
  bool sparse = false;
  std::string name = {};
};

/// A value that the caller of a function feeds.
/// Example: auto x = K::placeholder({.shape = {K::None, 784}, .name = "x"});
[[nodiscard]] HORNGATE_API Tensor placeholder(const PlaceholderOptions& options);

struct ConstantOptions {
  DTypeChoice dtype = {};
  ShapeOption shape = {};  // a single value fills it
  std::string name = {};
};

/// A value that is part of the program.
/// Example: auto primes = K::constant(K::Array::of({2.f, 3.f, 5.f}));
[[nodiscard]] HORNGATE_API Tensor constant(const Array& value, const ConstantOptions& options = {});

/// A number is of floatx, unless options say otherwise.
/// Example: auto two = K::constant(2.0);
template <class T>
  requires std::is_arithmetic_v<T>
[[nodiscard]] Tensor constant(T value, ConstantOptions options = {}) {
  if (!options.dtype) options.dtype = floatx();
  return constant(Array(value), options);
}

/// Is it a tensor, dense or sparse, made by placeholder?
/// Example: K::is_placeholder(x);
[[nodiscard]] HORNGATE_API bool is_placeholder(const Tensor& x);

/// Is it a variable? Then Variable(x) turns it into one.
/// Example: K::is_variable(w);
[[nodiscard]] HORNGATE_API bool is_variable(const Tensor& x);

/// Was it made by a Keras layer or Input? Those are in Python, so never here.
/// Example: K::is_keras_tensor(x);
[[nodiscard]] inline bool is_keras_tensor(const Tensor& x) { return static_cast<void>(x), false; }

/// Is it a sparse tensor?
/// Example: y = K::is_sparse(x) ? K::to_dense(x) : x;
[[nodiscard]] HORNGATE_API bool is_sparse(const Tensor& tensor);

/// The dense form of a sparse tensor; the tensor itself if it is dense.
/// Example: y = K::to_dense(x);
[[nodiscard]] HORNGATE_API Tensor to_dense(const Tensor& tensor);

/// Does nothing: a variable has its value from the start. Exists for programs that call it.
/// Example: K::manual_variable_initialization(true);
inline void manual_variable_initialization(bool value) { static_cast<void>(value); }

/// Resets names, uids, the learning phase and caches. Tensors still held stay valid.
/// Example: K::clear_session();
HORNGATE_API void clear_session();

/// A number for a prefix: 1, 2, ... (for default layer names).
/// Example: auto name = "dense_" + std::to_string(K::get_uid("dense"));
HORNGATE_API int64_t get_uid(const std::string& prefix = "");

/// Restarts all numbers of get_uid.
/// Example: K::reset_uids();
HORNGATE_API void reset_uids();

}  // namespace horngate
