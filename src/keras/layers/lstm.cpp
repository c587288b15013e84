// LSTM and its cell.
#include <array>

#include "keras/layers/recurrent.h"

namespace horngate::keras {
namespace {

struct LSTMCellArguments {
  int64_t units = 0;
  LSTMCellOptions options = {};
};
template <class V>
void fields(V& v, Like<LSTMCellArguments> auto& a) {
  v.required("units", a.units);
  cell_fields(v, a.options);
}

/// Gates in the order input, forget, new state, output.
class LSTMCellBody final : public CellOf<LSTMCellArguments, LSTMCellBody> {
 public:
  explicit LSTMCellBody(LSTMCellArguments a) : CellOf(std::move(a)) {
    check_units("LSTMCell", "units", o.units);
  }
  std::string class_name() const override { return "LSTMCell"; }
  Ints state_size() const override { return {o.units, o.units}; }
  void build(const Shapes& in) override {
    const int64_t all = 4 * o.units;
    kernel_ = add_kernel({Dim(in[0].dim(in[0].ndim() - 1)), all});
    recurrent_ =
        add_recurrent_kernel({Dim(o.units), all}, for_gates(o.options.recurrent_initializer));
    const Initializer& bias = o.options.bias_initializer;
    if (o.options.use_bias)
      bias_ = add_bias({all}, o.options.unit_forget_bias ? with_forget_bias(bias, o.units) : bias);
  }
  RnnStep step(const Tensor& x, const Tensors& states, const Tensors&) override {
    const LSTMCellOptions& d = o.options;
    prepare(x, states[0], 4);
    const std::array<Tensor, 4> z =
        d.implementation == 1 ? apart(x, states[0]) : together(x, states[0]);
    const Tensor i = activated(d.recurrent_activation, z[0]);
    const Tensor f = activated(d.recurrent_activation, z[1]);
    const Tensor c = f * states[1] + i * activated(d.activation, z[2]);
    const Tensor h = activated(d.recurrent_activation, z[3]) * activated(d.activation, c);
    return {h, {h, c}};
  }

 private:
  /// A product for each gate.
  std::array<Tensor, 4> apart(const Tensor& x, const Tensor& h) const {
    std::array<Tensor, 4> z;
    for (size_t i = 0; i < 4; ++i) {
      const auto g = static_cast<int64_t>(i);
      z[i] = dot(dropped(x, i), gate(kernel_, o.units, g));
      if (bias_.defined()) z[i] = bias_add(z[i], gate(bias_, o.units, g));
      z[i] = z[i] + dot(recurrent_dropped(h, i), gate(recurrent_, o.units, g));
    }
    return z;
  }

  /// One product for all gates.
  std::array<Tensor, 4> together(const Tensor& x, const Tensor& h) const {
    Tensor all = dot(dropped(x, 0), kernel_) + dot(recurrent_dropped(h, 0), recurrent_);
    if (bias_.defined()) all = bias_add(all, bias_);
    return {gate(all, o.units, 0), gate(all, o.units, 1), gate(all, o.units, 2),
            gate(all, o.units, 3)};
  }

  Variable kernel_, recurrent_, bias_;
};

struct LSTMArguments {
  int64_t units = 0;
  LSTMOptions options = {};
};
template <class V>
void fields(V& v, Like<LSTMArguments> auto& a) {
  flag_fields(v, a.options);
  v.required("units", a.units);
  cell_fields(v, a.options);
}

class LSTMBody final : public RecurrentOf<LSTMArguments> {
 public:
  explicit LSTMBody(const LSTMArguments& a)
      : RecurrentOf(a, std::make_shared<LSTMCellBody>(
                           LSTMCellArguments{a.units, cell_options<LSTMCellOptions>(a.options)})) {}
  std::string class_name() const override { return "LSTM"; }
  std::shared_ptr<RecurrentBody> reversed() const override { return reversed_of<LSTMBody>(o); }
};

}  // namespace

Layer LSTMCell(int64_t units, const LSTMCellOptions& o) {
  return make_layer<LSTMCellBody>({units, o}, o);
}
Layer LSTM(int64_t units, const LSTMOptions& o) { return make_layer<LSTMBody>({units, o}, o); }

void add_lstm_layers(LayerTable& t) {
  t["LSTMCell"] = make_from<LSTMCellBody>;
  t["LSTM"] = recurrent_from<LSTMBody>;
  t["CuDNNLSTM"] = recurrent_from<LSTMBody>;
}

}  // namespace horngate::keras
