#include "horngate/keras/json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "files/json.h"
#include "horngate/error.h"

namespace horngate::keras {
namespace {

const char* kind_of(const Json& j) {
  return j.is_null()     ? "null"
         : j.is_bool()   ? "a boolean"
         : j.is_number() ? "a number"
         : j.is_string() ? "a string"
         : j.is_list()   ? "a list"
                         : "an object";
}

[[noreturn]] void wrong(std::string_view where, const char* wanted, const Json& got) {
  throw ValueError(std::string(where) + " must be " + wanted + "; got " + kind_of(got) + ".");
}

/// From the reader of files, which has checked depth and size.
Json converted(const files::Json& j) {
  if (j.is_boolean()) return j.get<bool>();
  if (j.is_number_integer()) return j.get<int64_t>();
  if (j.is_number()) return j.get<double>();
  if (j.is_string()) return j.get<std::string>();
  if (j.is_array()) {
    Json::List items;
    for (const files::Json& item : j) items.push_back(converted(item));
    return items;
  }
  if (j.is_object()) {
    Json::Object entries;
    for (const auto& [name, value] : j.items()) entries.emplace_back(name, converted(value));
    return entries;
  }
  return {};
}

files::Json converted(const Json& j) {
  if (j.is_bool()) return j.as_bool("");
  if (j.is_int()) return j.as_int("");
  if (j.is_number()) return j.as_number("");
  if (j.is_string()) return j.as_string("");
  if (j.is_list()) {
    files::Json items = files::Json::array();
    for (const Json& item : j.as_list("")) items.push_back(converted(item));
    return items;
  }
  if (j.is_object()) {
    files::Json entries = files::Json::object();
    for (const auto& [name, value] : j.as_object("")) entries[name] = converted(value);
    return entries;
  }
  return nullptr;
}

}  // namespace

bool Json::as_bool(std::string_view where) const {
  if (!is_bool()) wrong(where, "a boolean", *this);
  return std::get<bool>(value_);
}
int64_t Json::as_int(std::string_view where) const {
  if (is_int()) return std::get<int64_t>(value_);
  // Python code that computes with numbers leaves 32.0 for 32.
  if (const double* d = std::get_if<double>(&value_);
      d && std::trunc(*d) == *d && std::abs(*d) < 9e15)
    return static_cast<int64_t>(*d);
  wrong(where, "a whole number", *this);
}
double Json::as_number(std::string_view where) const {
  if (is_int()) return static_cast<double>(std::get<int64_t>(value_));
  if (!is_number()) wrong(where, "a number", *this);
  return std::get<double>(value_);
}
const std::string& Json::as_string(std::string_view where) const {
  if (!is_string()) wrong(where, "a string", *this);
  return std::get<std::string>(value_);
}
const Json::List& Json::as_list(std::string_view where) const {
  if (!is_list()) wrong(where, "a list", *this);
  return std::get<List>(value_);
}
const Json::Object& Json::as_object(std::string_view where) const {
  if (!is_object()) wrong(where, "an object", *this);
  return std::get<Object>(value_);
}

const Json* Json::find(std::string_view name) const {
  if (const Object* entries = std::get_if<Object>(&value_))
    for (const auto& [key, value] : *entries)
      if (key == name) return &value;
  return nullptr;
}

const Json& Json::at(std::string_view name, std::string_view where) const {
  if (const Json* found = find(name)) return *found;
  throw ValueError(std::string(where) + ": has no \"" + std::string(name) + "\".");
}

Json& Json::set(std::string_view name, Json value) {
  if (is_null()) value_ = Object();
  Object& entries = std::get<Object>(value_);
  for (auto& [key, old] : entries)
    if (key == name) return old = std::move(value);
  return entries.emplace_back(std::string(name), std::move(value)).second;
}

bool operator==(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) {
    if (a.is_int() && b.is_int()) return a.as_int("") == b.as_int("");
    const double x = a.as_number(""), y = b.as_number("");
    return x == y || (std::isnan(x) && std::isnan(y));
  }
  if (!a.is_object() || !b.is_object()) return a.value_ == b.value_;
  const Json::Object &x = a.as_object(""), &y = b.as_object("");
  return x.size() == y.size() && std::all_of(x.begin(), x.end(), [&](const auto& entry) {
           const Json* other = b.find(entry.first);
           return other && entry.second == *other;
         });
}

std::string Json::dump() const { return files::write_json(converted(*this)); }

Json Json::parse(std::string_view text, std::string_view where) {
  return converted(files::read_json(text, where));
}

}  // namespace horngate::keras
