// Repeating: tile, repeat_elements, resizing; and sequences.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "api/args.h"
#include "api/shapes.h"
#include "horngate/config.h"
#include "horngate/ops/shape.h"
#include "prims/rules.h"

namespace horngate {
namespace {

enum class Repeat { whole, each };  // abab or aabb

/// x `factors[i]` times along axis i: each repeated axis gets a new one beside it, which is
/// broadcast and then merged with it. An axis of size 1 is broadcast itself.
Tensor repeated(const Tensor& x, const SymShape& factors, Repeat how) {
  if (std::all_of(factors.dims.begin(), factors.dims.end(), [](int64_t f) { return f == 1; }))
    return x;
  Ints added;
  SymShape spread;  // factors of the axes of x and of the added ones
  Tensors parts;
  const Tensor one = prim::constant(Array::of<int64_t>({1}));
  const auto push = [&](bool factor, size_t i) {
    const auto at = static_cast<int64_t>(i);
    spread.dims.push_back(factor ? factors.dims[i] : 1);
    if (factors.is_static()) return;
    parts.push_back(factor ? prim::slice_axis(factors.operand, 0, at, at + 1) : one);
  };
  for (size_t i = 0; i < x.ndim(); ++i) {
    if (factors.dims[i] == 1 || x.shape().dim(i) == 1) {
      push(factors.dims[i] != 1, i);
      continue;
    }
    const auto here = static_cast<int64_t>(spread.dims.size());
    added.push_back(how == Repeat::whole ? here : here + 1);
    push(how == Repeat::whole, i);
    push(how == Repeat::each, i);
  }
  if (!parts.empty()) spread.operand = prim::concat(parts, 0);
  const Tensor wide = prim::expand_dims(x, added);
  const Tensor filled = prim::broadcast(wide, scaled_shape(wide, spread));
  return added.empty() ? filled : prim::reshape(filled, one_inferred(scaled_shape(x, factors)));
}

/// Factors for some axes, 1 for the others.
SymShape factors_at(const Tensor& x, std::span<const int64_t> factors, size_t first) {
  SymShape result{Ints(x.ndim(), 1), {}};
  for (size_t i = 0; i < factors.size(); ++i) result.dims[first + i] = factors[i];
  return result;
}

void check_factor(std::string_view function, std::string_view argument, int64_t factor) {
  check(factor >= 1, function, argument, " must be at least 1; got ", factor, ".");
}

size_t spatial_axis(DataFormat data_format) {
  return data_format == DataFormat::channels_first ? 2 : 1;
}

/// x stretched along an axis: a straight line of `factor` steps from each element to the next;
/// constant after the last.
/// y[i * factor + k] = x[i] + (x[i + 1] - x[i]) * k / factor
Tensor stretch(const Tensor& x, int64_t axis, int64_t factor) {
  if (factor == 1) return x;
  const Tensor next = prim::concat(
      Tensors{prim::slice_axis(x, axis, 1, kToEnd), prim::slice_axis(x, axis, -1, kToEnd)}, axis);
  Ints dims(x.ndim() - static_cast<size_t>(axis), 1);
  dims[0] = factor;
  Array weights(DType::float64, dims);
  for (int64_t k = 0; k < factor; ++k)
    weights.data<double>()[k] = static_cast<double>(k) / static_cast<double>(factor);
  const Tensor weight = prim::constant(weights.cast(x.dtype()));
  const Tensor here = prim::expand_dims(x, {axis + 1});
  const Tensor rise = prim::sub(prim::expand_dims(next, {axis + 1}), here);
  const int64_t factors[] = {factor};
  return prim::reshape(
      prim::add(here, prim::mul(rise, weight)),
      one_inferred(scaled_shape(x, factors_at(x, factors, static_cast<size_t>(axis)))));
}

}  // namespace

Tensor repeat_elements(const Tensor& x, int64_t rep, int64_t axis) {
  const CalledAs called(__func__);
  const Tensor t = dense_operand("repeat_elements", x);
  axis = normalize_axis("repeat_elements", axis, t.shape());
  check(rep >= 0, "repeat_elements", "rep must be at least 0; got ", rep, ".");
  const int64_t factors[] = {rep};
  return own(called, repeated(t, factors_at(t, factors, static_cast<size_t>(axis)), Repeat::each));
}

Tensor repeat(const Tensor& x, int64_t n) {
  const CalledAs called(__func__);
  const Tensor t = prim::expand_dims(ranked_operand("repeat", x, 2), {1});
  check(n >= 0, "repeat", "n must be at least 0; got ", n, ".");
  const int64_t factors[] = {n};
  return repeated(t, factors_at(t, factors, 1), Repeat::whole);
}

Tensor tile(const Tensor& x, const ShapeArg& n) {
  const CalledAs called(__func__);
  const Tensor t = dense_operand("tile", x);
  SymShape factors = full_shape_of("tile", n, "n");
  check<NotImplementedError>(factors.dims.size() <= t.ndim(), "tile",
                             "n must have at most one entry per axis of x; got ",
                             factors.dims.size(), " for shape ", t.shape(), ".");
  const size_t missing = t.ndim() - factors.dims.size();
  if (missing == 0) return own(called, repeated(t, factors, Repeat::whole));
  Ints dims(missing, 1);
  for (int64_t f : factors.dims) dims.push_back(f);
  factors.dims = dims;
  if (factors.operand.defined()) {
    const Tensor one = prim::constant(Array::of<int64_t>({1}));
    Tensors parts(missing, one);
    parts.push_back(factors.operand);
    factors.operand = prim::concat(parts, 0);
  }
  return own(called, repeated(t, factors, Repeat::whole));
}

Tensor resize_images(const Tensor& x, int64_t height_factor, int64_t width_factor,
                     Choice<DataFormat> data_format, InterpolationChoice interpolation) {
  const CalledAs called(__func__);
  constexpr const char* kName = "resize_images";
  const Tensor t = ranked_operand(kName, x, 4);
  check_factor(kName, "height_factor", height_factor);
  check_factor(kName, "width_factor", width_factor);
  const size_t rows = spatial_axis(data_format);
  if (interpolation == Interpolation::nearest) {
    const int64_t factors[] = {height_factor, width_factor};
    return own(called, repeated(t, factors_at(t, factors, rows), Repeat::each));
  }
  const auto axis = static_cast<int64_t>(rows);
  const Tensor in = float_operand(kName, t), wide = prim::widened(in);
  const Tensor y = stretch(stretch(wide, axis + 1, width_factor), axis, height_factor);
  return own(called, prim::cast(y, in.dtype()));
}

Tensor resize_volumes(const Tensor& x, int64_t depth_factor, int64_t height_factor,
                      int64_t width_factor, Choice<DataFormat> data_format) {
  const CalledAs called(__func__);
  constexpr const char* kName = "resize_volumes";
  const Tensor t = ranked_operand(kName, x, 5);
  check_factor(kName, "depth_factor", depth_factor);
  check_factor(kName, "height_factor", height_factor);
  check_factor(kName, "width_factor", width_factor);
  const int64_t factors[] = {depth_factor, height_factor, width_factor};
  return own(called, repeated(t, factors_at(t, factors, spatial_axis(data_format)), Repeat::each));
}

namespace {

/// A sequence whose numbers are all known.
Tensor known_sequence(double start, double stop, double step, DType dtype) {
  check(step != 0 && std::isfinite(step) && std::isfinite(start) && std::isfinite(stop), "arange",
        "start, stop and step must be finite, and step not 0; got ", start, ", ", stop, " and ",
        step, ".");
  const double count = std::ceil((stop - start) / step);
  check(count < 9e18, "arange", "the range from ", start, " to ", stop, " in steps of ", step,
        " has too many numbers.");
  const int64_t n = count > 0 ? static_cast<int64_t>(count) : 0;
  const bool whole = start == std::trunc(start) && step == std::trunc(step);
  check(!whole || std::max(std::abs(start), std::abs(stop)) < 0x1p63, "arange",
        "start and stop must be below 2^63; got ", start, " and ", stop, ".");
  const DType work = whole ? DType::int64 : DType::float64;
  const Tensor steps = prim::mul(prim::iota(n, work), prim::scalar(step, work));
  return prim::cast(prim::add(steps, prim::scalar(start, work)), dtype);
}

/// An argument of arange as a scalar; integers are int64, so that they can be a length.
Tensor scalar_of(const Number& n, std::string_view argument) {
  const auto check_known = [&](double value) {
    const bool good = std::isfinite(value) && (value != 0 || argument != "step");
    check(good, "arange", "start, stop and step must be finite, and step not 0; got ", value,
          " for ", argument, ".");
  };
  const auto check_fits = [&](double value) {
    check(value < 0x1p63, "arange", argument, " must be below 2^63; got ", value, ".");
  };
  if (n.is_number()) {
    check_known(n.value());
    const bool whole = n.value() == std::trunc(n.value());
    if (whole) check_fits(n.value());
    return prim::scalar(n.value(), whole ? DType::int64 : DType::float64);
  }
  const Tensor t = numeric_operand("arange", n.tensor(), argument);
  const bool ok = t.ndim() == 0 || (t.ndim() == 1 && t.shape().dim(0) == 1);
  check(ok, "arange", argument, " must be a number or a scalar tensor; got shape ", t.shape(), ".");
  double known = 0;
  if (prim::is_scalar_constant(t, &known)) {
    check_known(known);
    if (!is_float(t.dtype())) check_fits(known);
  }
  const Tensor wide = prim::cast(t, is_float(t.dtype()) ? DType::float64 : DType::int64);
  return t.ndim() == 0 ? wide : prim::squeeze(wide, {0});
}

/// The dtype of a tensor among the arguments; unset for a number, which takes that of the other operand.
std::optional<DType> dtype_given(const Number& n) {
  if (n.is_number()) return {};
  return n.tensor().dtype() == DType::bool_ ? floatx() : n.tensor().dtype();
}

/// The dtype in which NumPy computes with two scalars, of integers too if one is of floats: float16 has all integers of 8
/// bits, float32 those of 16.
std::optional<DType> numpys(std::optional<DType> a, std::optional<DType> b) {
  if (!a || !b || a == b) return a ? a : b;
  if (!is_float(*a)) std::swap(a, b);
  if (!is_float(*a)) return size_of(*a) < size_of(*b) ? b : a;
  const bool is_8_bits = !is_float(*b) && size_of(*b) == 1;
  const bool keeps = is_8_bits || (is_float(*b) && size_of(*b) < size_of(*a));
  if (keeps) return a;
  const bool fits_float32 = size_of(*b) == 2 || (is_float(*b) && size_of(*b) == 4);
  return fits_float32 && *a != DType::float64 ? DType::float32 : DType::float64;
}

/// max(0, ceil((stop - start) / step)) as 1-D int64 with one element. `given`: the dtypes in which they came.
Tensor sequence_length(const Tensors& s, const std::array<std::optional<DType>, 3>& given) {
  // ceil(a / b) = -floor(-a / b). For floats the rounded quotient counts, as in NumPy: 1.5 / 0.3 is 5, although five
  // times 0.3 is below 1.5 in binary. Each operation rounds to the dtype that it has there: 0.3 / 0.1 is 3 in float32,
  // and more than that of the same numbers in float64.
  const auto in = [](const Tensor& t, std::optional<DType> dtype) {
    return prim::cast(t, dtype && is_float(*dtype) ? *dtype : t.dtype());
  };
  const std::optional<DType> both = numpys(given[0], given[1]), all = numpys(both, given[2]);
  Tensor steps;
  if (is_float(s[0].dtype())) {
    const Tensor distance = prim::sub(in(s[0], both), in(s[1], both));
    steps = prim::div(in(distance, all), in(s[2], all));
    if (steps.dtype() == DType::float16)  // where it is beyond them, NumPy fails
      steps =
          prim::select(prim::le(prim::abs(steps), prim::scalar(65504, DType::float16)),
                       prim::cast(steps, DType::float64), prim::div(prim::sub(s[0], s[1]), s[2]));
    steps = prim::floor(steps);
  } else {
    steps = prim::floordiv(prim::sub(s[0], s[1]), s[2]);
  }
  const Tensor count = prim::neg(steps);
  const Tensor n = prim::maximum(prim::cast(count, DType::int64), prim::scalar(0, DType::int64));
  return prim::expand_dims(n, {0});
}

}  // namespace

Tensor arange(const Number& start, const ArangeOptions& options) {
  const CalledAs called(__func__);
  check<TypeError>(!start.is_none(), "arange", "start must be a number or a tensor; got None.");
  check<TypeError>(!options.step.is_none(), "arange",
                   "step must be a number or a tensor; got None.");
  check<TypeError>(options.dtype != DType::bool_, "arange", "dtype must be numeric; got bool.");
  const bool only_stop = options.stop.is_none();
  const Number first = only_stop ? Number(0) : start, last = only_stop ? start : options.stop;
  if (first.is_number() && last.is_number() && options.step.is_number())
    return known_sequence(first.value(), last.value(), options.step.value(), options.dtype);
  Tensors s{scalar_of(first, "start"), scalar_of(last, only_stop ? "start" : "stop"),
            scalar_of(options.step, "step")};
  unify("arange", &s);
  const Tensor length =
      sequence_length(s, {dtype_given(first), dtype_given(last), dtype_given(options.step)});
  SymShape n{{}, length};
  prim::known_ints(length, &n.dims);
  if (!rules::from_operand(n.dims)) n.operand = {};
  const Tensor steps = prim::mul(prim::iota(n, s[0].dtype()), s[2]);
  return prim::cast(prim::add(steps, s[0]), options.dtype);
}

}  // namespace horngate
