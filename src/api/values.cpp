// zeros, ones and the like; shape, rank, dtype and size of a tensor.
#include "horngate/ops/values.h"

#include <algorithm>
#include <limits>

#include "api/args.h"
#include "horngate/config.h"
#include "ir/scope.h"

namespace horngate {
namespace {

/// The same value under the user's name.
Tensor named(const Tensor& t, std::string_view name) {
  return name.empty() ? t : emit(attrs::after{}, {t}, {}, unique_name(name));
}

Tensor filled(std::string_view function, const ShapeArg& shape, double value,
              const FillOptions& options) {
  const SymShape dims = full_shape_of(function, shape);
  const DType dtype = options.dtype.value_or(floatx());
  if (!dims.is_static()) return named(prim::full(dims, value, dtype), options.name);
  return variable(Array::full(dtype, dims.dims, value), {.name = options.name});
}

Tensor filled_like(std::string_view function, const Tensor& x, double value,
                   const FillOptions& options) {
  const Tensor t = dense_operand(function, x);
  const DType dtype = options.dtype.value_or(t.dtype());
  return named(prim::full(prim::sym_shape(t), value, dtype), options.name);
}

void check_defined(std::string_view function, const Tensor& x) {
  check<TypeError>(x.defined(), function, "x must be a tensor; got an empty one.");
}

/// Keras users expect int32; int64 is only used for numbers that int32 cannot hold.
DType count_dtype(int64_t largest) {
  return largest > std::numeric_limits<int32_t>::max() ? DType::int64 : DType::int32;
}

}  // namespace

Tensor zeros(const ShapeArg& shape, const FillOptions& options) {
  const CalledAs called(__func__);
  return filled("zeros", shape, 0.0, options);
}
Variable zeros(const Shape& shape, const FillOptions& options) {
  return Variable(zeros(ShapeArg(shape), options));
}
Tensor ones(const ShapeArg& shape, const FillOptions& options) {
  const CalledAs called(__func__);
  return filled("ones", shape, 1.0, options);
}
Variable ones(const Shape& shape, const FillOptions& options) {
  return Variable(ones(ShapeArg(shape), options));
}

Variable eye(const MatrixSize& size, const FillOptions& options) {
  const CalledAs called(__func__);
  check(size.rows >= 0 && size.cols >= 0, "eye", "size must be at least 0; got ",
        Ints{size.rows, size.cols}, ".");
  Array matrix = Array::zeros(DType::uint8, {size.rows, size.cols});
  for (int64_t i = 0; i < std::min(size.rows, size.cols); ++i)
    matrix.data<uint8_t>()[i * size.cols + i] = 1;
  const DType dtype = options.dtype.value_or(floatx());
  return variable(matrix.cast(dtype), {.dtype = dtype, .name = options.name});
}

Tensor zeros_like(const Tensor& x, const FillOptions& options) {
  const CalledAs called(__func__);
  return filled_like("zeros_like", x, 0.0, options);
}
Tensor ones_like(const Tensor& x, const FillOptions& options) {
  const CalledAs called(__func__);
  return filled_like("ones_like", x, 1.0, options);
}

Tensor identity(const Tensor& x, std::string_view name) {
  const CalledAs called(__func__);
  check_defined("identity", x);
  SmallVec<Tensor, 2> in{x};
  for (const Tensor& update : control_updates()) in.push_back(update);
  return emit(attrs::after{}, std::move(in), {}, name.empty() ? std::string() : unique_name(name));
}

Tensor shape(const Tensor& x) {
  const CalledAs called(__func__);
  check_defined("shape", x);
  int64_t largest = 0;
  for (int64_t d : x.shape().dims()) largest = std::max(largest, d);
  return prim::cast(prim::shape_of(x), count_dtype(largest));
}

Shape int_shape(const Tensor& x) {
  check_defined("int_shape", x);
  return x.shape();
}

int64_t ndim(const Tensor& x) {
  check_defined("ndim", x);
  return static_cast<int64_t>(x.ndim());
}

Tensor size(const Tensor& x, std::string_view name) {
  const CalledAs called(__func__);
  check_defined("size", x);
  if (!x.shape().is_static()) return named(prim::count(x, prim::all_axes(x), DType::int32), name);
  const int64_t n = x.shape().size();
  return named(prim::constant(Array(n).cast(count_dtype(n))), name);
}

DType dtype(const Tensor& x) {
  check_defined("dtype", x);
  return x.dtype();
}

int64_t count_params(const Tensor& x) {
  check_defined("count_params", x);
  check(x.shape().is_static(), "count_params", "x must have a known shape; got ", x.shape(), ".");
  return x.shape().size();
}

}  // namespace horngate
