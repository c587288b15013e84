// Layers that take several inputs.
#include "horngate/keras/layers_merge.h"

#include <algorithm>

#include "horngate/horngate.h"
#include "keras/layers/old_names.h"

namespace horngate::keras {
namespace {

std::string shapes_text(const Shapes& shapes) {
  std::string text;
  for (const Shape& s : shapes) text += (text.empty() ? "" : ", ") + s.str();
  return text;
}

enum class Merge : uint8_t { add, subtract, multiply, average, maximum, minimum };

constexpr const char* kMergeNames[] = {"Add",     "Subtract", "Multiply",
                                       "Average", "Maximum",  "Minimum"};

Tensor merged(Merge kind, const Tensor& a, const Tensor& b) {
  switch (kind) {
    case Merge::subtract: return a - b;
    case Merge::multiply: return a * b;
    case Merge::maximum: return maximum(a, b);
    case Merge::minimum: return minimum(a, b);
    default: return a + b;
  }
}

/// The masks that are there, all together.
Tensors common_mask(const Tensors& masks) {
  Tensors given;
  for (const Tensor& m : masks)
    if (m.defined()) given.push_back(expand_dims(m, 0));
  if (given.empty()) return {};
  return {all(concatenate(given, 0), {.axis = 0})};
}

template <Merge kKind>
class MergeBody final : public BodyOf<NoArguments> {
 public:
  using BodyOf::BodyOf;
  std::string class_name() const override { return kMergeNames[static_cast<int>(kKind)]; }
  bool supports_masking() const override { return true; }
  void build(const Shapes& in) override {
    if (in.size() < 2 || (kKind == Merge::subtract && in.size() != 2))
      throw ValueError(where() + class_name() + " must be called on " +
                       (kKind == Merge::subtract ? "2" : "at least 2") + " inputs; got " +
                       std::to_string(in.size()) + ".");
    for (size_t i = 1; i < in.size(); ++i) check_pair(in, in[0], in[i]);
  }
  Tensors call(Call& c) override {
    size_t most = 0;
    for (const Tensor& x : c.inputs) most = std::max(most, x.ndim());
    Tensor result;
    for (Tensor x : c.inputs) {
      while (x.ndim() < most) x = expand_dims(x, 1);
      result = result.defined() ? merged(kKind, result, x) : x;
    }
    if (kKind == Merge::average) result = result / static_cast<double>(c.inputs.size());
    return {result};
  }
  Tensors compute_mask(const Tensors&, const Tensors& masks) override { return common_mask(masks); }

 private:
  /// Sizes from the end must agree or be 1; samples must agree.
  void check_pair(const Shapes& in, const Shape& a, const Shape& b) const {
    const auto differ = [](Dim x, Dim y) { return x.known() && y.known() && x != y; };
    bool fits = !differ(a[0], b[0]);
    for (size_t i = 1; i < std::min(a.ndim(), b.ndim()); ++i) {
      const Dim x = a[a.ndim() - i], y = b[b.ndim() - i];
      fits = fits && (!differ(x, y) || x == Dim(1) || y == Dim(1));
    }
    if (!fits)
      throw ValueError(where() + "inputs must have shapes that fit; got " + shapes_text(in) + ".");
  }
};

struct ConcatenateArguments {
  ConcatenateOptions options = {};
};
template <class V>
void fields(V& v, Like<ConcatenateArguments> auto& a) {
  v("axis", a.options.axis);
}

class ConcatenateBody final : public BodyOf<ConcatenateArguments> {
 public:
  using BodyOf::BodyOf;
  std::string class_name() const override { return "Concatenate"; }
  bool supports_masking() const override { return true; }
  void build(const Shapes& in) override {
    if (in.size() < 2)
      throw ValueError(where() + "Concatenate must be called on at least 2 inputs; got " +
                       std::to_string(in.size()) + ".");
  }
  Tensors call(Call& c) override { return {concatenate(c.inputs, o.options.axis)}; }
  Tensors compute_mask(const Tensors& in, const Tensors& masks) override {
    if (std::none_of(masks.begin(), masks.end(), [](const Tensor& m) { return m.defined(); }))
      return {};
    Tensors full;
    for (size_t i = 0; i < in.size(); ++i) {
      if (!masks[i].defined())
        full.push_back(ones_like(in[i], {.dtype = DType::bool_}));
      else
        full.push_back(masks[i].ndim() < in[i].ndim() ? expand_dims(masks[i]) : masks[i]);
    }
    return {all(concatenate(full, o.options.axis), {.axis = -1})};
  }
};

/// Axes of products of two inputs: one number for both, or two.
void check_axes(const char* layer, const Axis& axes) {
  if (axes.all() || axes.axes().empty() || axes.axes().size() > 2)
    throw ValueError(std::string(layer) + ": axes must be one number or two; got " +
                     to_json(axes).dump() + ".");
}

size_t axis_of(const std::string& where, const Axis& axes, const Shape& shape, size_t input) {
  const int64_t given = axes.axes()[axes.axes().size() == 1 ? 0 : input];
  const auto ndim = static_cast<int64_t>(shape.ndim());
  const int64_t axis = given < 0 ? given + ndim : given;
  if (axis < 0 || axis >= ndim)
    throw ValueError(where + "axes must be axes of the inputs; got axes=" + to_json(axes).dump() +
                     " for shape " + shape.str() + ".");
  return static_cast<size_t>(axis);
}

struct DotArguments {
  Axis axes = 0;
  DotOptions options = {};
};
template <class V>
void fields(V& v, Like<DotArguments> auto& a) {
  v.required("axes", a.axes), v("normalize", a.options.normalize);
}

class DotBody final : public BodyOf<DotArguments> {
 public:
  explicit DotBody(DotArguments a) : BodyOf(std::move(a)) { check_axes("Dot", o.axes); }
  std::string class_name() const override { return "Dot"; }
  bool supports_masking() const override { return true; }
  void build(const Shapes& in) override {
    if (in.size() != 2)
      throw ValueError(where() + "Dot must be called on 2 inputs; got " +
                       std::to_string(in.size()) + ".");
    const Dim a = in[0][axis_of(where(), o.axes, in[0], 0)],
              b = in[1][axis_of(where(), o.axes, in[1], 1)];
    if (a.known() && b.known() && a != b)
      throw ValueError(where() + "inputs must have the same size along axes=" +
                       to_json(o.axes).dump() + "; got shapes " + shapes_text(in) + ".");
  }
  Tensors call(Call& c) override {
    Tensor a = c.inputs[0], b = c.inputs[1];
    const Ints axes{static_cast<int64_t>(axis_of(where(), o.axes, a.shape(), 0)),
                    static_cast<int64_t>(axis_of(where(), o.axes, b.shape(), 1))};
    if (o.options.normalize) {
      a = l2_normalize(a, axes[0]);
      b = l2_normalize(b, axes[1]);
    }
    return {batch_dot(a, b, axes)};
  }
  Tensors compute_mask(const Tensors&, const Tensors&) override { return {}; }
};

/// Merge of Keras 1 with mode "cos", which no layer of Keras 2 computes: products of two inputs by the roots of those of
/// each with itself, with a new axis 1.
struct CosArguments {
  Axis axes = -1;
};
template <class V>
void fields(V& v, Like<CosArguments> auto& a) {
  v("dot_axes", a.axes);
}

class CosBody final : public BodyOf<CosArguments> {
 public:
  explicit CosBody(CosArguments a) : BodyOf(std::move(a)) { check_axes("Merge", o.axes); }
  std::string class_name() const override { return "Merge"; }
  bool supports_masking() const override { return true; }
  Json config() const override {
    Json config;
    config.set("mode", "cos");
    config.set("mode_type", "raw");
    config.set("dot_axes", to_json(o.axes));
    return config;
  }
  void build(const Shapes& in) override {
    if (in.size() != 2 || in[0].ndim() != in[1].ndim())
      throw ValueError(where() +
                       "a Merge with mode \"cos\" must be called on 2 inputs of one rank; got " +
                       shapes_text(in) + ".");
  }
  Tensors call(Call& c) override {
    const Tensor &a = c.inputs[0], &b = c.inputs[1];
    const Ints axes{static_cast<int64_t>(axis_of(where(), o.axes, a.shape(), 0)),
                    static_cast<int64_t>(axis_of(where(), o.axes, b.shape(), 1))};
    const Tensor length = sqrt(batch_dot(a, a, axes) * batch_dot(b, b, axes));
    return {expand_dims(batch_dot(a, b, axes) / maximum(length, epsilon()), 1)};
  }
  Tensors compute_mask(const Tensors&, const Tensors&) override { return {}; }
};

/// The one class of Keras 1, with a mode.
std::shared_ptr<Body> merge_from(const Json& config, const LoadContext& context) {
  must_be(config, "Merge", "mode_type", {"raw"});
  const std::string& mode = config.at("mode", "Merge").as_string("Merge: mode");
  if (mode == "sum") return make_from<MergeBody<Merge::add>>(config, context);
  if (mode == "mul") return make_from<MergeBody<Merge::multiply>>(config, context);
  if (mode == "ave") return make_from<MergeBody<Merge::average>>(config, context);
  if (mode == "max") return make_from<MergeBody<Merge::maximum>>(config, context);
  if (mode == "concat")
    return make_from<ConcatenateBody>(renamed(config, {{"concat_axis", "axis"}}), context);
  if (mode == "dot") return make_from<DotBody>(renamed(config, {{"dot_axes", "axes"}}), context);
  if (mode == "cos") return make_from<CosBody>(config, context);
  throw ValueError(
      "Merge: mode must be \"sum\", \"mul\", \"ave\", \"max\", \"concat\", \"dot\" or \"cos\"; got "
      "\"" +
      mode + "\".");
}

}  // namespace

// clang-format off
Layer Add(const PlainOptions& o) { return make_layer<MergeBody<Merge::add>>({}, o); }
Layer Subtract(const PlainOptions& o) { return make_layer<MergeBody<Merge::subtract>>({}, o); }
Layer Multiply(const PlainOptions& o) { return make_layer<MergeBody<Merge::multiply>>({}, o); }
Layer Average(const PlainOptions& o) { return make_layer<MergeBody<Merge::average>>({}, o); }
Layer Maximum(const PlainOptions& o) { return make_layer<MergeBody<Merge::maximum>>({}, o); }
Layer Minimum(const PlainOptions& o) { return make_layer<MergeBody<Merge::minimum>>({}, o); }
Layer Concatenate(const ConcatenateOptions& o) { return make_layer<ConcatenateBody>({o}, o); }
Layer Dot(const Axis& axes, const DotOptions& o) { return make_layer<DotBody>({axes, o}, o); }
// clang-format on

void add_merge_layers(LayerTable& t) {
  t["Add"] = make_from<MergeBody<Merge::add>>;
  t["Subtract"] = make_from<MergeBody<Merge::subtract>>;
  t["Multiply"] = make_from<MergeBody<Merge::multiply>>;
  t["Average"] = make_from<MergeBody<Merge::average>>;
  t["Maximum"] = make_from<MergeBody<Merge::maximum>>;
  t["Minimum"] = make_from<MergeBody<Merge::minimum>>;
  t["Concatenate"] = make_from<ConcatenateBody>;
  t["Dot"] = make_from<DotBody>;
  t["Merge"] = merge_from;
}

}  // namespace horngate::keras
