// CTC: probabilities become logits, lengths vectors; the primitives do the rest.
#include "horngate/ops/ctc.h"

#include "api/args.h"
#include "api/windows.h"
#include "horngate/config.h"

namespace horngate {
namespace {

/// log(y_pred + epsilon), to which the primitives apply softmax.
Tensor logits_of(std::string_view function, const Tensor& y_pred) {
  const Tensor p = float_operand(function, y_pred, "y_pred");
  check(p.ndim() == 3, function, "y_pred must have 3 dimensions (samples, time, categories); got ",
        "shape ", p.shape(), ".");
  return prim::log(prim::shift(p, epsilon()));
}

/// Lengths (samples) or (samples, 1) as integers (samples). Keras also feeds them as floats.
Tensor lengths_of(std::string_view function, const Tensor& lengths, std::string_view argument,
                  const Tensor& beside, std::string_view name) {
  Tensor n = prim::cast(dense_operand(function, lengths, argument), DType::int64);
  const bool is_column = n.ndim() == 2 && (n.shape().dim(1) == 1 || n.shape().dim(1) < 0);
  check(n.ndim() == 1 || is_column, function, argument,
        " must have shape (samples,) or (samples, 1); got ", n.shape(), ".");
  if (is_column) n = prim::squeeze(n, {1});
  const int64_t has = n.shape().dim(0), samples = beside.shape().dim(0);
  check(has < 0 || samples < 0 || has == samples, function, argument, " must have ", samples,
        " entries, as ", name, " of shape ", beside.shape(), "; got shape ", lengths.shape(), ".");
  return n;
}

constexpr int64_t kMostBeams = 1 << 20, kMostPaths = 10000;

/// The first `width` columns of x (samples, time); the number is only known in a call.
Tensor columns(const Tensor& x, const Tensor& width) {
  const Tensor zero = prim::constant(Array::of<int64_t>({0}));
  return cut_axes(x, {{}, {true, zero, width}});
}

}  // namespace

Tensor ctc_batch_cost(const Tensor& y_true, const Tensor& y_pred, const Tensor& input_length,
                      const Tensor& label_length) {
  const CalledAs called(__func__);
  constexpr const char* kName = "ctc_batch_cost";
  const Tensor logits = logits_of(kName, y_pred);
  const Tensor labels = prim::cast(dense_operand(kName, y_true, "y_true"), DType::int64);
  check(labels.ndim() == 2, kName, "y_true must have 2 dimensions (samples, labels); got shape ",
        labels.shape(), ".");
  const int64_t has = labels.shape().dim(0), samples = logits.shape().dim(0);
  check(has < 0 || samples < 0 || has == samples, kName, "y_true of shape ", labels.shape(),
        " and y_pred of shape ", logits.shape(), " must have the same number of samples.");
  const Tensor loss =
      emit(attrs::ctc_loss{},
           {logits, labels, lengths_of(kName, input_length, "input_length", logits, "y_pred"),
            lengths_of(kName, label_length, "label_length", logits, "y_pred")});
  return prim::expand_dims(loss, {1});
}

Tensor ctc_label_dense_to_sparse(const Tensor& labels, const Tensor& label_lengths) {
  const CalledAs called(__func__);
  constexpr const char* kName = "ctc_label_dense_to_sparse";
  const Tensor x = dense_operand(kName, labels, "labels");
  check(x.ndim() == 2, kName, "labels must have 2 dimensions (samples, longest); got shape ",
        x.shape(), ".");
  return emit(attrs::labels_to_sparse{},
              {x, lengths_of(kName, label_lengths, "label_lengths", x, "labels")});
}

CtcDecoded ctc_decode(const Tensor& y_pred, const Tensor& input_length, const CtcDecodeOptions& o) {
  const CalledAs called(__func__);
  constexpr const char* kName = "ctc_decode";
  const Tensor logits = logits_of(kName, y_pred);
  const Tensor lengths = lengths_of(kName, input_length, "input_length", logits, "y_pred");
  if (o.greedy) {
    const Tensors r = outputs_of(emit(attrs::ctc_greedy{}, {logits, lengths}));
    return {{columns(r[0], prim::expand_dims(r[1], {0}))}, r[2]};
  }
  check(o.beam_width >= 1, kName, "beam_width must be at least 1; got ", o.beam_width, ".");
  check(o.beam_width <= kMostBeams, kName, "beam_width must be at most ", kMostBeams, "; got ",
        o.beam_width, ".");
  check(o.top_paths >= 1 && o.top_paths <= o.beam_width, kName, "top_paths must be in [1, ",
        o.beam_width, "], the beam_width; got ", o.top_paths, ".");
  // Each path is a separate tensor.
  check(o.top_paths <= kMostPaths, kName, "top_paths must be at most ", kMostPaths, "; got ",
        o.top_paths, ".");
  const Tensors r = outputs_of(emit(
      attrs::ctc_beam{
          .beam_width = o.beam_width, .top_paths = o.top_paths, .merge_repeated = o.merge_repeated},
      {logits, lengths}));
  CtcDecoded result{{}, r[2]};
  for (int64_t i = 0; i < o.top_paths; ++i) {
    const Tensor path = prim::squeeze(prim::slice_axis(r[0], 0, i, i + 1), {0});
    result.decoded.push_back(columns(path, prim::slice_axis(r[1], 0, i, i + 1)));
  }
  return result;
}

}  // namespace horngate
