// Options and configurations: each options struct has one template, `fields`, that names its members in Keras's order;
// Writer and Reader turn that into JSON and back.
//
//   template <class V> void fields(V& v, Like<FlattenArguments> auto& o) { v("data_format", o.data_format); }
#pragma once

#include <array>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "horngate/args.h"
#include "horngate/dtype.h"
#include "horngate/keras/json.h"
#include "horngate/keras/objects.h"
#include "horngate/options.h"
#include "keras/nameless.h"

namespace horngate::keras {

/// T, or const T: one template reads and writes.
template <class T, class U>
concept Like = std::same_as<std::remove_const_t<T>, U>;

// clang-format off
inline Json to_json(bool v) { return v; }
inline Json to_json(int64_t v) { return v; }
inline Json to_json(double v) { return v; }
inline Json to_json(const std::string& v) { return v; }
inline Json to_json(Padding v) { return name_of(v); }
inline Json to_json(DataFormat v) { return name_of(v); }
inline Json to_json(Interpolation v) { return name_of(v); }
inline Json to_json(DType v) { return std::string(name_of(v)); }
inline Json to_json(const ActivationFunction& v) { return v ? v.config() : Json("linear"); }
inline Json to_json(const Initializer& v) { return v.config(); }
inline Json to_json(const Regularizer& v) { return v.config(); }
inline Json to_json(const WeightConstraint& v) { return v.config(); }
inline Json to_json(const PaddingChoice& v) { return name_of(v); }
inline Json to_json(const DataFormatChoice& v) { return v ? Json(name_of(*v)) : Json(); }
inline Json to_json(const InterpolationChoice& v) { return name_of(v); }
inline Json to_json(const Json& v) { return v; }
// clang-format on
Json to_json(const Shape& v);
Json to_json(const Ints& v);
Json to_json(const Axis& v);
template <class T>
Json to_json(const std::vector<T>& v) {
  Json::List items;
  for (const T& item : v) items.push_back(to_json(item));
  return items;
}
template <class T, size_t N>
Json to_json(const std::array<T, N>& v) {
  Json::List items;
  for (const T& item : v) items.push_back(to_json(item));
  return items;
}
template <size_t N>
Json to_json(const Sizes<N>& v) {
  return to_json(static_cast<const std::array<int64_t, N>&>(v));
}
template <class T>
Json to_json(const std::optional<T>& v) {
  return v ? to_json(*v) : Json();
}

// `where` begins errors: "dense_1: units".
inline void from_json(const Json& j, bool& v, const std::string& where) {
  v = j.is_int() ? j.as_int(where) != 0 : j.as_bool(where);
}
inline void from_json(const Json& j, int64_t& v, const std::string& where) { v = j.as_int(where); }
inline void from_json(const Json& j, double& v, const std::string& where) {
  // Keras 2.2 writes a number of NumPy as {"type": "ndarray", "value": 6.0}.
  const Json* value = j.find("value");
  v = (value ? *value : j).as_number(where);
}
inline void from_json(const Json& j, std::string& v, const std::string& where) {
  v = j.as_string(where);
}
inline void from_json(const Json& j, Json& v, const std::string&) { v = j; }
void from_json(const Json& j, Padding& v, const std::string& where);
void from_json(const Json& j, DataFormat& v, const std::string& where);
void from_json(const Json& j, Interpolation& v, const std::string& where);
void from_json(const Json& j, DType& v, const std::string& where);
void from_json(const Json& j, Shape& v, const std::string& where);
void from_json(const Json& j, Ints& v, const std::string& where);
void from_json(const Json& j, Axis& v, const std::string& where);
inline void from_json(const Json& j, ActivationFunction& v, const std::string& where) {
  v = ActivationFunction::from(j, where);
}
inline void from_json(const Json& j, Initializer& v, const std::string& where) {
  v = Initializer::from(j, where);
}
inline void from_json(const Json& j, Regularizer& v, const std::string& where) {
  v = Regularizer::from(j, where);
}
inline void from_json(const Json& j, WeightConstraint& v, const std::string& where) {
  v = WeightConstraint::from(j, where);
}
template <class T>
void from_json(const Json& j, std::vector<T>& v, const std::string& where) {
  v.clear();
  for (const Json& item : j.as_list(where)) from_json(item, v.emplace_back(), where);
}
/// A number stands for N of them, as in Keras: strides=2.
template <class T, size_t N>
void from_json(const Json& j, std::array<T, N>& v, const std::string& where) {
  if (!j.is_list()) {
    from_json(j, v[0], where);
    v.fill(v[0]);
    return;
  }
  const Json::List& items = j.as_list(where);
  if (items.size() != N)
    throw ValueError(where + " must have " + std::to_string(N) + " entries; got " +
                     std::to_string(items.size()) + ".");
  for (size_t i = 0; i < N; ++i) from_json(items[i], v[i], where);
}
template <size_t N>
void from_json(const Json& j, Sizes<N>& v, const std::string& where) {
  from_json(j, static_cast<std::array<int64_t, N>&>(v), where);
}
inline void from_json(const Json& j, PaddingChoice& v, const std::string& where) {
  Padding padding{};
  from_json(j, padding, where);
  v = padding;
}
inline void from_json(const Json& j, InterpolationChoice& v, const std::string& where) {
  Interpolation interpolation{};
  from_json(j, interpolation, where);
  v = interpolation;
}
inline void from_json(const Json& j, DataFormatChoice& v, const std::string& where) {
  v = {};
  if (j.is_null() || j == Json("default")) return;
  DataFormat format{};
  from_json(j, format, where);
  v = format;
}
template <class T>
void from_json(const Json& j, std::optional<T>& v, const std::string& where) {
  v.reset();
  if (!j.is_null()) from_json(j, v.emplace(), where);
}
template <size_t N>
void from_json(const Json& j, std::optional<Sizes<N>>& v, const std::string& where) {
  v.reset();
  if (!j.is_null()) from_json(j, v.emplace(1), where);
}

struct Writer {
  Json& to;
  template <class T>
  void operator()(const char* name, const T& value) {
    try {
      to.set(name, to_json(value));
    } catch (const Nameless& e) {
      throw Nameless(std::string(name) + ": " + e.what());
    }
  }
  template <class T>
  void required(const char* name, const T& value) {
    (*this)(name, value);
  }
  void must_be(const char*, const Json&) {}
};

/// Names that are not there leave the default: files of older editions have fewer.
struct Reader {
  const Json& from;
  std::string where;
  template <class T>
  void operator()(const char* name, T& value) {
    if (const Json* found = from.find(name)) from_json(*found, value, where + ": " + name);
  }
  /// For what has no default.
  template <class T>
  void required(const char* name, T& value) {
    from_json(from.at(name, where), value, where + ": " + name);
  }
  /// What other editions of Keras write: only the value that means what is done here.
  void must_be(const char* name, const Json& value) {
    const Json* found = from.find(name);
    if (found && !(*found == value))
      throw ValueError(where + ": " + name + " must be " + value.dump() + "; got " + found->dump() +
                       ".");
  }
};

template <class O>
Json config_of(const O& options) {
  Json config = Json::Object();
  Writer writer{config};
  fields(writer, options);
  return config;
}

/// Options, read from a configuration.
template <class O>
O options_from(const Json& config, const std::string& where) {
  O options;
  Reader reader{config, where};
  fields(reader, options);
  return options;
}

/// {"class_name": .., "config": ..}
inline Json class_config(const char* class_name, Json config = Json::Object()) {
  Json result;
  result.set("class_name", class_name);
  result.set("config", std::move(config));
  return result;
}

}  // namespace horngate::keras
