// Shapes: a known rank, and dimensions that may be None.
#pragma once

#include <concepts>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "horngate/error.h"
#include "horngate/small_vec.h"

namespace horngate {

/// The unknown dimension: placeholder({.shape = {None, 784}}).
struct NoneType {};
inline constexpr NoneType None{};

/// One dimension: a count, or None.
class Dim {
 public:
  template <std::integral T>
  Dim(T n) : value_(static_cast<int64_t>(n)) {}  // a template, or size_t would be ambiguous
  Dim(NoneType) : value_(-1) {}
  bool known() const { return value_ >= 0; }
  int64_t value() const { return value_; }
  friend bool operator==(Dim a, Dim b) { return a.value_ == b.value_; }

 private:
  int64_t value_;
};

class HORNGATE_API Shape {
 public:
  static constexpr int64_t kUnknown = -1;

  Shape() = default;
  Shape(std::initializer_list<Dim> dims);
  explicit Shape(Ints dims) : dims_(std::move(dims)) {}
  explicit Shape(const std::vector<int64_t>& dims) : dims_(dims.begin(), dims.end()) {}

  size_t ndim() const { return dims_.size(); }
  Dim operator[](size_t i) const { return dims_[i] < 0 ? Dim(None) : Dim(dims_[i]); }
  /// Dimension i as a number, kUnknown for None.
  int64_t dim(size_t i) const { return dims_[i]; }
  const Ints& dims() const { return dims_; }
  Ints& dims() { return dims_; }
  bool is_static() const;
  /// Number of elements; all dimensions must be known. Throws if the product exceeds int64.
  int64_t size() const;
  /// "(None, 28, 28, 1)"
  std::string str() const;

  friend bool operator==(const Shape& a, const Shape& b) { return a.dims_ == b.dims_; }
  friend HORNGATE_API std::ostream& operator<<(std::ostream& out, const Shape& shape);

 private:
  Ints dims_;
};

/// Product of dimensions with overflow check; kUnknown if one is unknown (and none is zero).
HORNGATE_API int64_t checked_product(std::span<const int64_t> dims);

}  // namespace horngate
