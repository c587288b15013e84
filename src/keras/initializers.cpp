// First values of weights.
#include <atomic>
#include <cmath>
#include <memory>

#include "horngate/function.h"
#include "horngate/ops/random.h"
#include "keras/custom.h"
#include "keras/fields.h"
#include "keras/names.h"

namespace horngate::keras {

template <class V>
void fields(V& v, Like<RandomNormalInitializerOptions> auto& o) {
  v("mean", o.mean), v("stddev", o.stddev), v("seed", o.seed);
}
template <class V>
void fields(V& v, Like<RandomUniformInitializerOptions> auto& o) {
  v("minval", o.minval), v("maxval", o.maxval), v("seed", o.seed);
}
template <class V>
void fields(V& v, Like<VarianceScalingOptions> auto& o) {
  v("scale", o.scale), v("mode", o.mode), v("distribution", o.distribution), v("seed", o.seed);
}
namespace {

/// A seed that goes up by one at each use, so that two weights differ.
class Seed {
 public:
  explicit Seed(std::optional<int64_t> first)
      : next_(first ? std::make_shared<std::atomic<int64_t>>(*first) : nullptr) {}
  std::optional<int64_t> operator()() const {
    return next_ ? std::optional<int64_t>(next_->fetch_add(1)) : std::nullopt;
  }

 private:
  std::shared_ptr<std::atomic<int64_t>> next_;
};

struct ConstantArguments {
  double value = 0;
};
template <class V>
void fields(V& v, Like<ConstantArguments> auto& o) {
  v("value", o.value);
}
struct OrthogonalArguments {
  double gain = 1;
  std::optional<int64_t> seed;
};
template <class V>
void fields(V& v, Like<OrthogonalArguments> auto& o) {
  v("gain", o.gain), v("seed", o.seed);
}
struct IdentityArguments {
  double gain = 1;
};
template <class V>
void fields(V& v, Like<IdentityArguments> auto& o) {
  v("gain", o.gain);
}

Initializer constant_of(const char* class_name, Json config, double value) {
  return {class_config(class_name, std::move(config)), [value](const Shape& shape, DType dtype) {
            return Array::full(dtype, shape.dims(), value);
          }};
}

/// Connections into and out of one unit, as the layer sees them.
std::pair<double, double> fans_of(const Shape& shape) {
  const size_t n = shape.ndim();
  double field = 1;
  for (size_t i = 0; i + 2 < n; ++i) field *= static_cast<double>(shape.dim(i));
  if (n >= 2 && n <= 5)
    return {field * static_cast<double>(shape.dim(n - 2)),
            field * static_cast<double>(shape.dim(n - 1))};
  const double root = std::sqrt(static_cast<double>(shape.size()));
  return {root, root};
}

/// Makes the rows of a (n <= columns of it) orthonormal, first to last; twice, so that nothing is left of the others.
void orthonormalise(double* a, int64_t n, int64_t columns) {
  for (int64_t i = 0; i < n; ++i) {
    double* row = a + i * columns;
    for (int turn = 0; turn < 2; ++turn) {
      for (int64_t j = 0; j < i; ++j) {
        const double* other = a + j * columns;
        double dot = 0;
        for (int64_t k = 0; k < columns; ++k) dot += row[k] * other[k];
        for (int64_t k = 0; k < columns; ++k) row[k] -= dot * other[k];
      }
      double norm = 0;
      for (int64_t k = 0; k < columns; ++k) norm += row[k] * row[k];
      norm = std::sqrt(norm);
      for (int64_t k = 0; k < columns; ++k) row[k] /= norm;
    }
  }
}

Array orthogonal(const Shape& shape, DType dtype, double gain, std::optional<int64_t> seed) {
  if (shape.ndim() < 2)
    throw ValueError("Orthogonal: a weight must have at least 2 dimensions; got " + shape.str() +
                     ".");
  const int64_t columns = shape.dim(shape.ndim() - 1), size = shape.size();
  const int64_t rows = columns ? size / columns : 0, few = std::min(rows, columns),
                many = std::max(rows, columns);
  const Array a = eval(random_normal({few, many}, {.dtype = DType::float64, .seed = seed}));
  double* from = a.data<double>();
  orthonormalise(from, few, many);
  Array result(DType::float64, shape.dims());
  double* to = result.data<double>();
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      to[i * columns + j] = gain * (rows <= columns ? from[i * many + j] : from[j * many + i]);
  return result.cast(dtype);
}

Array identity(const Shape& shape, DType dtype, double gain) {
  if (shape.ndim() != 2)
    throw ValueError("Identity: a weight must have 2 dimensions; got " + shape.str() + ".");
  const Array result = Array::zeros(DType::float64, shape.dims());
  for (int64_t i = 0; i < std::min(shape.dim(0), shape.dim(1)); ++i)
    result.data<double>()[i * shape.dim(1) + i] = gain;
  return result.cast(dtype);
}

Array scaled(const VarianceScalingOptions& o, const Shape& shape, DType dtype,
             std::optional<int64_t> seed) {
  const auto [in, out] = fans_of(shape);
  const double fan = o.mode == "fan_in" ? in : o.mode == "fan_out" ? out : (in + out) / 2;
  const double scale = o.scale / std::max(1.0, fan);
  if (o.distribution == "uniform") {
    const double limit = std::sqrt(3 * scale);
    return eval(
        random_uniform(shape, {.minval = -limit, .maxval = limit, .dtype = dtype, .seed = seed}));
  }
  constexpr double kSpreadOfTruncated = .87962566103423978;
  return eval(truncated_normal(
      shape, {.stddev = std::sqrt(scale) / kSpreadOfTruncated, .dtype = dtype, .seed = seed}));
}

void check_one_of(const char* what, const std::string& got,
                  std::initializer_list<const char*> allowed) {
  if (std::find(allowed.begin(), allowed.end(), got) == allowed.end())
    unknown_name("VarianceScaling", what, got, listed(allowed, "\""));
}

}  // namespace

Initializer Zeros() { return constant_of("Zeros", Json::Object(), 0); }
Initializer Ones() { return constant_of("Ones", Json::Object(), 1); }
Initializer Constant(double value) {
  return constant_of("Constant", config_of(ConstantArguments{value}), value);
}

Initializer RandomNormal(const RandomNormalInitializerOptions& o) {
  return {class_config("RandomNormal", config_of(o)),
          [o, seed = Seed(o.seed)](const Shape& shape, DType dtype) {
            return eval(random_normal(
                shape, {.mean = o.mean, .stddev = o.stddev, .dtype = dtype, .seed = seed()}));
          }};
}
Initializer TruncatedNormal(const RandomNormalInitializerOptions& o) {
  return {class_config("TruncatedNormal", config_of(o)),
          [o, seed = Seed(o.seed)](const Shape& shape, DType dtype) {
            return eval(truncated_normal(
                shape, {.mean = o.mean, .stddev = o.stddev, .dtype = dtype, .seed = seed()}));
          }};
}
Initializer RandomUniform(const RandomUniformInitializerOptions& o) {
  return {class_config("RandomUniform", config_of(o)),
          [o, seed = Seed(o.seed)](const Shape& shape, DType dtype) {
            return eval(random_uniform(
                shape, {.minval = o.minval, .maxval = o.maxval, .dtype = dtype, .seed = seed()}));
          }};
}
Initializer VarianceScaling(const VarianceScalingOptions& o) {
  if (!(o.scale > 0))
    throw ValueError("VarianceScaling: scale must be above 0; got " + std::to_string(o.scale) +
                     ".");
  check_one_of("mode", o.mode, {"fan_in", "fan_out", "fan_avg"});
  check_one_of("distribution", o.distribution, {"normal", "uniform", "truncated_normal"});
  return {class_config("VarianceScaling", config_of(o)),
          [o, seed = Seed(o.seed)](const Shape& shape, DType dtype) {
            return scaled(o, shape, dtype, seed());
          }};
}
Initializer Orthogonal(double gain, std::optional<int64_t> seed) {
  return {class_config("Orthogonal", config_of(OrthogonalArguments{gain, seed})),
          [gain, next = Seed(seed)](const Shape& shape, DType dtype) {
            return orthogonal(shape, dtype, gain, next());
          }};
}
Initializer Identity(double gain) {
  return {class_config("Identity", config_of(IdentityArguments{gain})),
          [gain](const Shape& shape, DType dtype) { return identity(shape, dtype, gain); }};
}

namespace {
Initializer scaling(double scale, const char* mode, const char* distribution,
                    std::optional<int64_t> seed) {
  return VarianceScaling(
      {.scale = scale, .mode = mode, .distribution = distribution, .seed = seed});
}
}  // namespace

Initializer lecun_uniform(std::optional<int64_t> seed) {
  return scaling(1, "fan_in", "uniform", seed);
}
Initializer lecun_normal(std::optional<int64_t> seed) {
  return scaling(1, "fan_in", "normal", seed);
}
Initializer glorot_uniform(std::optional<int64_t> seed) {
  return scaling(1, "fan_avg", "uniform", seed);
}
Initializer glorot_normal(std::optional<int64_t> seed) {
  return scaling(1, "fan_avg", "normal", seed);
}
Initializer he_uniform(std::optional<int64_t> seed) {
  return scaling(2, "fan_in", "uniform", seed);
}
Initializer he_normal(std::optional<int64_t> seed) { return scaling(2, "fan_in", "normal", seed); }

namespace {

Initializer of_keras(const NamedConfig& given, const std::string& where) {
  const Json& c = given.config;
  using Normal = RandomNormalInitializerOptions;
  using Scaling = VarianceScalingOptions;
  if (given.is({"Zeros", "zeros", "zero"})) return Zeros();
  if (given.is({"Ones", "ones", "one"})) return Ones();
  if (given.is({"Constant", "constant"}))
    return Constant(options_from<ConstantArguments>(c, where).value);
  if (given.is({"RandomNormal", "random_normal", "normal"}))
    return RandomNormal(options_from<Normal>(c, where));
  if (given.is({"TruncatedNormal", "truncated_normal"}))
    return TruncatedNormal(options_from<Normal>(c, where));
  if (given.is({"RandomUniform", "random_uniform", "uniform"}))
    return RandomUniform(options_from<RandomUniformInitializerOptions>(c, where));
  if (given.is({"VarianceScaling"})) return VarianceScaling(options_from<Scaling>(c, where));
  if (given.is({"Orthogonal", "orthogonal"})) {
    const auto o = options_from<OrthogonalArguments>(c, where);
    return Orthogonal(o.gain, o.seed);
  }
  if (given.is({"Identity", "identity"}))
    return Identity(options_from<IdentityArguments>(c, where).gain);
  const auto seed = options_from<OrthogonalArguments>(c, where).seed;
  if (given.is({"lecun_uniform", "LecunUniform"})) return lecun_uniform(seed);
  if (given.is({"lecun_normal", "LecunNormal"})) return lecun_normal(seed);
  if (given.is({"glorot_uniform", "GlorotUniform"})) return glorot_uniform(seed);
  if (given.is({"glorot_normal", "GlorotNormal"})) return glorot_normal(seed);
  if (given.is({"he_uniform", "HeUniform"})) return he_uniform(seed);
  if (given.is({"he_normal", "HeNormal"})) return he_normal(seed);
  unknown_name(where, "initializer", given.name,
               "Zeros, Ones, Constant, RandomNormal, RandomUniform, TruncatedNormal, "
               "VarianceScaling, Orthogonal, "
               "Identity, lecun_uniform, lecun_normal, glorot_uniform, glorot_normal, he_uniform, "
               "he_normal",
               custom_hint("custom_initializers"));
}

}  // namespace

Initializer::Initializer(const char* name)
    : Initializer(of_keras({name, "initializer"}, "initializer")) {}

Initializer::Initializer(const std::string& name, Call call)
    : Named(own_name(kClassName, name, is_of_keras(of_keras, name)), std::move(call)) {}

Initializer Initializer::from(const Json& j, const std::string& where) {
  if (j.is_null()) return {};
  const NamedConfig given(j, where);
  if (const auto own = custom_named(&LoadOptions::custom_initializers, j, given)) return *own;
  return of_keras(given, where);
}

}  // namespace horngate::keras
