// What recurrent layers share: the loop over time, states, masks; and what Keras's cells share: weights, dropout.
#pragma once

#include <algorithm>

#include "horngate/keras/layers_recurrent.h"
#include "keras/layers/body_of.h"

namespace horngate::keras {

struct RecurrentFlags {
  bool return_sequences = false, return_state = false, go_backwards = false, stateful = false,
       unroll = false;
};

template <class V>
void flag_fields(V& v, auto& o) {
  v("return_sequences", o.return_sequences), v("return_state", o.return_state);
  v("go_backwards", o.go_backwards), v("stateful", o.stateful);
  if constexpr (requires { o.unroll; }) {
    v("unroll", o.unroll);
  } else {
    bool unroll = false;
    v("unroll", unroll);
  }
}

template <class O>
RecurrentFlags flags_of(const O& o) {
  RecurrentFlags flags{o.return_sequences, o.return_state, o.go_backwards, o.stateful};
  if constexpr (requires { o.unroll; }) flags.unroll = o.unroll;
  return flags;
}

/// A layer that runs a cell over time. Its inputs are x, then states to begin with, then constants for the cell.
class RecurrentBody : public Body {
 public:
  enum class Owner : bool { user, layer };  // of the cell's name and dtype

  RecurrentBody(std::shared_ptr<Cell> cell, const RecurrentFlags& flags, Owner owner);
  bool supports_masking() const override { return true; }
  void build(const Shapes& in) override;
  Tensors call(Call& c) override;
  Tensors compute_mask(const Tensors& inputs, const Tensors& masks) override;
  std::vector<std::shared_ptr<Body>> parts() const override { return {cell_}; }
  bool is_stateful() const override { return flags_.stateful; }
  void reset_states() override { set_states({}); }

  /// Empty: zeros.
  void set_states(const Arrays& values);
  const std::vector<Variable>& states() const { return states_; }
  const RecurrentFlags& flags() const { return flags_; }
  size_t state_count() const { return cell_->state_size().size(); }
  const std::optional<int64_t>& num_constants() const { return num_constants_; }
  void set_num_constants(std::optional<int64_t> n);
  /// Another layer with the same options and no weights, that goes the other way.
  virtual std::shared_ptr<RecurrentBody> reversed() const = 0;

 protected:
  void check_inputs(const Shapes& shapes) const override;
  virtual size_t ndim() const { return 3; }
  /// Sizes of x that must stay, once the first call has shown them.
  virtual InputSpec spec_of(const Shape& x) const;
  /// Zeros for the samples of x.
  virtual Tensors zero_states(const Tensor& x) const;
  /// Of a stateful layer; all known.
  virtual Shapes state_shapes(const Shape& x) const;
  /// Along which a state has its size.
  virtual int64_t state_axis() const { return -1; }
  const std::shared_ptr<Cell>& cell() const { return cell_; }

 private:
  std::shared_ptr<Cell> cell_;
  RecurrentFlags flags_;
  Owner owner_;
  std::optional<int64_t> num_constants_;
  std::vector<Variable> states_;
};

/// Rates lie in [0, 1]; files of Keras 2.1 and before have an implementation 0.
template <class O>
void normalise(O& o) {
  o.dropout = std::clamp(o.dropout, 0.0, 1.0);
  o.recurrent_dropout = std::clamp(o.recurrent_dropout, 0.0, 1.0);
  if constexpr (requires { o.implementation; })
    if (o.implementation == 0) o.implementation = 1;
}

/// With arguments whose `fields` are its configuration, as BodyOf.
template <class Arguments>
class RecurrentOf : public RecurrentBody {
 public:
  using ArgumentsType = Arguments;
  RecurrentOf(Arguments arguments, std::shared_ptr<Cell> cell)
      : RecurrentBody(std::move(cell), flags_of(arguments.options), Owner::layer),
        o(std::move(arguments)) {
    normalise(o.options);
    activity_regularizer = o.options.activity_regularizer;
  }
  Json config() const override { return config_of(o); }

 protected:
  Arguments o;
};

/// The same options, the other way.
template <class B, class Arguments>
std::shared_ptr<RecurrentBody> reversed_of(Arguments arguments) {
  arguments.options.go_backwards = !arguments.options.go_backwards;
  return std::make_shared<B>(std::move(arguments));
}

/// tf.keras writes a few fields more; ValueError where they ask for what is not there.
void refuse_field(const Json& config, const char* name);

/// For the table.
template <class B>
std::shared_ptr<Body> recurrent_from(const Json& config, const LoadContext& context) {
  refuse_field(config, "time_major");
  return make_from<B>(config, context);
}

/// The cell of a handle; TypeError if it holds another layer.
std::shared_ptr<Cell> cell_of(const Layer& layer, const char* function);
/// From {"class_name": .., "config": ..}.
std::shared_ptr<Cell> cell_from(const Json& description, const LoadContext& context,
                                const std::string& where);

// ---- Keras's own cells

/// Initializers with a seed begin anew, as in a layer that is made from the configuration of another.
struct SeedsAnew {
  template <class T>
  void operator()(const char*, T& value) {
    if constexpr (std::is_same_v<T, Initializer>) value = anew(value);
  }
  template <class T>
  void required(const char* name, T& value) {
    (*this)(name, value);
  }
  void must_be(const char*, const Json&) {}

 private:
  static Initializer anew(const Initializer& initializer);
};

/// The class of the cell itself comes second.
template <class Arguments, class B>
class CellOf : public Cell {
 public:
  using ArgumentsType = Arguments;
  explicit CellOf(Arguments arguments) : o(std::move(arguments)) { normalise(o.options); }
  Json config() const override { return config_of(o); }
  // Not from the configuration, which does not have callables.
  std::shared_ptr<Cell> copy() const override {
    Arguments arguments = o;
    SeedsAnew seeds;
    fields(seeds, arguments);
    auto other = std::make_shared<B>(std::move(arguments));
    other->set_options({.name = name(), .trainable = trainable(), .dtype = dtype()});
    return other;
  }
  void begin() override { dropped_.clear(), recurrent_dropped_.clear(); }

 protected:
  /// Makes what is zeroed in all steps of a call, in the first one.
  void prepare(const Tensor& x, const Tensor& state, size_t count) {
    make_flags(dropped_, x, o.options.dropout, count);
    make_flags(recurrent_dropped_, state, o.options.recurrent_dropout, count);
  }
  Tensor dropped(const Tensor& x, size_t i) const { return dropped_.empty() ? x : x * dropped_[i]; }
  Tensor recurrent_dropped(const Tensor& h, size_t i) const {
    return recurrent_dropped_.empty() ? h : h * recurrent_dropped_[i];
  }
  Variable add_kernel(const Shape& shape) {
    return add_weight("kernel", shape,
                      {.initializer = o.options.kernel_initializer,
                       .regularizer = o.options.kernel_regularizer,
                       .constraint = o.options.kernel_constraint});
  }
  Variable add_recurrent_kernel(const Shape& shape, const Initializer& initializer) {
    return add_weight("recurrent_kernel", shape,
                      {.initializer = initializer,
                       .regularizer = o.options.recurrent_regularizer,
                       .constraint = o.options.recurrent_constraint});
  }
  Variable add_bias(const Shape& shape, const Initializer& initializer) {
    return add_weight("bias", shape,
                      {.initializer = initializer,
                       .regularizer = o.options.bias_regularizer,
                       .constraint = o.options.bias_constraint});
  }

  Arguments o;

 private:
  static void make_flags(Tensors& flags, const Tensor& like, double rate, size_t count) {
    if (!(rate > 0 && rate < 1) || !flags.empty()) return;
    const Tensor ones = ones_like(like);
    while (flags.size() < count)
      flags.push_back(in_train_phase([=] { return dropout(ones, rate); }, ones));
  }
  Tensors dropped_, recurrent_dropped_;
};

/// A number of units: positive, and small enough for shapes.
void check_units(const char* class_name, const char* what, int64_t got);

inline Tensor activated(const ActivationFunction& f, const Tensor& x) { return f ? f(x) : x; }

/// Part i of n along the last axis, each `size` long.
Tensor gate(const Tensor& x, int64_t size, int64_t i);
/// The identity matrix once for each gate, where Identity is asked for.
Initializer for_gates(const Initializer& initializer);
/// The bias of an LSTM: ones for the second of four gates.
Initializer with_forget_bias(const Initializer& initializer, int64_t size);

/// The fields that cells and their layers share, in Keras's order; those that a struct does not have are left out.
template <class V>
void cell_fields(V& v, auto& o) {
  v("activation", o.activation);
  if constexpr (requires { o.recurrent_activation; })
    v("recurrent_activation", o.recurrent_activation);
  v("use_bias", o.use_bias);
  v("kernel_initializer", o.kernel_initializer);
  v("recurrent_initializer", o.recurrent_initializer), v("bias_initializer", o.bias_initializer);
  if constexpr (requires { o.unit_forget_bias; }) v("unit_forget_bias", o.unit_forget_bias);
  v("kernel_regularizer", o.kernel_regularizer);
  v("recurrent_regularizer", o.recurrent_regularizer), v("bias_regularizer", o.bias_regularizer);
  if constexpr (requires { o.activity_regularizer; })
    v("activity_regularizer", o.activity_regularizer);
  v("kernel_constraint", o.kernel_constraint);
  v("recurrent_constraint", o.recurrent_constraint), v("bias_constraint", o.bias_constraint);
  v("dropout", o.dropout), v("recurrent_dropout", o.recurrent_dropout);
  if constexpr (requires { o.implementation; }) v("implementation", o.implementation);
  if constexpr (requires { o.reset_after; }) v("reset_after", o.reset_after);
}

/// What a layer's options say about its cell.
template <class C, class O>
C cell_options(const O& o) {
  C c;
  c.activation = o.activation;
  if constexpr (requires { c.recurrent_activation; })
    c.recurrent_activation = o.recurrent_activation;
  c.use_bias = o.use_bias;
  c.kernel_initializer = o.kernel_initializer;
  c.recurrent_initializer = o.recurrent_initializer;
  c.bias_initializer = o.bias_initializer;
  if constexpr (requires { c.unit_forget_bias; }) c.unit_forget_bias = o.unit_forget_bias;
  c.kernel_regularizer = o.kernel_regularizer;
  c.recurrent_regularizer = o.recurrent_regularizer;
  c.bias_regularizer = o.bias_regularizer;
  c.kernel_constraint = o.kernel_constraint;
  c.recurrent_constraint = o.recurrent_constraint;
  c.bias_constraint = o.bias_constraint;
  c.dropout = o.dropout;
  c.recurrent_dropout = o.recurrent_dropout;
  if constexpr (requires { c.implementation; }) c.implementation = o.implementation;
  if constexpr (requires { c.reset_after; }) c.reset_after = o.reset_after;
  return c;
}

// Each in its file.
void add_simple_rnn_layers(LayerTable& table);
void add_gru_layers(LayerTable& table);
void add_lstm_layers(LayerTable& table);
void add_conv_lstm_layers(LayerTable& table);

}  // namespace horngate::keras
