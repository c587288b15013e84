// Choosing between expressions, the learning phase, scopes of graph building.
#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "horngate/tensor.h"

namespace horngate {

/// A tensor, a number, or a callable that returns a tensor.
class HORNGATE_API Expression {
 public:
  Expression(Tensor tensor) : tensor_(std::move(tensor)) {}
  template <class T>
    requires std::is_arithmetic_v<T>
  Expression(T number) : number_(static_cast<double>(number)) {}
  template <class F>
    requires std::is_invocable_r_v<Tensor, const F&>
  Expression(F call) : call_(std::move(call)) {}

  bool is_callable() const { return static_cast<bool>(call_); }
  /// Set for numbers, which take the dtype of the other operand.
  const std::optional<double>& number() const { return number_; }
  /// The tensor, or what the call returns; empty for numbers.
  Tensor operator()() const { return call_ ? call_() : tensor_; }

 private:
  Tensor tensor_;
  std::optional<double> number_;
  std::function<Tensor()> call_;
};

/// One of two expressions. If the condition has axes, the choice is made element by element, with
/// the condition repeated over the additional axes of the expressions. With a scalar condition one
/// is taken whole, and of two callables only that one runs.
/// @param condition  bool, or numbers: anything but 0 means true
/// Example: y = K::switch_(K::greater(n, c), [&] { return x * (c / n); }, x);
[[nodiscard]] HORNGATE_API Tensor switch_(const Tensor& condition,
                                          const Expression& then_expression,
                                          const Expression& else_expression);

/// Whether to train: unset (the learning phase decides), a value, or a scalar tensor.
class HORNGATE_API Training {
 public:
  Training() = default;
  template <std::integral T>
  Training(T value) : value_(value != 0) {}
  Training(Tensor tensor) : tensor_(std::move(tensor)) {}
  const std::optional<bool>& value() const { return value_; }
  const Tensor& tensor() const { return tensor_; }

 private:
  std::optional<bool> value_;
  Tensor tensor_;
};

/// x while training, alt otherwise. What the learning phase does not choose costs nothing.
/// Example: y = K::in_train_phase([&] { return K::dropout(x, 0.5); }, x);
[[nodiscard]] HORNGATE_API Tensor in_train_phase(const Expression& x, const Expression& alt,
                                                 const Training& training = {});

/// alt while training, x otherwise.
/// Example: y = K::in_test_phase(x, noisy);
[[nodiscard]] HORNGATE_API Tensor in_test_phase(const Expression& x, const Expression& alt,
                                                const Training& training = {});

/// The flag that tells training (true) from testing: a scalar that functions may take as an input,
/// false if not fed; a constant once set_learning_phase has fixed it.
/// Example: auto f = K::function({x, K::learning_phase()}, {y});
[[nodiscard]] HORNGATE_API Tensor learning_phase();
/// Fixes the phase for what is built from now on: 0 for testing, 1 for training.
/// Example: K::set_learning_phase(0);
HORNGATE_API void set_learning_phase(int64_t value);
/// What set_learning_phase fixed; unset while the phase is open.
[[nodiscard]] HORNGATE_API std::optional<bool> fixed_learning_phase();
/// Opens the phase again, with a new flag. clear_session does so too.
HORNGATE_API void reset_learning_phase();

/// Opens a scope on this thread: names made in it begin with "name/". Returns the whole prefix. For
/// languages without destructors; in C++ use name_scope.
HORNGATE_API std::string begin_name_scope(std::string_view name);
HORNGATE_API void end_name_scope();

/// A name scope that ends with the object.
class [[nodiscard]] NameScope {
 public:
  explicit NameScope(std::string_view name) : prefix_(begin_name_scope(name)) {}
  ~NameScope() { end_name_scope(); }
  NameScope(const NameScope&) = delete;
  NameScope& operator=(const NameScope&) = delete;
  /// "outer/inner/"
  const std::string& prefix() const { return prefix_; }

 private:
  std::string prefix_;
};

/// Opens a scope until the end of the block: names made in it begin with "name/".
/// Example: const auto scope = K::name_scope("dense");
[[nodiscard]] inline NameScope name_scope(std::string_view name) { return NameScope(name); }

/// Opens and closes a block on this thread in which variables are read with their values after the
/// updates. In C++ use control_dependencies.
HORNGATE_API void begin_control_dependencies(const Tensors& control_inputs);
HORNGATE_API void end_control_dependencies();

/// Such a block, which ends with the object.
class [[nodiscard]] ControlDependencies {
 public:
  explicit ControlDependencies(const Tensors& control_inputs) {
    begin_control_dependencies(control_inputs);
  }
  ~ControlDependencies() { end_control_dependencies(); }
  ControlDependencies(const ControlDependencies&) = delete;
  ControlDependencies& operator=(const ControlDependencies&) = delete;
};

/// Until the end of the block, variables are read with their values after these updates.
/// Example: const auto after = K::control_dependencies({K::update_add(total, x)});
[[nodiscard]] inline ControlDependencies control_dependencies(const Tensors& control_inputs) {
  return ControlDependencies(control_inputs);
}

}  // namespace horngate
