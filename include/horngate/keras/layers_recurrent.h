// Recurrent layers: SimpleRNN, GRU, LSTM, ConvLSTM2D, and RNN for cells of any kind.
#pragma once

#include "horngate/keras/layer.h"
#include "horngate/ops/functional.h"

namespace horngate::keras {

/// One time step of a recurrent layer, with its weights. A cell of your own has class_name, state_size, step, and build
/// for its weights:
///
///   struct Adder : keras::Cell {
///     std::string class_name() const override { return "Adder"; }
///     K::Ints state_size() const override { return {4}; }
///     K::RnnStep step(const K::Tensor& x, const K::Tensors& states, const K::Tensors&) override {
///       const K::Tensor sum = x + states[0];
///       return {sum, {sum}};
///     }
///   };
///   auto y = keras::RNN(keras::custom<Adder>())(x);
class HORNGATE_API Cell : public Body {
 public:
  /// Sizes of the states without samples; for convolutions, their channels.
  virtual Ints state_size() const = 0;
  /// Features of its output: for cells on top of it.
  virtual int64_t output_size() const { return state_size()[0]; }
  /// @param constants  what the call of the layer was given beside the states; none unless takes_constants()
  virtual RnnStep step(const Tensor& x, const Tensors& states, const Tensors& constants) = 0;
  virtual bool takes_constants() const { return false; }
  /// Before the first step of each call: forgets tensors that all steps of a call share (flags of dropout).
  virtual void begin() {}
  /// Another cell with the same options and no weights: for Bidirectional. A cell of your own says how.
  virtual std::shared_ptr<Cell> copy() const;
  /// As a layer by itself: {x, states..} -> {output, states..}.
  Tensors call(Call& call) final;

 protected:
  void check_inputs(const Shapes& shapes) const override;
};

struct RNNOptions {
  bool return_sequences = false;  // all outputs, not only the last one
  bool return_state = false;      // the last states too: take the results with call_all
  bool go_backwards = false;      // from the last time step to the first
  bool stateful = false;          // a batch begins with the states that the last one left
  bool unroll = false;            // one copy of the step per time step
  HORNGATE_KERAS_LAYER_OPTIONS
};
/// Runs a cell over (samples, time, ..).
/// Example: auto y = keras::RNN(keras::LSTMCell(32), {.return_sequences = true})(x);
[[nodiscard]] HORNGATE_API Layer RNN(const Layer& cell, const RNNOptions& options = {});
/// Runs cells on top of each other.
/// Example: auto y = keras::RNN({keras::LSTMCell(32), keras::GRUCell(16)})(x);
[[nodiscard]] HORNGATE_API Layer RNN(const Layers& cells, const RNNOptions& options = {});

/// Several cells as one: each takes the output of the one before.
[[nodiscard]] HORNGATE_API Layer StackedRNNCells(const Layers& cells,
                                                 const LayerOptions& options = {});

/// Calls a recurrent layer, or a Bidirectional of one, with states to begin with and constants for the cell.
/// Example: keras::Values y = keras::call_with_state(keras::LSTM(32), x, {h, c});
HORNGATE_API Values call_with_state(const Layer& layer, const Value& x, const Values& initial_state,
                                    const Values& constants = {});
/// Sets the states of a stateful layer that was called; those of a Bidirectional one after the other.
HORNGATE_API void reset_states(const Layer& layer, const Arrays& states);
/// The states of a stateful layer that was called.
HORNGATE_API Arrays get_states(const Layer& layer);

/// Weights of LSTM and GRU from files, in this library's form: those of CuDNNLSTM and CuDNNGRU, recognised by their
/// bias, are converted; all others come back as they are.
/// @param class_name  of the layer: LSTM, GRU, CuDNNLSTM, CuDNNGRU; others change nothing
HORNGATE_API Arrays convert_rnn_weights(const std::string& class_name, const Arrays& weights);
/// The same for all weights of a layer that was called, also where it holds others: wrappers, models.
HORNGATE_API Arrays convert_rnn_weights(const Layer& layer, const Arrays& weights);

struct SimpleRNNCellOptions {
  ActivationFunction activation = "tanh";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  Regularizer recurrent_regularizer = {};
  Regularizer bias_regularizer = {};
  WeightConstraint kernel_constraint = {};
  WeightConstraint recurrent_constraint = {};
  WeightConstraint bias_constraint = {};
  double dropout = 0.0;            // of the input, while training
  double recurrent_dropout = 0.0;  // of the state, while training
  HORNGATE_KERAS_LAYER_OPTIONS
};
/// activation(x . kernel + bias + h . recurrent_kernel)
[[nodiscard]] HORNGATE_API Layer SimpleRNNCell(int64_t units,
                                               const SimpleRNNCellOptions& options = {});

struct SimpleRNNOptions {
  ActivationFunction activation = "tanh";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  Regularizer recurrent_regularizer = {};
  Regularizer bias_regularizer = {};
  Regularizer activity_regularizer = {};
  WeightConstraint kernel_constraint = {};
  WeightConstraint recurrent_constraint = {};
  WeightConstraint bias_constraint = {};
  double dropout = 0.0;
  double recurrent_dropout = 0.0;
  bool return_sequences = false;
  bool return_state = false;
  bool go_backwards = false;
  bool stateful = false;
  bool unroll = false;
  HORNGATE_KERAS_LAYER_OPTIONS
};
/// The output of each time step goes into the next one.
/// Example: auto y = keras::SimpleRNN(8)(x);
[[nodiscard]] HORNGATE_API Layer SimpleRNN(int64_t units, const SimpleRNNOptions& options = {});

struct GRUCellOptions {
  ActivationFunction activation = "tanh";
  ActivationFunction recurrent_activation = "sigmoid";  // of the gates
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  Regularizer recurrent_regularizer = {};
  Regularizer bias_regularizer = {};
  WeightConstraint kernel_constraint = {};
  WeightConstraint recurrent_constraint = {};
  WeightConstraint bias_constraint = {};
  double dropout = 0.0;
  double recurrent_dropout = 0.0;
  int64_t implementation = 2;  // 1: a product for each gate; 2: one for all
  bool reset_after = false;    // the reset gate acts after the product, as in CuDNN
  HORNGATE_KERAS_LAYER_OPTIONS
};
/// One step of a GRU.
[[nodiscard]] HORNGATE_API Layer GRUCell(int64_t units, const GRUCellOptions& options = {});

struct GRUOptions {
  ActivationFunction activation = "tanh";
  ActivationFunction recurrent_activation = "sigmoid";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  Regularizer recurrent_regularizer = {};
  Regularizer bias_regularizer = {};
  Regularizer activity_regularizer = {};
  WeightConstraint kernel_constraint = {};
  WeightConstraint recurrent_constraint = {};
  WeightConstraint bias_constraint = {};
  double dropout = 0.0;
  double recurrent_dropout = 0.0;
  int64_t implementation = 2;
  bool return_sequences = false;
  bool return_state = false;
  bool go_backwards = false;
  bool stateful = false;
  bool unroll = false;
  bool reset_after = false;
  HORNGATE_KERAS_LAYER_OPTIONS
};
/// Gated recurrent unit: one state, with gates for update and reset.
/// Example: auto y = keras::GRU(32, {.return_sequences = true})(x);
[[nodiscard]] HORNGATE_API Layer GRU(int64_t units, const GRUOptions& options = {});

struct LSTMCellOptions {
  ActivationFunction activation = "tanh";
  ActivationFunction recurrent_activation = "sigmoid";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  bool unit_forget_bias = true;  // the forget gate's bias begins as 1
  Regularizer kernel_regularizer = {};
  Regularizer recurrent_regularizer = {};
  Regularizer bias_regularizer = {};
  WeightConstraint kernel_constraint = {};
  WeightConstraint recurrent_constraint = {};
  WeightConstraint bias_constraint = {};
  double dropout = 0.0;
  double recurrent_dropout = 0.0;
  int64_t implementation = 2;
  HORNGATE_KERAS_LAYER_OPTIONS
};
/// One step of an LSTM.
[[nodiscard]] HORNGATE_API Layer LSTMCell(int64_t units, const LSTMCellOptions& options = {});

struct LSTMOptions {
  ActivationFunction activation = "tanh";
  ActivationFunction recurrent_activation = "sigmoid";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  bool unit_forget_bias = true;
  Regularizer kernel_regularizer = {};
  Regularizer recurrent_regularizer = {};
  Regularizer bias_regularizer = {};
  Regularizer activity_regularizer = {};
  WeightConstraint kernel_constraint = {};
  WeightConstraint recurrent_constraint = {};
  WeightConstraint bias_constraint = {};
  double dropout = 0.0;
  double recurrent_dropout = 0.0;
  int64_t implementation = 2;
  bool return_sequences = false;
  bool return_state = false;
  bool go_backwards = false;
  bool stateful = false;
  bool unroll = false;
  HORNGATE_KERAS_LAYER_OPTIONS
};
/// Long short-term memory: two states, h and c, with gates for input, forgetting and output.
/// Example: auto y = keras::LSTM(32, {.dropout = 0.2})(x);
[[nodiscard]] HORNGATE_API Layer LSTM(int64_t units, const LSTMOptions& options = {});

struct ConvLSTM2DCellOptions {
  Sizes<2> strides = {1, 1};
  PaddingChoice padding = "valid";
  DataFormatChoice data_format = {};
  Sizes<2> dilation_rate = {1, 1};
  ActivationFunction activation = "tanh";
  ActivationFunction recurrent_activation = "hard_sigmoid";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  bool unit_forget_bias = true;
  Regularizer kernel_regularizer = {};
  Regularizer recurrent_regularizer = {};
  Regularizer bias_regularizer = {};
  WeightConstraint kernel_constraint = {};
  WeightConstraint recurrent_constraint = {};
  WeightConstraint bias_constraint = {};
  double dropout = 0.0;
  double recurrent_dropout = 0.0;
  HORNGATE_KERAS_LAYER_OPTIONS
};
/// One step of a ConvLSTM2D.
[[nodiscard]] HORNGATE_API Layer ConvLSTM2DCell(int64_t filters, const Sizes<2>& kernel_size,
                                                const ConvLSTM2DCellOptions& options = {});

/// Runs a ConvLSTM2DCell over (samples, time, rows, cols, channels).
[[nodiscard]] HORNGATE_API Layer ConvRNN2D(const Layer& cell, const RNNOptions& options = {});

struct ConvLSTM2DOptions {
  Sizes<2> strides = {1, 1};
  PaddingChoice padding = "valid";
  DataFormatChoice data_format = {};
  Sizes<2> dilation_rate = {1, 1};
  ActivationFunction activation = "tanh";
  ActivationFunction recurrent_activation = "hard_sigmoid";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  bool unit_forget_bias = true;
  Regularizer kernel_regularizer = {};
  Regularizer recurrent_regularizer = {};
  Regularizer bias_regularizer = {};
  Regularizer activity_regularizer = {};
  WeightConstraint kernel_constraint = {};
  WeightConstraint recurrent_constraint = {};
  WeightConstraint bias_constraint = {};
  bool return_sequences = false;
  bool go_backwards = false;
  bool stateful = false;
  double dropout = 0.0;
  double recurrent_dropout = 0.0;
  bool return_state = false;
  HORNGATE_KERAS_LAYER_OPTIONS
};
/// An LSTM whose products are convolutions: (samples, time, rows, cols, channels) -> (samples, rows, cols, filters).
/// Example: auto y = keras::ConvLSTM2D(16, {3, 3}, {.padding = "same"})(x);
[[nodiscard]] HORNGATE_API Layer ConvLSTM2D(int64_t filters, const Sizes<2>& kernel_size,
                                            const ConvLSTM2DOptions& options = {});

}  // namespace horngate::keras
