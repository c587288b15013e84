#include "keras/fields.h"

namespace horngate::keras {

Json to_json(const Ints& v) {
  Json::List items;
  for (const int64_t item : v) items.push_back(item);
  return items;
}

Json to_json(const Shape& v) {
  Json::List items;
  for (size_t i = 0; i < v.ndim(); ++i) items.push_back(v[i].known() ? Json(v.dim(i)) : Json());
  return items;
}

Json to_json(const Axis& v) {
  if (v.all()) return {};
  return v.axes().size() == 1 ? Json(v.axes()[0]) : to_json(v.axes());
}

void from_json(const Json& j, Padding& v, const std::string& where) {
  v = padding_from(j.as_string(where), where, {Padding::valid, Padding::same, Padding::causal});
}
void from_json(const Json& j, DataFormat& v, const std::string& where) {
  v = data_format_from(j.as_string(where), where);
}
void from_json(const Json& j, Interpolation& v, const std::string& where) {
  v = interpolation_from(j.as_string(where), where);
}

void from_json(const Json& j, DType& v, const std::string& where) {
  v = dtype_from(j.as_string(where));
}

void from_json(const Json& j, Ints& v, const std::string& where) {
  v.clear();
  for (const Json& item : j.as_list(where)) v.push_back(item.as_int(where));
}

void from_json(const Json& j, Shape& v, const std::string& where) {
  Ints dims;
  for (const Json& item : j.as_list(where)) {
    const int64_t d = item.is_null() ? Shape::kUnknown : item.as_int(where);
    if (d < 0 && !item.is_null())
      throw ValueError(where + " must have sizes from 0 on, or null; got " + std::to_string(d) +
                       ".");
    dims.push_back(d);
  }
  v = Shape(dims);
}

void from_json(const Json& j, Axis& v, const std::string& where) {
  if (j.is_null()) {
    v = {};
  } else if (j.is_list()) {
    Ints axes;
    from_json(j, axes, where);
    v = Axis(axes);
  } else {
    v = Axis(j.as_int(where));
  }
}

}  // namespace horngate::keras
