// Random tensors and variables. The numbers depend only on the seed and on how often the function
// was called: not on engine, CPU or threads.
#pragma once

#include <optional>
#include <string>

#include "horngate/args.h"
#include "horngate/ops/elementwise.h"
#include "horngate/options.h"
#include "horngate/tensor.h"

namespace horngate {

struct RandomNormalOptions {
  Number mean = 0.0;  // numbers, or tensors that broadcast to the shape, here and below
  Number stddev = 1.0;
  DTypeChoice dtype = {};            // unset: floatx()
  std::optional<int64_t> seed = {};  // unset: a different one for each tensor
};

/// Normally distributed numbers, new ones at each evaluation.
/// Example: x = K::random_normal({2, 3}, {.stddev = 0.1, .seed = 1});
[[nodiscard]] HORNGATE_API Tensor random_normal(const ShapeArg& shape,
                                                const RandomNormalOptions& options = {});

/// Normally distributed numbers; those more than 2 * stddev from the mean are drawn again.
/// Example: x = K::truncated_normal({2, 3}, {.stddev = 0.05});
[[nodiscard]] HORNGATE_API Tensor truncated_normal(const ShapeArg& shape,
                                                   const RandomNormalOptions& options = {});

struct RandomUniformOptions {
  Number minval = 0.0;
  Number maxval = 1.0;
  DTypeChoice dtype = {};  // an integer type gives integers in [minval, maxval)
  std::optional<int64_t> seed = {};
};

/// Numbers in [minval, maxval), all equally likely.
/// Example: x = K::random_uniform(K::shape(y), {.minval = -1});
[[nodiscard]] HORNGATE_API Tensor random_uniform(const ShapeArg& shape,
                                                 const RandomUniformOptions& options = {});

struct RandomBinomialOptions {
  Number p = 0.0;
  DTypeChoice dtype = {};
  std::optional<int64_t> seed = {};
};

/// 1 with probability p, else 0.
/// Example: mask = K::random_binomial({2, 3}, {.p = 0.5});
[[nodiscard]] HORNGATE_API Tensor random_binomial(const ShapeArg& shape,
                                                  const RandomBinomialOptions& options = {});

struct RandomVariableOptions {
  DTypeChoice dtype = {};
  std::string name = {};
  std::optional<int64_t> seed = {};
};

/// A variable that starts with uniformly distributed numbers in [low, high).
/// Example: w = K::random_uniform_variable({2, 3}, 0, 1, {.name = "w"});
[[nodiscard]] HORNGATE_API Variable random_uniform_variable(
    const Shape& shape, double low, double high, const RandomVariableOptions& options = {});

/// A variable that starts with normally distributed numbers; scale is the standard deviation.
/// Example: w = K::random_normal_variable({2, 3}, 0, 1, {.seed = 7});
[[nodiscard]] HORNGATE_API Variable random_normal_variable(
    const Shape& shape, double mean, double scale, const RandomVariableOptions& options = {});

/// Makes unset seeds repeatable from now on, in the order in which they are taken.
/// Example: K::set_random_seed(1337);
HORNGATE_API void set_random_seed(uint64_t seed);

}  // namespace horngate
