// Activations, losses, dropout, bias and batch normalisation.
#include "horngate/ops/nn.h"

#include "call.h"
#include "sections.h"

namespace horngate::python {
namespace {

template <Tensor (*F)(const Tensor&, const Tensor&, const CrossentropyOptions&)>
void crossentropy(nb::module_& m, const char* name) {
  m.def(name, [name](Any target, Any output, Any from_logits, Any axis) {
    Call call(name);
    const auto [t, y] = call.tensors(target, output);
    return call.result(
        F(t, y, {.from_logits = call.truth(from_logits), .axis = call.integer(axis, "axis")}));
  });
}

void bind_normalization(nb::module_& m) {
  m.def("l2_normalize", [](Any x, Any axis) {
    Call call("l2_normalize");
    const Tensor t = call.tensor(x);
    return call.result(l2_normalize(t, call.axis(axis)));
  });
  // Gives (normalized, mean, variance).
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
  m.def("relu", [](Any x, Any alpha, Any max_value, Any threshold) {
    Call call("relu");
    const Tensor t = call.tensor(x);
    ReluOptions options;
    options.alpha = call.real(alpha, "alpha");
    if (!max_value.is_none()) options.max_value = call.real(max_value, "max_value");
    options.threshold = call.real(threshold, "threshold");
    return call.result(relu(t, options));
  });
  m.def("elu", [](Any x, Any alpha) {
    Call call("elu");
    const Tensor t = call.tensor(x);
    return call.result(elu(t, call.real(alpha, "alpha")));
  });
  m.def("softmax", [](Any x, Any axis) {
    Call call("softmax");
    const Tensor t = call.tensor(x);
    return call.result(softmax(t, call.integer(axis, "axis")));
  });
  unary<softplus>(m, "softplus");
  unary<softsign>(m, "softsign");
  unary<sigmoid>(m, "sigmoid");
  unary<hard_sigmoid>(m, "hard_sigmoid");
  unary<tanh>(m, "tanh");
  crossentropy<categorical_crossentropy>(m, "categorical_crossentropy");
  crossentropy<sparse_categorical_crossentropy>(m, "sparse_categorical_crossentropy");
  m.def("binary_crossentropy", [](Any target, Any output, Any from_logits) {
    Call call("binary_crossentropy");
    const auto [t, y] = call.tensors(target, output);
    return call.result(binary_crossentropy(t, y, call.truth(from_logits)));
  });
  m.def("dropout", [](Any x, Any level, Any noise_shape, Any seed) {
    Call call("dropout");
    const Tensor t = call.tensor(x);
    const double share = call.real(level, "level");
    const DropoutOptions options{.noise_shape = call.shape(noise_shape, "noise_shape"),
                                 .seed = call.optional_integer(seed, "seed")};
    return call.result(dropout(t, share, options));
  });
  m.def("in_top_k", [](Any predictions, Any targets, Any k) {
    Call call("in_top_k");
    const Tensor scores = call.tensor(predictions);
    const Tensor labels = call.tensor(targets);
    return call.result(in_top_k(scores, labels, call.integer(k, "k")));
  });
  m.def("bias_add", [](Any x, Any bias, Any data_format) {
    Call call("bias_add");
    const auto [t, b] = call.tensors(x, bias);
    return call.result(bias_add(t, b, call.data_format(data_format)));
  });
  bind_normalization(m);
}

}  // namespace horngate::python
