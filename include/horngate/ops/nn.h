// Neural networks: activations, losses, dropout, bias and batch normalisation.
#pragma once

#include <optional>

#include "horngate/args.h"
#include "horngate/ops/elementwise.h"
#include "horngate/options.h"
#include "horngate/tensor.h"

namespace horngate {

struct ReluOptions {
  Number alpha = 0.0;       // slope below the threshold
  Number max_value = None;  // upper limit; None: none
  double threshold = 0.0;   // values up to this do not pass
};

/// Rectified linear unit: x above the threshold, up to max_value; alpha * (x - threshold) below.
/// Example: y = K::relu(x, {.alpha = 0.1, .max_value = 6});
[[nodiscard]] HORNGATE_API Tensor relu(const Tensor& x, const ReluOptions& options = {});

/// Exponential linear unit: x where it is positive, alpha * (exp(x) - 1) elsewhere.
/// Example: y = K::elu(x, 0.5);
[[nodiscard]] HORNGATE_API Tensor elu(const Tensor& x, const Number& alpha = 1.0);

/// Exponentials, scaled to sum to 1 along an axis.
/// Example: y = K::softmax(x, 1);
[[nodiscard]] HORNGATE_API Tensor softmax(const Tensor& x, int64_t axis = -1);

/// log(1 + exp(x)), without overflow.
/// Example: y = K::softplus(x);
[[nodiscard]] HORNGATE_API Tensor softplus(const Tensor& x);

/// x / (1 + |x|).
/// Example: y = K::softsign(x);
[[nodiscard]] HORNGATE_API Tensor softsign(const Tensor& x);

/// 1 / (1 + exp(-x)).
/// Example: y = K::sigmoid(x);
[[nodiscard]] HORNGATE_API Tensor sigmoid(const Tensor& x);

/// 0.2 * x + 0.5, limited to [0, 1]: cheaper than sigmoid.
/// Example: y = K::hard_sigmoid(x);
[[nodiscard]] HORNGATE_API Tensor hard_sigmoid(const Tensor& x);

/// Hyperbolic tangent.
/// Example: y = K::tanh(x);
[[nodiscard]] HORNGATE_API Tensor tanh(const Tensor& x);

struct CrossentropyOptions {
  bool from_logits = false;  // output is the argument of softmax, not its result
  int64_t axis = -1;         // the axis of the classes
};

/// Cross-entropy of two distributions over classes; sums over the axis of the classes.
/// @param target  probabilities, in the shape of output
/// @param output  probabilities; scaled to sum to 1, then kept epsilon() away from 0 and 1
/// Example: loss = K::categorical_crossentropy(t, K::softmax(x));
[[nodiscard]] HORNGATE_API Tensor categorical_crossentropy(const Tensor& target,
                                                           const Tensor& output,
                                                           const CrossentropyOptions& options = {});

/// The same with class numbers as the target: one per distribution, in any shape of that size. The
/// loss is NaN for a number that is not a class.
/// Example: loss = K::sparse_categorical_crossentropy(labels, logits, {.from_logits = true});
[[nodiscard]] HORNGATE_API Tensor sparse_categorical_crossentropy(
    const Tensor& target, const Tensor& output, const CrossentropyOptions& options = {});

/// Cross-entropy of two-class probabilities, element by element; nothing is summed.
/// @param output  probabilities, kept epsilon() away from 0 and 1; or logits for sigmoid
/// Example: loss = K::binary_crossentropy(t, K::sigmoid(x));
[[nodiscard]] HORNGATE_API Tensor binary_crossentropy(const Tensor& target, const Tensor& output,
                                                      bool from_logits = false);

struct DropoutOptions {
  ShapeArg noise_shape = {};         // shape of the flags, None as in x; unset: that of x
  std::optional<int64_t> seed = {};  // unset: a different one for each call of dropout
};

/// Zeroes a fraction `level` (number or tensor) of the entries at random and scales the others by 1 / (1 - level), in
/// both phases; use in_train_phase to choose.
/// Example: y = K::dropout(x, 0.5, {.noise_shape = {K::None, 1, 1, K::None}});
[[nodiscard]] HORNGATE_API Tensor dropout(const Tensor& x, const Number& level,
                                          const DropoutOptions& options = {});

/// x divided by its Euclidean norm along one or more axes; along all of them if unset.
/// Example: y = K::l2_normalize(x, 1);
[[nodiscard]] HORNGATE_API Tensor l2_normalize(const Tensor& x, const Axis& axis = {});

/// Whether predictions[i, targets[i]] is among the k largest of row i; ties count as in.
/// @param predictions  (samples, classes)
/// @param targets      (samples), integers
/// Example: hit = K::in_top_k(predictions, labels, 5);
[[nodiscard]] HORNGATE_API Tensor in_top_k(const Tensor& predictions, const Tensor& targets,
                                           int64_t k);

/// x plus a bias, which has one entry per channel or the shape of x without samples.
/// @param bias  (channels) or (spatial.., channels), in this order for both formats
/// Example: y = K::bias_add(x, b, K::DataFormat::channels_first);
[[nodiscard]] HORNGATE_API Tensor bias_add(const Tensor& x, const Tensor& bias,
                                           DataFormatChoice data_format = {});

struct NormalizedBatch {
  Tensor normalized;
  Tensor mean;      // without the reduced axes
  Tensor variance;  // of the batch itself: divided by n, not n - 1
};

/// Normalises x by its own mean and variance over some axes:
/// (x - mean) / sqrt(variance + epsilon) * gamma + beta.
/// @param gamma, beta  in the shape of the other axes; empty: 1 and 0
/// Example: auto [y, mean, variance] = K::normalize_batch_in_training(x, gamma, beta, {0, 1, 2});
[[nodiscard]] HORNGATE_API NormalizedBatch normalize_batch_in_training(const Tensor& x,
                                                                       const Tensor& gamma,
                                                                       const Tensor& beta,
                                                                       const Ints& reduction_axes,
                                                                       double epsilon = 1e-3);

struct BatchNormalizationOptions {
  int64_t axis = -1;  // the axis of one-dimensional statistics
  double epsilon = 1e-3;
};

/// (x - mean) / sqrt(var + epsilon) * gamma + beta, with given statistics. One-dimensional ones lie
/// along `axis`, others broadcast. beta and gamma may be empty.
/// Example: y = K::batch_normalization(x, mean, var, beta, gamma, {.axis = 1});
[[nodiscard]] HORNGATE_API Tensor
batch_normalization(const Tensor& x, const Tensor& mean, const Tensor& var, const Tensor& beta,
                    const Tensor& gamma, const BatchNormalizationOptions& options = {});

}  // namespace horngate
