// Texts of numbers and the shared axis check.
#include "ir/check.h"

#include <charconv>

namespace horngate {

void append(std::string& out, const Ints& v) {
  out += '(';
  for (size_t i = 0; i < v.size(); ++i) {
    if (i) out += ", ";
    out += std::to_string(v[i]);
  }
  if (v.size() == 1) out += ',';
  out += ')';
}

void append(std::string& out, double v) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, v).ptr;
  out.append(buffer, end);
}

int64_t normalize_axis(std::string_view function, int64_t axis, const Shape& shape,
                       std::string_view argument, std::string_view tensor) {
  const auto rank = static_cast<int64_t>(shape.ndim());
  check(axis >= -rank && axis < rank, function, argument, " must be in [", -rank, ", ", rank,
        ") for ", tensor, " of shape ", shape, "; got ", argument, "=", axis, ".");
  return axis < 0 ? axis + rank : axis;
}

}  // namespace horngate
