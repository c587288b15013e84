// Argument types that several functions share: axes, and shapes that may hold tensors.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "horngate/tensor.h"

namespace horngate {

/// An axis argument: unset (all axes), one, or several: {.axis = 1}, {.axis = {0, 2}}.
class Axis {
 public:
  Axis() = default;
  template <std::integral T>
  Axis(T axis) : axes_(Ints(1, static_cast<int64_t>(axis))) {}
  Axis(std::initializer_list<Int64Entry> axes) : axes_(Ints(axes)) {}
  Axis(Ints axes) : axes_(std::move(axes)) {}
  bool all() const { return !axes_; }
  const Ints& axes() const { return *axes_; }
  friend bool operator==(const Axis&, const Axis&) = default;

 private:
  std::optional<Ints> axes_;
};

/// Yes or no, and no number: K::sum(x, {0, 1}) would be read as two axes, and does not compile.
class Flag {
 public:
  template <std::same_as<bool> B>
  Flag(B value) : value_(value) {}
  operator bool() const { return value_; }

 private:
  bool value_;
};

/// A shape that may be left open: {.shape = {K::None, 784}}. `{}` leaves it open; a scalar is K::Shape{}.
class ShapeOption {
 public:
  ShapeOption() = default;
  ShapeOption(std::initializer_list<Dim> dims) : shape_(Shape(dims)) {}
  ShapeOption(Shape shape) : shape_(std::move(shape)) {}
  explicit operator bool() const { return shape_.has_value(); }
  const Shape& operator*() const { return *shape_; }
  const Shape* operator->() const { return &*shape_; }

 private:
  std::optional<Shape> shape_;
};

/// A shape in the graph: numbers, -1 or None (what reshape infers), scalar integer tensors, or one 1-D
/// integer tensor for the whole shape: K::reshape(x, {K::shape(y)[0], 20}).
class HORNGATE_API ShapeArg {
 public:
  class Entry {
   public:
    template <std::integral T>
    Entry(T n) : number(static_cast<int64_t>(n)) {}
    Entry(NoneType) : number(-1) {}
    Entry(Dim d) : number(d.known() ? d.value() : -1) {}
    Entry(Tensor t) : number(0), tensor(std::move(t)) {}
    int64_t number;
    Tensor tensor;  // if defined, the number does not count
  };
  ShapeArg() = default;
  ShapeArg(std::initializer_list<Entry> e) : entries(e) {}
  ShapeArg(std::vector<Entry> e) : entries(std::move(e)) {}
  ShapeArg(const Shape& shape);
  ShapeArg(const Ints& dims);
  ShapeArg(Tensor t) : whole(std::move(t)) {}

  std::vector<Entry> entries;
  Tensor whole;
};

}  // namespace horngate
