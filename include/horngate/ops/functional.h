// Functions of functions: recurrence over time, map and fold; gradients that stop, values that
// print.
#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "horngate/options.h"
#include "horngate/tensor.h"

namespace horngate {

/// The result of a step of rnn: its output and the states for the next step.
struct RnnStep {
  Tensor output;
  Tensors new_states;
};
/// (input of one time step, states.. and then constants..) -> step
using RnnStepFunction = std::function<RnnStep(const Tensor& x, const Tensors& states)>;

struct RnnOptions {
  bool go_backwards = false;  // from the last time step to the first
  Tensor mask = {};           // (samples, time) or (samples, time, 1); 0: leave out
  Tensors constants = {};     // handed to each step after the states
  /// One copy of the step per time step. The result is the same, but for states that the step enlarges along axes of
  /// size 1: a loop repeats all of them, unrolled steps only those whose size is known to be 1 before the call.
  bool unroll = false;
  std::optional<int64_t> input_length = {};  // time steps, for unroll if the inputs do not tell
};

struct RnnResult {
  Tensor last_output;  // (samples, ..)
  Tensor outputs;      // (samples, time, ..), in the order in which they were made
  Tensors new_states;
};

/// Runs a step function over the time axis. A masked step repeats the sample's previous output and
/// states (zeros before the first output). The step function is called twice: once outside the
/// loop, so that tensors it keeps for all steps (dropout masks) are made there, and once for the
/// loop.
/// @param inputs  (samples, time, ..)
/// Example: auto [last, all, states] = K::rnn(step, x, {h0});
[[nodiscard]] HORNGATE_API RnnResult rnn(const RnnStepFunction& step_function, const Tensor& inputs,
                                         const Tensors& initial_states,
                                         const RnnOptions& options = {});

struct MapFnOptions {
  std::string name = {};
  DTypeChoice dtype = {};  // of the result; unset: what fn returns
};

/// Applies fn to each elems[i] and stacks the results.
/// Example: y = K::map_fn([](const K::Tensor& e) { return K::sum(e); }, x);
[[nodiscard]] HORNGATE_API Tensor map_fn(const std::function<Tensor(const Tensor&)>& fn,
                                         const Tensor& elems, const MapFnOptions& options = {});
/// The same over several tensors at once, with any number of results.
/// Example: ys = K::map_fn([](const K::Tensors& e) { return K::Tensors{e[0] + e[1]}; }, {a, b});
[[nodiscard]] HORNGATE_API Tensors map_fn(const std::function<Tensors(const Tensors&)>& fn,
                                          const Tensors& elems, const MapFnOptions& options = {});

/// (accumulator, element) -> accumulator
using FoldFunction = std::function<Tensor(const Tensor& acc, const Tensor& x)>;

struct FoldOptions {
  Tensor initializer = {};  // empty: the first element
  std::string name = {};
};

/// Combines elems[0], elems[1], .. from first to last.
/// Example: y = K::foldl([](const K::Tensor& acc, const K::Tensor& x) { return acc + x; }, xs);
[[nodiscard]] HORNGATE_API Tensor foldl(const FoldFunction& fn, const Tensor& elems,
                                        const FoldOptions& options = {});
/// The same from last to first.
/// Example: y = K::foldr([](const K::Tensor& acc, const K::Tensor& x) { return acc - x; }, xs);
[[nodiscard]] HORNGATE_API Tensor foldr(const FoldFunction& fn, const Tensor& elems,
                                        const FoldOptions& options = {});

/// The same value, but gradients treat it as a constant.
/// Example: y = x + K::stop_gradient(K::round(x) - x);
[[nodiscard]] HORNGATE_API Tensor stop_gradient(const Tensor& variables);
/// The same for a list. A template, so that {x} keeps meaning one tensor.
template <std::same_as<Tensors> T>
[[nodiscard]] Tensors stop_gradient(const T& variables) {
  Tensors result;
  for (const Tensor& t : variables) result.push_back(stop_gradient(t));
  return result;
}

/// The same value; prints a line with the message and the value whenever it is computed.
/// Example: x = K::print_tensor(x, "x is:");
[[nodiscard]] HORNGATE_API Tensor print_tensor(const Tensor& x, std::string_view message = {});

}  // namespace horngate
