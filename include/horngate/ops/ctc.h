// Connectionist temporal classification: sequences of labels from scores per time step. The blank
// is the last category.
#pragma once

#include "horngate/tensor.h"

namespace horngate {

/// CTC loss of each sample, of shape (samples, 1).
/// @param y_true        (samples, labels), class numbers; those beyond the length do not count
/// @param y_pred        (samples, time, categories), probabilities
/// @param input_length  (samples, 1), used steps of y_pred
/// @param label_length  (samples, 1), used labels of y_true
/// Example: loss = K::ctc_batch_cost(labels, K::softmax(x), input_length, label_length);
[[nodiscard]] HORNGATE_API Tensor ctc_batch_cost(const Tensor& y_true, const Tensor& y_pred,
                                                 const Tensor& input_length,
                                                 const Tensor& label_length);

/// Rows of labels as a sparse tensor: the first label_lengths[i] entries of row i.
/// @param labels         (samples, longest)
/// @param label_lengths  (samples)
/// Example: sparse = K::ctc_label_dense_to_sparse(labels, lengths);
[[nodiscard]] HORNGATE_API Tensor ctc_label_dense_to_sparse(const Tensor& labels,
                                                            const Tensor& label_lengths);

struct CtcDecodeOptions {
  bool greedy = true;  // best category of each step; else a beam search
  int64_t beam_width = 100;
  int64_t top_paths = 1;
  bool merge_repeated = false;  // for the beam search: merges equal neighbours in a result
};

struct CtcDecoded {
  Tensors decoded;         // greedy: one; else top_paths: (samples, longest), int64, filled with -1
  Tensor log_probability;  // (samples, 1), negated, if greedy; else (samples, top_paths)
};

/// The most likely sequences of labels.
/// @param y_pred        (samples, time, categories), probabilities
/// @param input_length  (samples), used steps
/// Example: auto [decoded, log_probability] = K::ctc_decode(y_pred, lengths, {.greedy = false});
[[nodiscard]] HORNGATE_API CtcDecoded ctc_decode(const Tensor& y_pred, const Tensor& input_length,
                                                 const CtcDecodeOptions& options = {});

}  // namespace horngate
