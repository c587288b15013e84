// Shapes and their text.
#include "horngate/shape.h"

#include <ostream>

#include "ir/check.h"
#include "ir/type.h"

namespace horngate {

Shape::Shape(std::initializer_list<Dim> dims) {
  for (Dim d : dims) {
    check(d.known() || d == Dim(None), "shape", "a dimension must be None or at least 0; got ",
          d.value(), ".");
    dims_.push_back(d.value());
  }
}

bool Shape::is_static() const {
  for (int64_t d : dims_)
    if (d < 0) return false;
  return true;
}

int64_t Shape::size() const {
  const int64_t n = checked_product({dims_.data(), dims_.size()});
  check(n >= 0, "shape", "the number of elements of ", *this, " is not known.");
  return n;
}

std::string Shape::str() const {
  std::string out = "(";
  for (size_t i = 0; i < dims_.size(); ++i) {
    if (i) out += ", ";
    out += dims_[i] < 0 ? "None" : std::to_string(dims_[i]);
  }
  if (dims_.size() == 1) out += ',';
  return out + ')';
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << shape.str(); }

int64_t checked_product(std::span<const int64_t> dims) {
  int64_t product = 1;
  bool unknown = false, overflow = false;
  for (int64_t d : dims) {
    if (d == 0) return 0;
    if (d < 0)
      unknown = true;
    else
      overflow |= __builtin_mul_overflow(product, d, &product);
  }
  if (overflow) [[unlikely]]
    fail("shape", Shape(Ints(dims.begin(), dims.end())),
         " has more elements than a 64-bit number can count.");
  return unknown ? Shape::kUnknown : product;
}

TensorType join(std::string_view function, const TensorType& a, const TensorType& b) {
  check<TypeError>(a.dtype == b.dtype && a.sparse == b.sparse, function,
                   "both values must have the same dtype; got ", a.str(), " and ", b.str(), ".");
  check(a.shape.ndim() == b.shape.ndim(), function,
        "both values must have the same number of dimensions; got ", a.shape, " and ", b.shape,
        ".");
  TensorType t = a;
  for (size_t i = 0; i < t.shape.ndim(); ++i)
    if (t.shape.dim(i) != b.shape.dim(i)) t.shape.dims()[i] = Shape::kUnknown;
  return t;
}

std::string TensorType::str() const {
  return std::string(sparse ? "sparse " : "") + name_of(dtype) + shape.str();
}

}  // namespace horngate
