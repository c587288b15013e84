// Neural networks: what bind_regular.cpp does not bind.
#include "horngate/ops/nn.h"

#include "call.h"
#include "sections.h"

namespace horngate::python {
namespace {

void bind_normalization(nb::module_& m) {
  // Returns (normalized, mean, variance).
  m.def("normalize_batch_in_training", [](Any x, Any gamma, Any beta, Any reduction_axes,
                                          Any epsilon) {
    Call call("normalize_batch_in_training");
    const Tensor t = call.tensor(x);
    const Tensor scale = call.optional_tensor(gamma, t.dtype());
    const Tensor offset = call.optional_tensor(beta, t.dtype());
    const NormalizedBatch r =
        normalize_batch_in_training(t, scale, offset, call.ints(reduction_axes, "reduction_axes"),
                                    call.real(epsilon, "epsilon"));
    return nb::make_tuple(call.result(r.normalized), call.result(r.mean), call.result(r.variance));
  });
  m.def("batch_normalization",
        [](Any x, Any mean, Any var, Any beta, Any gamma, Any axis, Any epsilon) {
          Call call("batch_normalization");
          const Tensor t = call.tensor(x);
          const Tensor centre = call.tensor(mean, t.dtype());
          const Tensor spread = call.tensor(var, t.dtype());
          const Tensor offset = call.optional_tensor(beta, t.dtype());
          const Tensor scale = call.optional_tensor(gamma, t.dtype());
          return call.result(batch_normalization(
              t, centre, spread, offset, scale,
              {.axis = call.integer(axis, "axis"), .epsilon = call.real(epsilon, "epsilon")}));
        });
}

}  // namespace

void bind_nn(nb::module_& m) {
  // The dtype of the scores says nothing about class numbers, which halves would round.
  m.def("sparse_categorical_crossentropy", [](Any target, Any output, Any from_logits, Any axis) {
    Call call("sparse_categorical_crossentropy");
    const Tensor labels = call.tensor(target);
    const Tensor scores = call.tensor(output);
    return call.result(sparse_categorical_crossentropy(
        labels, scores,
        {.from_logits = call.truth(from_logits), .axis = call.integer(axis, "axis")}));
  });
  m.def("in_top_k", [](Any predictions, Any targets, Any k) {
    Call call("in_top_k");
    const Tensor scores = call.tensor(predictions);
    const Tensor labels = call.tensor(targets);
    return call.result(in_top_k(scores, labels, call.integer(k, "k")));
  });
  bind_normalization(m);
}

}  // namespace horngate::python
