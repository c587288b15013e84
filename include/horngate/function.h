// Functions: compiled programs with inputs, outputs and updates; gradients; reading and setting variables.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "horngate/args.h"
#include "horngate/ops/elementwise.h"
#include "horngate/tensor.h"

namespace horngate {

using Arrays = std::vector<Array>;

/// An entry of function's update list: the result of update(), update_add(), ..., or a pair (variable, new value).
class HORNGATE_API Update {
 public:
  Update(Tensor op) : op_(std::move(op)) {}
  Update(const Variable& variable, const Tensor& value);
  Update(const std::pair<Tensor, Tensor>& pair) : Update(Variable(pair.first), pair.second) {}
  const Tensor& op() const { return op_; }

 private:
  Tensor op_;
};

struct FunctionOptions {
  std::string name = {};
};

class FunctionImpl;

/// A program that can be called from any thread. Copies share everything.
class HORNGATE_API Function {
 public:
  Function() = default;
  explicit Function(std::shared_ptr<FunctionImpl> impl) : impl_(std::move(impl)) {}
  /// Runs it: takes one array per input, in order; returns one array per output. Either all updates happen or, if it
  /// throws, none.
  Arrays operator()(std::span<const Array> inputs) const;
  Arrays operator()(std::initializer_list<Array> inputs) const {
    return (*this)(std::span<const Array>(inputs.begin(), inputs.size()));
  }
  Arrays operator()() const { return (*this)(std::span<const Array>()); }
  /// f(x, y) is f({x, y}).
  template <class... A>
    requires(sizeof...(A) > 0 && (std::convertible_to<const A&, Array> && ...))
  Arrays operator()(const A&... inputs) const {
    return (*this)(std::initializer_list<Array>{inputs...});
  }
  FunctionImpl* impl() const { return impl_.get(); }

 private:
  std::shared_ptr<FunctionImpl> impl_;
};

/// Makes a callable program. Inputs may be any dense tensors (the graph is cut there), or empty ones.
/// A variable that is an input has the fed value for the call: outputs and updates start from it, so update_add
/// leaves the fed value plus the increment; without an update the variable keeps its own value.
/// Updates of one variable happen in list order: update_add and the like act on what the previous one left. update
/// and pairs set a value computed from the values before the call, so the last of several counts; a warning names
/// the variable.
/// Example: auto f = K::function({x}, {K::sum(x)});
[[nodiscard]] HORNGATE_API Function function(const std::vector<Tensor>& inputs,
                                             const std::vector<Tensor>& outputs,
                                             const std::vector<Update>& updates = {},
                                             const FunctionOptions& options = {});

struct GradientsOptions {
  bool strict = false;  // an error instead of an empty tensor where nothing connects
};

/// Derivatives of the (summed) loss with respect to each tensor in `variables`; an empty Tensor where nothing
/// connects.
/// Example: auto grads = K::gradients(loss, {w, b});
[[nodiscard]] HORNGATE_API Tensors gradients(const Tensor& loss,
                                             const std::vector<Tensor>& variables,
                                             const GradientsOptions& options = {});

template <std::derived_from<Tensor> V>
[[nodiscard]] Tensors gradients(const Tensor& loss, const std::vector<V>& variables,
                                const GradientsOptions& options = {}) {
  return gradients(loss, Tensors(variables.begin(), variables.end()), options);
}

/// Value of a tensor that needs no feeds.
/// Example: K::eval(K::ones_like(v)).item<float>();
[[nodiscard]] HORNGATE_API Array eval(const Tensor& x);

/// Value of a variable.
/// Example: const float first = K::get_value(w).data<float>()[0];
[[nodiscard]] HORNGATE_API Array get_value(const Variable& x);

/// Values of several variables, all at the same moment.
/// Example: K::Arrays values = K::batch_get_value({w, b});
[[nodiscard]] HORNGATE_API Arrays batch_get_value(const std::vector<Variable>& ops);

/// The value is cast to the variable's dtype; its shape must be the variable's.
/// Example: K::set_value(w, K::zeros_array({784, 10}));
HORNGATE_API void set_value(const Variable& x, const Array& value);
/// An array that nobody else holds is taken, not copied.
HORNGATE_API void set_value(const Variable& x, Array&& value);

/// All at once: no call sees only some of them changed.
/// Example: K::batch_set_value({{w, K::zeros_array({784, 10})}, {b, K::zeros_array({10})}});
HORNGATE_API void batch_set_value(const std::vector<std::pair<Variable, Array>>& tuples);

/// A new value for a variable, as a tensor. Give updates to function(), or use them as outputs. An integer variable
/// takes integers alone.
/// Example: auto train = K::function({x}, {loss}, {K::update(w, w - 0.1 * grad)});
[[nodiscard]] HORNGATE_API Tensor update(const Variable& x, const Number& new_x);

/// The update to x + increment.
/// Example: auto count = K::update_add(total, 1);
[[nodiscard]] HORNGATE_API Tensor update_add(const Variable& x, const Number& increment);

/// The update to x - decrement.
/// Example: auto step = K::update_sub(w, 0.1 * grad);
[[nodiscard]] HORNGATE_API Tensor update_sub(const Variable& x, const Number& decrement);

/// The update to x * momentum + value * (1 - momentum).
/// Example: auto moved = K::moving_average_update(mean, K::mean(x), 0.99);
[[nodiscard]] HORNGATE_API Tensor moving_average_update(const Variable& x, const Number& value,
                                                        double momentum);

}  // namespace horngate
