// Embedding.
#include "horngate/keras/layers_embedding.h"

#include "keras/layers/body_of.h"

namespace horngate::keras {

static Json to_json(const LengthOption& v) {
  if (!v) return {};
  return v.is_single() ? Json((*v).dim(0)) : to_json(*v);
}
static void from_json(const Json& j, LengthOption& v, const std::string& where) {
  v = {};
  if (j.is_null()) return;
  if (j.is_int()) {
    v = j.as_int(where);
    return;
  }
  Shape lengths;
  from_json(j, lengths, where);
  v = lengths;
}

namespace {

struct EmbeddingArguments {
  int64_t input_dim = 0;
  int64_t output_dim = 0;
  EmbeddingOptions options = {};
};
template <class V>
void fields(V& v, Like<EmbeddingArguments> auto& a) {
  auto& o = a.options;
  v.required("input_dim", a.input_dim), v.required("output_dim", a.output_dim);
  v("embeddings_initializer", o.embeddings_initializer);
  v("embeddings_regularizer", o.embeddings_regularizer);
  v("activity_regularizer", o.activity_regularizer);
  v("embeddings_constraint", o.embeddings_constraint);
  v("mask_zero", o.mask_zero), v("input_length", o.input_length);
}

class EmbeddingBody final : public BodyOf<EmbeddingArguments> {
 public:
  explicit EmbeddingBody(EmbeddingArguments a) : BodyOf(std::move(a)) {
    check_positive("Embedding", "input_dim", o.input_dim);
    check_positive("Embedding", "output_dim", o.output_dim);
    activity_regularizer = o.options.activity_regularizer;
  }
  std::string class_name() const override { return "Embedding"; }
  /// As Keras: an Embedding always knows its input's shape.
  void set_options(LayerOptions options) override {
    const LengthOption& length = o.options.input_length;
    if (!options.batch_input_shape) {
      Ints dims{Shape::kUnknown};
      if (length)
        for (const int64_t d : (*length).dims()) dims.push_back(d);
      else
        dims.push_back(Shape::kUnknown);
      options.batch_input_shape = Shape(dims);
    }
    Body::set_options(std::move(options));
  }
  void build(const Shapes&) override {
    embeddings_ = add_weight("embeddings", {Dim(o.input_dim), o.output_dim},
                             {.initializer = o.options.embeddings_initializer,
                              .regularizer = o.options.embeddings_regularizer,
                              .constraint = o.options.embeddings_constraint});
  }
  Tensors call(Call& c) override {
    check_length(c.x().shape());
    return {gather(embeddings_, cast(c.x(), DType::int32))};
  }
  Tensors compute_mask(const Tensors& in, const Tensors&) override {
    return {o.options.mask_zero ? not_equal(in[0], 0) : Tensor()};
  }

 private:
  void check_length(const Shape& x) const {
    const LengthOption& length = o.options.input_length;
    if (!length) return;
    const Shape& want = *length;
    bool fits = want.ndim() + 1 == x.ndim();
    for (size_t i = 0; fits && i < want.ndim(); ++i)
      fits = !want[i].known() || !x[i + 1].known() || want.dim(i) == x.dim(i + 1);
    if (!fits)
      throw ValueError(where() + "the input must have the input_length " + to_json(length).dump() +
                       "; got shape " + x.str() + ".");
  }
  Variable embeddings_;
};

}  // namespace

Layer Embedding(int64_t input_dim, int64_t output_dim, const EmbeddingOptions& o) {
  return make_layer<EmbeddingBody>({input_dim, output_dim, o}, o);
}

void add_embedding_layers(LayerTable& t) { t["Embedding"] = make_from<EmbeddingBody>; }

}  // namespace horngate::keras
