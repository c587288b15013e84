// rnn: recurrence over the time axis, as a loop or unrolled.
#include "api/args.h"
#include "api/dims.h"
#include "api/loops.h"
#include "api/shapes.h"
#include "horngate/ops/functional.h"

namespace horngate {
namespace {

constexpr const char* kName = "rnn";

struct Rnn {
  const RnnStepFunction& step;
  Tensor x;     // (samples, time, ..)
  Tensor mask;  // bool (samples, time, ..), or empty
  Tensors states;
  Tensors constants;
  bool backwards;

  RnnStep call(const Tensor& x_t, const Tensors& now) const;
};

RnnStep Rnn::call(const Tensor& x_t, const Tensors& now) const {
  Tensors arguments = now;
  arguments.insert(arguments.end(), constants.begin(), constants.end());
  RnnStep r = users([&] { return step(x_t, arguments); });
  check(r.output.defined() && r.output.ndim() >= 1, kName,
        "the step function must return an output of shape (samples, ..); got ",
        r.output.defined() ? r.output.shape().str() : "an empty tensor", ".");
  dense_operand(kName, r.output, "the output of the step function");
  check(r.new_states.size() == states.size(), kName, "the step function must return ",
        states.size(), " states; got ", r.new_states.size(), ".");
  for (size_t i = 0; i < now.size(); ++i) {
    const Tensor &before = now[i], &after = r.new_states[i];
    check(after.defined(), kName, "the step function returned an empty tensor as state ", i, ".");
    dense_operand(kName, after, "a state");
    check<TypeError>(after.dtype() == before.dtype(), kName,
                     "the step function must keep the dtype of state ", i, ", ", before.dtype(),
                     "; got ", after.dtype(), ".");
    check(after.ndim() == before.ndim(), kName, "the step function must keep the rank of state ", i,
          " of shape ", before.shape(), "; got shape ", after.shape(), ".");
  }
  return r;
}

/// A mask as bool (samples, time), without a last axis of size 1.
Tensor mask_of(const Tensor& given, const Tensor& x) {
  Tensor mask = prim::cast(dense_operand(kName, given, "mask"), DType::bool_);
  check(mask.ndim() >= 2, kName, "mask must have shape (samples, time) or (samples, time, 1); got ",
        mask.shape(), ".");
  while (mask.ndim() > 2 && mask.shape().dim(mask.ndim() - 1) == 1)
    mask = prim::squeeze(mask, {static_cast<int64_t>(mask.ndim()) - 1});
  for (size_t i = 0; i < 2; ++i) {
    const int64_t a = mask.shape().dim(i), b = x.shape().dim(i);
    check(a < 0 || b < 0 || a == b, kName, "mask of shape ", mask.shape(),
          " does not fit inputs of shape ", x.shape(), ".");
  }
  // Only a call knows whether an open number of samples agrees; a mask of one is not spread over more.
  return with_size(mask, 0, dim_of(x, 0));
}

/// `now` where the mask of a time step is set, else `before`; missing axes of the mask are added at
/// its end.
Tensor masked(const Tensor& mask, const Tensor& now, const Tensor& before) {
  check(mask.ndim() <= now.ndim(), kName,
        "a mask needs outputs and states with at least the axes (samples, ..); got shape ",
        now.shape(), ".");
  Ints axes;
  for (size_t i = mask.ndim(); i < now.ndim(); ++i) axes.push_back(static_cast<int64_t>(i));
  return prim::select(prim::expand_dims(mask, axes), now, before);
}

/// x[:, t], also for t = -1.
Tensor at_time(const Tensor& x, int64_t t) { return element_at(x, 1, t); }

/// Repeats states along axes of size 1 that a step widens, as a loop does before it starts. False if there are none.
bool repeat_states(Tensors* states, const Tensors& after) {
  bool any = false;
  for (size_t k = 0; k < states->size(); ++k) {
    Tensor& state = (*states)[k];
    SymDims dims = dims_of(state);
    bool grows = false;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i].known != 1 || after[k].shape().dim(i) == 1) continue;
      dims[i] = dim_of(after[k], i);
      grows = true;
    }
    if (grows) state = prim::broadcast(state, shape_of_dims(dims));
    any |= grows;
  }
  return any;
}

/// Whether a step gives states of the shapes that it took. Where only a call knows, it checks that.
bool keep_their_shapes(const Tensors& states, Tensors& after) {
  for (size_t k = 0; k < states.size(); ++k) {
    for (size_t i = 0; i < states[k].ndim(); ++i) {
      const int64_t had = states[k].shape().dim(i), has = after[k].shape().dim(i);
      if (had >= 0 && has >= 0 && had != has) return false;
      if (had < 0 || has < 0) after[k] = with_size(after[k], i, dim_of(states[k], i));
    }
  }
  return true;
}

RnnResult unrolled(const Rnn& r, int64_t length) {
  Tensors states = r.states, outputs;
  Tensor last;
  const auto step = [&](int64_t i) {
    const int64_t t = r.backwards ? length - 1 - i : i;
    RnnStep s = r.call(at_time(r.x, t), states);
    if (r.mask.defined()) {
      const Tensor mask = at_time(r.mask, t);
      s.output = masked(mask, s.output, last.defined() ? last : prim::zeros_like(s.output));
      for (size_t k = 0; k < states.size(); ++k)
        s.new_states[k] = masked(mask, s.new_states[k], states[k]);
    }
    return s;
  };
  RnnStep s = step(0);
  if (const RnnStep as_given = s; repeat_states(&states, s.new_states)) {
    do s = step(0);
    while (repeat_states(&states, s.new_states));
    // States that grow from step to step, as by a concatenate, are no rows that a batch repeats.
    if (!keep_their_shapes(states, s.new_states)) {
      states = r.states;
      s = as_given;
    }
  }
  for (int64_t i = 0; i < length; ++i) {
    if (i > 0) s = step(i);
    last = s.output;
    states = s.new_states;
    outputs.push_back(prim::expand_dims(last, {1}));
  }
  return {last, prim::concat(outputs, 1), states};
}

/// Where to find the last output among the results of the loop.
enum class Last : uint8_t { state, carry, sequence };

// Carries: the states, then (with a mask, or if nothing else holds it) the last output, which
// starts as zeros.
RnnResult looped(const Rnn& r) {
  // By an index, not a slice, so that the shape of the result does not depend on the number of time
  // steps.
  const Tensor first_x = prim::gather(r.x, prim::constant(Array(int64_t{0})), 1);
  const RnnStep first = r.call(first_x, r.states);
  const size_t n = r.states.size();

  Last last = Last::carry;
  size_t same = 0;  // the state that equals the output
  while (same < n && !first.output.same_as(first.new_states[same])) ++same;
  if (!r.mask.defined() && same < n) last = Last::state;
  if (!r.mask.defined() && n == 0 && r.x.shape().dim(1) > 0) last = Last::sequence;

  ScanSpec spec{.xs = {r.x},
                .x_axes = {1},
                .x_reversed = {r.backwards},
                .inits = r.states,
                .y_axes = {1},
                .y_reversed = {0}};
  if (r.mask.defined()) {
    spec.xs.push_back(r.mask);
    spec.x_axes.push_back(1);
    spec.x_reversed.push_back(r.backwards);
  }
  if (last == Last::carry) spec.inits.push_back(prim::zeros_like(first.output));

  const auto step = [&](const Tensors& x, const Tensors& carries, const Tensor&) {
    const Tensors now(carries.begin(), carries.begin() + static_cast<int64_t>(n));
    RnnStep s = r.call(x[0], now);
    if (r.mask.defined()) {
      s.output = masked(x[1], s.output, carries[n]);
      for (size_t k = 0; k < n; ++k) s.new_states[k] = masked(x[1], s.new_states[k], now[k]);
    }
    // A step function may behave differently the second time.
    if (last == Last::state && !s.output.same_as(s.new_states[same])) last = Last::sequence;
    StepResult result{s.new_states, {s.output}};
    if (last == Last::carry) result.carries.push_back(s.output);
    return result;
  };
  const Tensors out = make_loop(kName, spec, step);

  const Tensor& outputs = out.back();
  RnnResult result{{}, outputs, Tensors(out.begin(), out.begin() + static_cast<int64_t>(n))};
  switch (last) {
    case Last::state: result.last_output = out[same]; break;
    case Last::carry: result.last_output = out[n]; break;
    case Last::sequence: result.last_output = at_time(outputs, -1); break;
  }
  return result;
}

}  // namespace

RnnResult rnn(const RnnStepFunction& step_function, const Tensor& inputs,
              const Tensors& initial_states, const RnnOptions& o) {
  const CalledAs called(__func__);
  Rnn r{step_function, dense_operand(kName, inputs, "inputs"), {}, {}, {}, o.go_backwards};
  check(r.x.ndim() >= 3, kName, "inputs must have at least 3 dimensions (samples, time, ..); got ",
        "shape ", r.x.shape(), ".");
  for (const Tensor& s : initial_states)
    r.states.push_back(dense_operand(kName, s, "initial_states"));
  for (const Tensor& c : o.constants) r.constants.push_back(operand(c));
  if (o.mask.defined()) {
    check(!initial_states.empty(), kName, "a mask needs initial_states; got none.");
    r.mask = mask_of(o.mask, r.x);
  }
  if (!o.unroll) return looped(r);
  const int64_t known = r.x.shape().dim(1);
  const int64_t length = known >= 0 ? known : o.input_length.value_or(-1);
  check(length >= 0, kName, "unroll needs inputs with a fixed number of time steps; got shape ",
        r.x.shape(), ".");
  check(length >= 1, kName, "unroll needs at least one time step; got inputs of shape ",
        r.x.shape(), ".");
  constexpr int64_t kMostSteps = 1 << 20;  // each step makes its own nodes
  check(length <= kMostSteps, kName, "unroll takes at most ", kMostSteps, " time steps; got ",
        length, ".");
  r.x = with_size(r.x, 1, length);
  if (r.mask.defined()) r.mask = with_size(r.mask, 1, length);
  RnnResult result = unrolled(r, length);
  result.last_output = own(called, std::move(result.last_output));
  for (Tensor& state : result.new_states) state = own(called, std::move(state));
  return result;
}

}  // namespace horngate
