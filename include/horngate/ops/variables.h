// Variables, placeholders, constants, and what can be asked of any tensor.
#pragma once

#include <optional>
#include <string>

#include "horngate/args.h"
#include "horngate/tensor.h"

namespace horngate {

struct VariableOptions {
  std::optional<DType> dtype = {};  // unset: of the value; Python numbers and lists become floatx
  std::string name = {};
};

/// A value that functions can read and update. The array is copied; sparse arrays make sparse variables, which
/// cannot be updated.
/// Example: auto w = K::variable(K::zeros_array({784, 10}), {.name = "w"});
[[nodiscard]] HORNGATE_API Variable variable(const Array& value,
                                             const VariableOptions& options = {});

struct PlaceholderOptions {
  ShapeOption shape = {};
  std::optional<int64_t> ndim = {};  // used when shape is unset: all dimensions None
  std::optional<DType> dtype = {};   // unset: floatx
  bool sparse = false;
  std::string name = {};
};

/// A value that the caller of a function feeds.
/// Example: auto x = K::placeholder({.shape = {K::None, 784}, .name = "x"});
[[nodiscard]] HORNGATE_API Tensor placeholder(const PlaceholderOptions& options);

struct ConstantOptions {
  std::optional<DType> dtype = {};
  ShapeOption shape = {};  // a single value fills it
  std::string name = {};
};

/// A value that is part of the program.
/// Example: auto two = K::constant(2.0);
[[nodiscard]] HORNGATE_API Tensor constant(const Array& value, const ConstantOptions& options = {});

/// Is it a dense or sparse tensor that a placeholder made?
[[nodiscard]] HORNGATE_API bool is_placeholder(const Tensor& x);
[[nodiscard]] HORNGATE_API bool is_variable(const Tensor& x);
[[nodiscard]] HORNGATE_API bool is_sparse(const Tensor& x);
/// The dense form of a sparse tensor; itself when it is dense.
[[nodiscard]] HORNGATE_API Tensor to_dense(const Tensor& x);

/// Resets names, uids, the learning phase and caches. Tensors that somebody holds stay valid.
HORNGATE_API void clear_session();
/// A number for a prefix: 1, 2, ... (for default layer names).
HORNGATE_API int64_t get_uid(const std::string& prefix = "");
HORNGATE_API void reset_uids();

}  // namespace horngate
