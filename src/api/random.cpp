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

/// x * factor + offset
Tensor affine(const Tensor& x, double factor, double offset) {
  return prim::shift(prim::scale(x, factor), offset);
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

Tensor random_normal(const ShapeArg& shape, const RandomNormalOptions& o) {
  const CalledAs called(__func__);
  const SymShape dims = full_shape_of("random_normal", shape);
  const DType dtype = float_dtype("random_normal", o.dtype);
  const Tensor x =
      draw_numbers(attrs::random_normal{.dtype = dtype, .seed = seed_or_next(o.seed)}, dims);
  return affine(x, o.stddev, o.mean);
}

Tensor truncated_normal(const ShapeArg& shape, const RandomNormalOptions& o) {
  const CalledAs called(__func__);
  const SymShape dims = full_shape_of("truncated_normal", shape);
  const DType dtype = float_dtype("truncated_normal", o.dtype);
  const Tensor x = draw_numbers(
      attrs::random_truncated_normal{.dtype = dtype, .seed = seed_or_next(o.seed)}, dims);
  return affine(x, o.stddev, o.mean);
}

// Rounding may carry the sum up to maxval itself, which is outside the interval.
Tensor random_uniform(const ShapeArg& shape, const RandomUniformOptions& o) {
  const CalledAs called(__func__);
  const SymShape dims = full_shape_of("random_uniform", shape);
  const DType dtype = o.dtype.value_or(floatx());
  check<TypeError>(dtype != DType::bool_, "random_uniform", "dtype must be numeric; got bool.");
  check(o.minval <= o.maxval, "random_uniform", "minval must not be above maxval; got ", o.minval,
        " and ", o.maxval, ".");
  const DType drawn = is_float(dtype) ? dtype : DType::float64;
  const Tensor u =
      draw_numbers(attrs::random_uniform{.dtype = drawn, .seed = seed_or_next(o.seed)}, dims);
  const Tensor x = affine(u, o.maxval - o.minval, o.minval);
  if (!is_float(dtype)) {
    const double last = std::max(o.minval, std::ceil(o.maxval) - 1);
    return prim::cast(prim::minimum(prim::floor(x), prim::scalar(last, drawn)), dtype);
  }
  if (o.minval == 0.0 || o.minval == o.maxval) return x;
  const double last = last_below(o.maxval, dtype);
  return prim::minimum(x, prim::scalar(std::max(last, o.minval), dtype));
}

Tensor random_binomial(const ShapeArg& shape, const RandomBinomialOptions& o) {
  const CalledAs called(__func__);
  const SymShape dims = full_shape_of("random_binomial", shape);
  check(o.p >= 0.0 && o.p <= 1.0, "random_binomial", "p must be in [0, 1]; got ", o.p, ".");
  return draw_numbers(
      attrs::random_bernoulli{
          .dtype = o.dtype.value_or(floatx()), .seed = seed_or_next(o.seed), .p = o.p},
      dims);
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
