// Random tensors and variables, and the seeds used if none is given.
#include "horngate/ops/random.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <random>

#include "api/args.h"
#include "api/draws.h"
#include "horngate/config.h"
#include "horngate/ops/variables.h"
#include "ir/fork.h"
#include "prims/bodies.h"

namespace horngate {
namespace {

/// The source of seeds that are not given: different in each process until set_random_seed.
struct Seeds {
  std::mt19937_64 engine{fresh_seed()};

  static uint64_t fresh_seed() {
    std::random_device device;
    return uint64_t{device()} << 32 | device();
  }
};

constinit std::mutex seeds_mutex;
const AtFork at_fork{seeds_mutex, ForkOrder::last};

// Under the mutex. Never destroyed: graphs may be built while the process ends.
Seeds& seeds() {
  static Seeds* const kSeeds = new Seeds;
  return *kSeeds;
}

DType float_dtype(std::string_view function, const std::optional<DType>& dtype) {
  const DType d = dtype.value_or(floatx());
  check<TypeError>(is_float(d), function, "dtype must be a float type; got ", d, ".");
  return d;
}

/// x * stddev + mean
Tensor normal(std::string_view function, const Tensor& x, const RandomNormalOptions& o) {
  if (o.mean.is_number() && o.stddev.is_number())
    return prim::shift(prim::scale(x, o.stddev.value()), o.mean.value());
  const Tensor stddev = parameter_of(function, o.stddev, x.dtype(), "stddev"),
               mean = parameter_of(function, o.mean, x.dtype(), "mean");
  check_broadcast(function, x, stddev);
  check_broadcast(function, x, mean);
  return prim::add(prim::mul(x, stddev), mean);
}

/// The largest number of a dtype that is below v.
double last_below(double v, DType dtype) {
  const double size = std::max(std::abs(v), 1e-30);
  for (int bits = 54; bits > 0; --bits) {
    const double c = Array::full(dtype, {}, v - std::ldexp(size, -bits)).item<double>();
    if (c < v) return c;
  }
  return v - size;
}

/// Integers are drawn as float64, which has all of them up to 2^53.
void check_exact(const Number& bound) {
  double value = bound.is_number() ? bound.value() : 0;
  if (!bound.is_number()) prim::is_scalar_constant(bound.tensor(), &value);
  check(std::abs(value) <= 0x1p53, "random_uniform",
        "minval and maxval must be within 2^53 of 0 for integers; got ", value, ".");
}

/// u in [0, 1) between bounds of which one at least is a tensor. What rounding carries up to maxval becomes minval.
Tensor between(const Tensor& u, const RandomUniformOptions& o, DType dtype) {
  const Tensor low = parameter_of("random_uniform", o.minval, u.dtype(), "minval"),
               high = parameter_of("random_uniform", o.maxval, u.dtype(), "maxval");
  check_broadcast("random_uniform", u, low);
  check_broadcast("random_uniform", u, high);
  Tensor x = prim::add(prim::mul(u, prim::sub(high, low)), low);
  if (!is_float(dtype)) x = prim::floor(x);
  return prim::cast(prim::select(prim::lt(x, high), x, low), dtype);
}

Variable variable_of(const Tensor& value, const RandomVariableOptions& o) {
  return variable(initial_value(value), {.dtype = value.dtype(), .name = o.name});
}

}  // namespace

int64_t seed_or_next(const std::optional<int64_t>& seed) {
  if (seed) return *seed;
  const std::lock_guard lock(seeds_mutex);
  return static_cast<int64_t>(seeds().engine() >> 1);
}

void set_random_seed(uint64_t seed) {
  const std::lock_guard lock(seeds_mutex);
  seeds().engine.seed(seed);
}

Tensor draw_operand() {
  const Tensor draw = emit(attrs::draw{.state = make_ref<DrawState>()}, {});
  const Tensor step = current_step();
  if (!step.defined()) return draw;
  const Tensors parts{prim::constant(Array::of<uint64_t>({0})),
                      prim::expand_dims(prim::cast(step, DType::uint64), {0})};
  return prim::add(draw, prim::concat(parts, 0));
}

Tensor draw_flags(std::string_view function, const Tensor& p, DType dtype, int64_t seed,
                  const SymShape& shape) {
  const Tensor u =
      draw_numbers(attrs::random_uniform{.dtype = DType::float32, .seed = seed}, shape);
  check_broadcast(function, u, p);
  return prim::cast(prim::lt(u, prim::cast(p, DType::float32)), dtype);
}

Tensor random_normal(const ShapeArg& shape, const RandomNormalOptions& o) {
  const CalledAs called(__func__);
  const SymShape dims = full_shape_of("random_normal", shape);
  const DType dtype = float_dtype("random_normal", o.dtype);
  const Tensor x =
      draw_numbers(attrs::random_normal{.dtype = dtype, .seed = seed_or_next(o.seed)}, dims);
  return normal("random_normal", x, o);
}

Tensor truncated_normal(const ShapeArg& shape, const RandomNormalOptions& o) {
  const CalledAs called(__func__);
  const SymShape dims = full_shape_of("truncated_normal", shape);
  const DType dtype = float_dtype("truncated_normal", o.dtype);
  const Tensor x = draw_numbers(
      attrs::random_truncated_normal{.dtype = dtype, .seed = seed_or_next(o.seed)}, dims);
  return normal("truncated_normal", x, o);
}

// Rounding may carry the sum up to maxval itself, which is outside the interval.
Tensor random_uniform(const ShapeArg& shape, const RandomUniformOptions& o) {
  const CalledAs called(__func__);
  const SymShape dims = full_shape_of("random_uniform", shape);
  const DType dtype = o.dtype.value_or(floatx());
  check<TypeError>(dtype != DType::bool_, "random_uniform", "dtype must be numeric; got bool.");
  if (!is_float(dtype))
    for (const Number* bound : {&o.minval, &o.maxval}) check_exact(*bound);
  const DType drawn = is_float(dtype) ? dtype : DType::float64;
  const Tensor u =
      draw_numbers(attrs::random_uniform{.dtype = drawn, .seed = seed_or_next(o.seed)}, dims);
  if (!o.minval.is_number() || !o.maxval.is_number()) return between(u, o, dtype);
  const double low = o.minval.value(), high = o.maxval.value();
  check(low <= high, "random_uniform", "minval must not be above maxval; got ", low, " and ", high,
        ".");
  check(std::isfinite(Array::full(drawn, {}, high - low).item<double>()), "random_uniform",
        "maxval - minval must be a finite number of dtype ", drawn, "; got ", low, " and ", high,
        ".");
  const Tensor x = prim::shift(prim::scale(u, high - low), low);
  if (!is_float(dtype)) {
    const double last = std::max(low, std::ceil(high) - 1);
    return prim::cast(prim::minimum(prim::floor(x), prim::scalar(last, drawn)), dtype);
  }
  if (low == 0.0 || low == high) return x;
  return prim::minimum(x, prim::scalar(std::max(last_below(high, dtype), low), dtype));
}

Tensor random_binomial(const ShapeArg& shape, const RandomBinomialOptions& o) {
  const CalledAs called(__func__);
  const SymShape dims = full_shape_of("random_binomial", shape);
  const DType dtype = o.dtype.value_or(floatx());
  const int64_t seed = seed_or_next(o.seed);
  if (!o.p.is_number()) {
    const Tensor p = parameter_of("random_binomial", o.p, DType::float32, "p");
    return draw_flags("random_binomial", p, dtype, seed, dims);
  }
  const double p = o.p.value();
  check(p >= 0.0 && p <= 1.0, "random_binomial", "p must be in [0, 1]; got ", p, ".");
  return draw_numbers(attrs::random_bernoulli{.dtype = dtype, .seed = seed, .p = p}, dims);
}

Variable random_uniform_variable(const Shape& shape, double low, double high,
                                 const RandomVariableOptions& o) {
  const CalledAs called(__func__);
  return variable_of(
      random_uniform(shape, {.minval = low,
                             .maxval = high,
                             .dtype = float_dtype("random_uniform_variable", o.dtype),
                             .seed = o.seed}),
      o);
}

Variable random_normal_variable(const Shape& shape, double mean, double scale,
                                const RandomVariableOptions& o) {
  const CalledAs called(__func__);
  return variable_of(random_normal(shape, {.mean = mean,
                                           .stddev = scale,
                                           .dtype = float_dtype("random_normal_variable", o.dtype),
                                           .seed = o.seed}),
                     o);
}

}  // namespace horngate
