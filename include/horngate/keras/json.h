// Json: what configurations of layers and models are made of. Objects keep the order of their names.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "horngate/export.h"

namespace horngate::keras {

class HORNGATE_API Json {
 public:
  using List = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;

  Json() = default;
  Json(std::nullptr_t) {}
  Json(std::same_as<bool> auto value) : value_(value) {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Json(T value) : value_(static_cast<int64_t>(value)) {}
  Json(double value) : value_(value) {}
  Json(const char* text) : value_(std::string(text)) {}
  Json(std::string text) : value_(std::move(text)) {}
  Json(List list) : value_(std::move(list)) {}
  Json(Object object) : value_(std::move(object)) {}

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  bool is_int() const { return std::holds_alternative<int64_t>(value_); }
  bool is_number() const { return is_int() || std::holds_alternative<double>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_list() const { return std::holds_alternative<List>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }

  /// The value as what it must be; ValueError otherwise, which begins with `where`.
  bool as_bool(std::string_view where) const;
  int64_t as_int(std::string_view where) const;
  double as_number(std::string_view where) const;
  const std::string& as_string(std::string_view where) const;
  const List& as_list(std::string_view where) const;
  const Object& as_object(std::string_view where) const;

  /// The entry of an object; null pointer if there is none, or if this is no object.
  const Json* find(std::string_view name) const;
  /// The entry of an object; ValueError if there is none.
  const Json& at(std::string_view name, std::string_view where) const;
  /// Sets an entry; turns null into an object.
  Json& set(std::string_view name, Json value);

  /// Equal as values: 1 and 1.0 are, and the order of names does not count.
  friend HORNGATE_API bool operator==(const Json& a, const Json& b);

  /// The text, as Python's json.dumps writes it.
  std::string dump() const;
  /// ValueError with the place if it is not JSON. NaN and Infinity, as Python writes them, are numbers.
  static Json parse(std::string_view text, std::string_view where = "json");

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, List, Object> value_;
};

}  // namespace horngate::keras
