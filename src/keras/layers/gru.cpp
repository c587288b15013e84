// GRU and its cell.
#include <array>

#include "keras/layers/recurrent.h"

namespace horngate::keras {
namespace {

struct GRUCellArguments {
  int64_t units = 0;
  GRUCellOptions options = {};
};
template <class V>
void fields(V& v, Like<GRUCellArguments> auto& a) {
  v.required("units", a.units);
  cell_fields(v, a.options);
}

/// Gates in the order update, reset, new state.
class GRUCellBody final : public CellOf<GRUCellArguments, GRUCellBody> {
 public:
  explicit GRUCellBody(GRUCellArguments a) : CellOf(std::move(a)) {
    check_units("GRUCell", "units", o.units);
  }
  std::string class_name() const override { return "GRUCell"; }
  Ints state_size() const override { return {o.units}; }
  void build(const Shapes& in) override {
    const int64_t all = 3 * o.units;
    kernel_ = add_kernel({Dim(in[0].dim(in[0].ndim() - 1)), all});
    recurrent_ =
        add_recurrent_kernel({Dim(o.units), all}, for_gates(o.options.recurrent_initializer));
    if (!o.options.use_bias) return;
    if (!o.options.reset_after) {
      input_bias_ = add_bias({all}, o.options.bias_initializer);
      return;
    }
    const Variable both = add_bias({2, all}, o.options.bias_initializer);
    input_bias_ = flatten(index(both, 0));
    recurrent_bias_ = flatten(index(both, 1));
  }
  RnnStep step(const Tensor& x, const Tensors& states, const Tensors&) override {
    prepare(x, states[0], 3);
    const Tensor y = o.options.implementation == 1 ? apart(x, states[0]) : together(x, states[0]);
    return {y, {y}};
  }

 private:
  /// A product for each gate.
  Tensor apart(const Tensor& x, const Tensor& h) const {
    const GRUCellOptions& d = o.options;
    std::array<Tensor, 3> from_x, from_h;
    for (size_t i = 0; i < 3; ++i) {
      const auto g = static_cast<int64_t>(i);
      from_x[i] = dot(dropped(x, i), gate(kernel_, o.units, g));
      if (d.use_bias) from_x[i] = bias_add(from_x[i], gate(input_bias_, o.units, g));
      if (i == 2 && !d.reset_after) break;
      from_h[i] = dot(recurrent_dropped(h, i), gate(recurrent_, o.units, g));
      if (recurrent_bias_.defined())
        from_h[i] = bias_add(from_h[i], gate(recurrent_bias_, o.units, g));
    }
    const Tensor z = activated(d.recurrent_activation, from_x[0] + from_h[0]);
    const Tensor r = activated(d.recurrent_activation, from_x[1] + from_h[1]);
    const Tensor fresh = d.reset_after
                             ? r * from_h[2]
                             : dot(r * recurrent_dropped(h, 2), gate(recurrent_, o.units, 2));
    return z * h + (1 - z) * activated(d.activation, from_x[2] + fresh);
  }

  /// One product for all gates.
  Tensor together(const Tensor& x, const Tensor& state) const {
    const GRUCellOptions& d = o.options;
    Tensor from_x = dot(dropped(x, 0), kernel_);
    if (d.use_bias) from_x = bias_add(from_x, input_bias_);
    const Tensor h = recurrent_dropped(state, 0);
    const Slice first{.stop = 2 * o.units}, last{.start = 2 * o.units};
    Tensor from_h =
        dot(h, d.reset_after ? Tensor(recurrent_) : getitem(recurrent_, {Slice{}, first}));
    if (recurrent_bias_.defined()) from_h = bias_add(from_h, recurrent_bias_);
    const Tensor z =
        activated(d.recurrent_activation, gate(from_x, o.units, 0) + gate(from_h, o.units, 0));
    const Tensor r =
        activated(d.recurrent_activation, gate(from_x, o.units, 1) + gate(from_h, o.units, 1));
    const Tensor fresh = d.reset_after ? r * gate(from_h, o.units, 2)
                                       : dot(r * h, getitem(recurrent_, {Slice{}, last}));
    return z * h + (1 - z) * activated(d.activation, gate(from_x, o.units, 2) + fresh);
  }

  Variable kernel_, recurrent_;
  Tensor input_bias_, recurrent_bias_;
};

struct GRUArguments {
  int64_t units = 0;
  GRUOptions options = {};
};
template <class V>
void fields(V& v, Like<GRUArguments> auto& a) {
  flag_fields(v, a.options);
  v.required("units", a.units);
  cell_fields(v, a.options);
}

class GRUBody final : public RecurrentOf<GRUArguments> {
 public:
  explicit GRUBody(const GRUArguments& a)
      : RecurrentOf(a, std::make_shared<GRUCellBody>(
                           GRUCellArguments{a.units, cell_options<GRUCellOptions>(a.options)})) {}
  std::string class_name() const override { return "GRU"; }
  std::shared_ptr<RecurrentBody> reversed() const override { return reversed_of<GRUBody>(o); }
};

/// CuDNN's GRU resets after the product.
std::shared_ptr<Body> cudnn_from(const Json& config, const LoadContext& context) {
  Json with = config;
  with.set("reset_after", true);
  return recurrent_from<GRUBody>(with, context);
}

}  // namespace

Layer GRUCell(int64_t units, const GRUCellOptions& o) {
  return make_layer<GRUCellBody>({units, o}, o);
}
Layer GRU(int64_t units, const GRUOptions& o) { return make_layer<GRUBody>({units, o}, o); }

void add_gru_layers(LayerTable& t) {
  t["GRUCell"] = make_from<GRUCellBody>;
  t["GRU"] = recurrent_from<GRUBody>;
  t["CuDNNGRU"] = cudnn_from;
}

}  // namespace horngate::keras
