// Connectionist temporal classification.
#include "horngate/ops/ctc.h"

#include "call.h"
#include "sections.h"

namespace horngate::python {

void bind_ctc(nb::module_& m) {
  m.def("ctc_batch_cost", [](Any y_true, Any y_pred, Any input_length, Any label_length) {
    Call call("ctc_batch_cost");
    const Tensor labels = call.tensor(y_true);
    const Tensor scores = call.tensor(y_pred);
    const Tensor steps = call.tensor(input_length);
    return call.result(ctc_batch_cost(labels, scores, steps, call.tensor(label_length)));
  });
  m.def("ctc_label_dense_to_sparse", [](Any labels, Any label_lengths) {
    Call call("ctc_label_dense_to_sparse");
    const Tensor x = call.tensor(labels);
    return call.result(ctc_label_dense_to_sparse(x, call.tensor(label_lengths)));
  });
  // Returns (list of decoded, log probabilities).
  m.def("ctc_decode", [](Any y_pred, Any input_length, Any greedy, Any beam_width, Any top_paths,
                         Any merge_repeated) {
    Call call("ctc_decode");
    const Tensor scores = call.tensor(y_pred);
    const Tensor steps = call.tensor(input_length);
    const CtcDecodeOptions options{.greedy = call.truth(greedy),
                                   .beam_width = call.integer(beam_width, "beam_width"),
                                   .top_paths = call.integer(top_paths, "top_paths"),
                                   .merge_repeated = call.truth(merge_repeated)};
    const CtcDecoded r = ctc_decode(scores, steps, options);
    return nb::make_tuple(call.results(r.decoded), call.result(r.log_probability));
  });
}

}  // namespace horngate::python
