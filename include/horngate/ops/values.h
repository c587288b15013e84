// zeros, ones and the like; shape, rank, dtype and size of a tensor.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "horngate/args.h"
#include "horngate/config.h"
#include "horngate/ops/variables.h"
#include "horngate/options.h"

namespace horngate {

struct FillOptions {
  DTypeChoice dtype = {};  // unset: floatx, or the dtype of x
  std::string name = {};
};

/// A variable full of zeros; a plain tensor if part of the shape is a tensor.
/// Example: K::Variable w = K::zeros({784, 10});
[[nodiscard]] HORNGATE_API Variable zeros(const Shape& shape, const FillOptions& options = {});
[[nodiscard]] HORNGATE_API Tensor zeros(const ShapeArg& shape, const FillOptions& options = {});

/// A variable full of ones; a plain tensor if part of the shape is a tensor.
/// Example: K::Variable w = K::ones({784, 10});
[[nodiscard]] HORNGATE_API Variable ones(const Shape& shape, const FillOptions& options = {});
[[nodiscard]] HORNGATE_API Tensor ones(const ShapeArg& shape, const FillOptions& options = {});

// K::zeros({784, 10}) prefers a list of dimensions to other shapes; K::zeros(5) has one axis.
[[nodiscard]] inline Variable zeros(std::initializer_list<Dim> shape,
                                    const FillOptions& options = {}) {
  return zeros(Shape(shape), options);
}
[[nodiscard]] inline Variable ones(std::initializer_list<Dim> shape,
                                   const FillOptions& options = {}) {
  return ones(Shape(shape), options);
}
[[nodiscard]] inline Variable zeros(std::integral auto shape, const FillOptions& options = {}) {
  return zeros(Shape{shape}, options);
}
[[nodiscard]] inline Variable ones(std::integral auto shape, const FillOptions& options = {}) {
  return ones(Shape{shape}, options);
}

/// Rows and columns of a matrix; one number makes it square.
class MatrixSize {
 public:
  template <std::integral T>
  MatrixSize(T n) : MatrixSize(n, n) {}
  template <std::integral T, std::integral U>
  MatrixSize(T r, U c) : rows(static_cast<int64_t>(r)), cols(static_cast<int64_t>(c)) {}
  int64_t rows, cols;
};

/// A variable with ones on the main diagonal and zeros elsewhere.
/// Example: K::eye(3); K::eye({2, 3});
[[nodiscard]] HORNGATE_API Variable eye(const MatrixSize& size, const FillOptions& options = {});

/// Zeros in the shape of x, and in its dtype unless another is given.
/// Example: K::zeros_like(x, {.dtype = K::DType::bool_});
[[nodiscard]] HORNGATE_API Tensor zeros_like(const Tensor& x, const FillOptions& options = {});

/// Ones in the shape of x, and in its dtype unless another is given.
/// Example: K::ones_like(x);
[[nodiscard]] HORNGATE_API Tensor ones_like(const Tensor& x, const FillOptions& options = {});

/// An array in floatx.
/// Example: auto values = K::cast_to_floatx(K::Array(0.5));
[[nodiscard]] inline Array cast_to_floatx(const Array& x) { return x.cast(floatx()); }

/// A new tensor with the value of x; inside control_dependencies, with its value after the updates.
/// Example: y = K::identity(x, "y");
[[nodiscard]] HORNGATE_API Tensor identity(const Tensor& x, std::string_view name = {});

/// The shape of x as a 1-D int32 tensor, even if it is known only in a call. (int64 if a known
/// dimension needs it.)
/// Example: batch = K::index(K::shape(x), 0);
[[nodiscard]] HORNGATE_API Tensor shape(const Tensor& x);

/// The shape of x as known now, with None where unknown.
/// Example: K::int_shape(x) == K::Shape{K::None, 784};
[[nodiscard]] HORNGATE_API Shape int_shape(const Tensor& x);

/// The number of axes.
/// Example: K::ndim(x) == 2;
[[nodiscard]] HORNGATE_API int64_t ndim(const Tensor& x);

/// The number of elements as a scalar int32 tensor, even if it is known only in a call. (int64 if a
/// known size needs it.)
/// Example: n = K::size(x);
[[nodiscard]] HORNGATE_API Tensor size(const Tensor& x, std::string_view name = {});

/// The element type; name_of gives Keras' string for it.
/// Example: K::dtype(x) == K::DType::float32;
[[nodiscard]] HORNGATE_API DType dtype(const Tensor& x);

/// The number of elements of a tensor whose shape is known.
/// Example: K::count_params(w) == 7840;
[[nodiscard]] HORNGATE_API int64_t count_params(const Tensor& x);

}  // namespace horngate
