// SimpleRNN and its cell.
#include "keras/layers/recurrent.h"

namespace horngate::keras {
namespace {

struct SimpleRNNCellArguments {
  int64_t units = 0;
  SimpleRNNCellOptions options = {};
};
template <class V>
void fields(V& v, Like<SimpleRNNCellArguments> auto& a) {
  v.required("units", a.units);
  cell_fields(v, a.options);
}

class SimpleRNNCellBody final : public CellOf<SimpleRNNCellArguments, SimpleRNNCellBody> {
 public:
  explicit SimpleRNNCellBody(SimpleRNNCellArguments a) : CellOf(std::move(a)) {
    check_units("SimpleRNNCell", "units", o.units);
  }
  std::string class_name() const override { return "SimpleRNNCell"; }
  Ints state_size() const override { return {o.units}; }
  void build(const Shapes& in) override {
    kernel_ = add_kernel({Dim(in[0].dim(in[0].ndim() - 1)), o.units});
    recurrent_ = add_recurrent_kernel({Dim(o.units), o.units}, o.options.recurrent_initializer);
    if (o.options.use_bias) bias_ = add_bias({o.units}, o.options.bias_initializer);
  }
  RnnStep step(const Tensor& x, const Tensors& states, const Tensors&) override {
    prepare(x, states[0], 1);
    Tensor h = dot(dropped(x, 0), kernel_);
    if (bias_.defined()) h = bias_add(h, bias_);
    const Tensor y =
        activated(o.options.activation, h + dot(recurrent_dropped(states[0], 0), recurrent_));
    return {y, {y}};
  }

 private:
  Variable kernel_, recurrent_, bias_;
};

struct SimpleRNNArguments {
  int64_t units = 0;
  SimpleRNNOptions options = {};
};
template <class V>
void fields(V& v, Like<SimpleRNNArguments> auto& a) {
  flag_fields(v, a.options);
  v.required("units", a.units);
  cell_fields(v, a.options);
}

class SimpleRNNBody final : public RecurrentOf<SimpleRNNArguments> {
 public:
  explicit SimpleRNNBody(const SimpleRNNArguments& a)
      : RecurrentOf(a, std::make_shared<SimpleRNNCellBody>(SimpleRNNCellArguments{
                           a.units, cell_options<SimpleRNNCellOptions>(a.options)})) {}
  std::string class_name() const override { return "SimpleRNN"; }
  std::shared_ptr<RecurrentBody> reversed() const override { return reversed_of<SimpleRNNBody>(o); }
};

}  // namespace

Layer SimpleRNNCell(int64_t units, const SimpleRNNCellOptions& o) {
  return make_layer<SimpleRNNCellBody>({units, o}, o);
}
Layer SimpleRNN(int64_t units, const SimpleRNNOptions& o) {
  return make_layer<SimpleRNNBody>({units, o}, o);
}

void add_simple_rnn_layers(LayerTable& t) {
  t["SimpleRNNCell"] = make_from<SimpleRNNCellBody>;
  t["SimpleRNN"] = recurrent_from<SimpleRNNBody>;
}

}  // namespace horngate::keras
