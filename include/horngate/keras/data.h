// What goes into models: arrays of inputs, targets and weights; things that may differ from output to output.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "horngate/array.h"
#include "horngate/function.h"

namespace horngate::keras {

/// Arrays with samples along axis 0: one, one for each input or output, or some by name: {{"left", a}, {"right", b}}.
class Data {
 public:
  using Named = std::map<std::string, Array>;

  Data() = default;
  Data(Array one) : value_(Arrays{std::move(one)}) {}
  Data(Arrays several) : value_(std::move(several)) {}
  Data(std::initializer_list<Array> several) : value_(Arrays(several)) {}
  Data(Named named) : value_(std::move(named)) {}
  Data(std::initializer_list<Named::value_type> named) : value_(Named(named)) {}

  bool empty() const {
    return std::visit([](const auto& v) { return v.empty(); }, value_);
  }
  const Arrays* list() const { return std::get_if<Arrays>(&value_); }
  const Named* named() const { return std::get_if<Named>(&value_); }

 private:
  std::variant<Arrays, Named> value_;
};

/// One for all outputs, one for each, or by the names of outputs: {{"kind", "mse"}, {"amount", "mae"}}.
template <class T>
class PerOutput {
 public:
  using Named = std::map<std::string, T>;

  PerOutput() = default;
  template <class U>
    requires std::convertible_to<U, T>
  PerOutput(U&& one) : value_(T(std::forward<U>(one))) {}
  PerOutput(std::vector<T> each) : value_(std::move(each)) {}
  PerOutput(Named named) : value_(std::move(named)) {}
  PerOutput(std::initializer_list<typename Named::value_type> named) : value_(Named(named)) {}

  bool is_set() const { return !std::holds_alternative<std::monostate>(value_); }
  const T* one() const { return std::get_if<T>(&value_); }
  const std::vector<T>* each() const { return std::get_if<std::vector<T>>(&value_); }
  const Named* named() const { return std::get_if<Named>(&value_); }

 private:
  std::variant<std::monostate, T, std::vector<T>, Named> value_;
};

}  // namespace horngate::keras
