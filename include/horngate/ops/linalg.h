// Products, transpose and lookup.
#pragma once

#include "horngate/args.h"

namespace horngate {

/// The product over the last axis of x and the second to last of y; shape x[:-1] + y[:-2] + y[-1:].
/// For two matrices this is the matrix product, and x may be sparse.
/// Example: y = K::dot(x, w);
[[nodiscard]] HORNGATE_API Tensor dot(const Tensor& x, const Tensor& y);

/// For each sample i, the product of x[i] and y[i] over one axis of each. The result has the batch
/// axis, the other axes of x, those of y, and at least two in all.
/// @param axes  one axis for both or {axis of x, axis of y}, counting the batch axis; unset: the
///              last of x and the second to last of y (its last if y has two axes)
/// Example: scores = K::batch_dot(query, keys, {1, 2});
[[nodiscard]] HORNGATE_API Tensor batch_dot(const Tensor& x, const Tensor& y,
                                            const Axis& axes = {});

/// x with its axes in reverse order.
/// Example: K::transpose(w);
[[nodiscard]] HORNGATE_API Tensor transpose(const Tensor& x);

/// Entries of `reference` along its first axis, at integer positions; shape indices +
/// reference[1:].
/// Example: vectors = K::gather(embeddings, words);
[[nodiscard]] HORNGATE_API Tensor gather(const Tensor& reference, const Tensor& indices);

}  // namespace horngate
