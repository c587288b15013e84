// TimeDistributed, Bidirectional.
#include "horngate/keras/layers_wrappers.h"

#include "keras/layers/recurrent.h"
#include "keras/node.h"

namespace horngate::keras {
namespace {

/// x of sizes, then those of y from an axis on.
Tensor reshaped(const Tensor& x, std::vector<ShapeArg::Entry> sizes, const Tensor& y, size_t from) {
  for (size_t i = from; i < y.ndim(); ++i) sizes.push_back(size_of(y, i));
  return reshape(x, sizes);
}

Json described(const Body& layer) {
  return class_config(layer.class_name().c_str(), layer.full_config());
}

/// Null for a layer with a callable that has no name: to say so has time until somebody asks.
Json described_if_possible(const Body& layer) {
  try {
    return described(layer);
  } catch (const ValueError&) {
    return {};
  }
}

// ---- TimeDistributed

/// Whether it is trained is up to the layer inside.
class TimeDistributedBody final : public Body {
 public:
  explicit TimeDistributedBody(std::shared_ptr<Body> layer) : layer_(std::move(layer)) {
    if (layer_->is_stateful())
      throw ValueError("TimeDistributed: layer must not be stateful; got " + layer_->name() + ".");
    input_spec = {{.min_ndim = 3}};
    activity_regularizer = layer_->activity();
  }
  std::string class_name() const override { return "TimeDistributed"; }
  bool supports_masking() const override { return true; }
  std::vector<std::shared_ptr<Body>> parts() const override { return {layer_}; }
  std::vector<Weight> trainable_weights() const override { return layer_->trainable_weights(); }
  std::vector<Weight> non_trainable_weights() const override {
    return layer_->non_trainable_weights();
  }
  void set_options(LayerOptions options) override {
    Body::set_options(std::move(options));
    set_trainable(trainable());
  }
  void set_trainable(bool value) override {
    Body::set_trainable(value);
    layer_->set_trainable(value);
  }
  Json full_config() const override {
    Json config = Body::full_config();
    config.set("trainable", layer_->trainable());
    return config;
  }
  Json config() const override {
    Json config;
    config.set("layer", described(*layer_));
    return config;
  }
  void build(const Shapes& in) override {
    Ints step{in[0].dims().begin(), in[0].dims().end()};
    step.erase(step.begin() + 1);
    layer_->set_scope(scope());
    layer_->ensure_built({Shape(step)});
    InputSpec spec{.ndim = in[0].ndim()};
    for (size_t i = 2; i < in[0].ndim(); ++i)
      if (in[0][i].known()) spec.axes[static_cast<int64_t>(i)] = in[0].dim(i);
    input_spec = {spec};
  }
  Tensors call(Call& c) override {
    const bool fixed = c.x().shape()[0].known();
    const Tensor y = fixed ? looped(c.x()) : at_once(c);
    if (fixed && activity_regularizer)
      c.add_loss(activity_regularizer(y));  // Keras counts it twice
    return {y};
  }
  Tensors compute_mask(const Tensors& in, const Tensors& masks) override {
    const Tensor mask = masks.empty() ? Tensor() : masks[0];
    if (in[0].shape()[0].known()) return {mask};
    Tensors inner = layer_->compute_mask({reshaped(in[0], {-1}, in[0], 2)}, {inner_mask(mask)});
    if (!inner.empty() && inner[0].defined())
      return {reshaped(inner[0], {-1, size_of(in[0], 1)}, inner[0], 1)};
    Tensor result = mask;
    while (result.defined() && result.ndim() > 2) result = any(result, {.axis = -1});
    return {result};
  }

 private:
  static Tensor inner_mask(const Tensor& mask) {
    return mask.defined() ? reshaped(mask, {-1}, mask, 2) : Tensor();
  }
  Tensor one_result(Call& inner) const {
    inner.masks.resize(inner.inputs.size());
    const Tensors results = layer_->call(inner);
    if (results.size() != 1)
      throw ValueError(where() + "the layer must have one result; " + layer_->name() + " has " +
                       std::to_string(results.size()) + ".");
    return results[0];
  }
  /// The number of samples matters: one time step after the other. As in Keras, updates of the inside do not leave the
  /// loop, nor do losses here and there, but for the layer's own.
  Tensor looped(const Tensor& x) const {
    const auto step = [&](const Tensor& now, const Tensors&) {
      Call inner;
      inner.inputs = {now};
      return RnnStep{one_result(inner), {}};
    };
    return rnn(step, x, {}).outputs;
  }
  /// Time steps of all samples are samples.
  Tensor at_once(Call& c) const {
    Call inner;
    inner.inputs = {reshaped(c.x(), {-1}, c.x(), 2)};
    inner.masks = {inner_mask(c.mask())};
    const Tensor y = one_result(inner);
    for (OwnedUpdate& update : inner.updates()) update.owners.push_back(layer_.get());
    inner.losses().clear();
    c.take(std::move(inner));
    return reshaped(y, {-1, size_of(c.x(), 1)}, y, 1);
  }

  std::shared_ptr<Body> layer_;
};

std::shared_ptr<Body> time_distributed_from(const Json& config, const LoadContext& context) {
  LayerOptions common = read_common(config);
  auto body =
      std::make_shared<TimeDistributedBody>(layer_from(config.at("layer", common.name), context));
  body->set_options(std::move(common));
  return body;
}

// ---- Bidirectional

class BidirectionalBody final : public Body {
 public:
  BidirectionalBody(std::shared_ptr<RecurrentBody> layer, std::shared_ptr<RecurrentBody> reversed,
                    std::optional<std::string> merge_mode, Arrays weights)
      : description_(described_if_possible(*layer)),
        forward_(std::move(layer)),
        backward_(std::move(reversed)),
        merge_mode_(std::move(merge_mode)),
        first_weights_(std::move(weights)) {
    const auto& m = merge_mode_;
    if (m && *m != "sum" && *m != "mul" && *m != "ave" && *m != "concat")
      throw ValueError("Bidirectional: merge_mode must be sum, mul, ave, concat or none; got " +
                       *m + ".");
    LayerOptions options = forward_->layer_options();
    options.name = "backward_" + forward_->name();
    options.batch_input_shape.reset();
    backward_->set_options(std::move(options));
    activity_regularizer = forward_->activity();
  }
  std::string class_name() const override { return "Bidirectional"; }
  bool supports_masking() const override { return true; }
  bool is_stateful() const override { return forward_->is_stateful(); }
  void reset_states() override { forward_->reset_states(), backward_->reset_states(); }
  std::vector<std::shared_ptr<Body>> parts() const override { return {forward_, backward_}; }
  void set_options(LayerOptions options) override {
    Body::set_options(std::move(options));
    set_trainable(trainable());
  }
  void set_trainable(bool value) override {
    Body::set_trainable(value);
    forward_->set_trainable(value), backward_->set_trainable(value);
  }
  Json config() const override {
    Json config;
    config.set("layer", description_.is_null() ? described(*forward_) : description_);
    config.set("merge_mode", to_json(merge_mode_));
    if (const auto& n = forward_->num_constants()) config.set("num_constants", *n);
    return config;
  }
  void build(const Shapes& in) override {
    forward_->set_scope(scope_of("forward_" + forward_->name()));
    backward_->set_scope(scope_of(backward_->name()));
    forward_->ensure_built(inputs_of(in, 0));
    backward_->ensure_built(inputs_of(in, 1));
    if (first_weights_.empty()) return;
    Layer(shared_from_this()).set_weights(first_weights_);
    first_weights_.clear();
  }
  Tensors call(Call& c) override {
    Tensors y = half(c, *forward_, 0), other = half(c, *backward_, 1);
    if (forward_->flags().return_sequences) other[0] = reverse(other[0], 1);
    Tensors results = merged(y[0], other[0]);
    results.insert(results.end(), y.begin() + 1, y.end());
    results.insert(results.end(), other.begin() + 1, other.end());
    return results;
  }
  Tensors compute_mask(const Tensors&, const Tensors& masks) override {
    if (!forward_->flags().return_sequences || masks.empty()) return {};
    return merge_mode_ ? Tensors{masks[0]} : Tensors{masks[0], masks[0]};
  }
  void set_num_constants(std::optional<int64_t> n) {
    forward_->set_num_constants(n), backward_->set_num_constants(n);
  }

 protected:
  void check_inputs(const Shapes& shapes) const override {
    const auto constants = static_cast<size_t>(forward_->num_constants().value_or(0));
    const size_t all = 1 + 2 * forward_->state_count() + constants;
    if (shapes.size() != 1 + constants && shapes.size() != all)
      throw ValueError(where() + "must have " + std::to_string(1 + constants) + " inputs, or " +
                       std::to_string(all) + " with the states of both directions; got " +
                       std::to_string(shapes.size()) + ".");
  }

 private:
  std::string scope_of(const std::string& inner) const { return scope() + "/" + inner; }
  /// What one direction takes of all inputs: x, its half of the states, the constants.
  template <class T>
  std::vector<T> inputs_of(const std::vector<T>& all, ptrdiff_t direction) const {
    const auto constants = static_cast<ptrdiff_t>(forward_->num_constants().value_or(0));
    const ptrdiff_t each = (static_cast<ptrdiff_t>(all.size()) - 1 - constants) / 2;
    const auto states = all.begin() + 1 + direction * each;
    std::vector<T> mine{all[0]};
    mine.insert(mine.end(), states, states + each);
    mine.insert(mine.end(), all.end() - constants, all.end());
    return mine;
  }
  Tensors half(Call& c, RecurrentBody& layer, ptrdiff_t direction) const {
    Call inner;
    inner.inputs = inputs_of(c.inputs, direction);
    inner.masks = inputs_of(c.masks, direction);
    layer.ensure_built(shapes_of(inner.inputs));  // checks them
    Tensors results = layer.call(inner);
    c.take(std::move(inner));
    return results;
  }
  Tensors merged(const Tensor& y, const Tensor& other) const {
    if (!merge_mode_) return {y, other};
    if (*merge_mode_ == "concat") return {concatenate({y, other})};
    if (*merge_mode_ == "sum") return {y + other};
    if (*merge_mode_ == "ave") return {(y + other) / 2};
    return {y * other};
  }

  Json description_;  // of the layer as it was given, which is what Keras writes
  std::shared_ptr<RecurrentBody> forward_, backward_;
  std::optional<std::string> merge_mode_;
  Arrays first_weights_;
};

std::shared_ptr<RecurrentBody> recurrent_in(const std::shared_ptr<Body>& layer) {
  auto body = std::dynamic_pointer_cast<RecurrentBody>(layer);
  if (!body)
    throw TypeError("Bidirectional: layer must be recurrent; got " +
                    (layer ? layer->name() + ", a " + layer->class_name() : "nothing") + ".");
  return body;
}

std::shared_ptr<Body> bidirectional_from(const Json& config, const LoadContext& context) {
  LayerOptions common = read_common(config);
  if (config.find("backward_layer"))
    throw ValueError(common.name + ": a backward_layer of its own is not supported.");
  std::optional<std::string> merge_mode = "concat";
  std::optional<int64_t> constants;
  Reader reader{config, common.name};
  reader("merge_mode", merge_mode), reader("num_constants", constants);
  // Cells of one's own are made twice from their configuration, so that they need not know how to copy themselves.
  const Json& description = config.at("layer", common.name);
  const auto forward = recurrent_in(layer_from(description, context));
  Json other = description.at("config", common.name);
  other.set("go_backwards", !forward->flags().go_backwards);
  const std::string& class_name = description.at("class_name", common.name).as_string(common.name);
  const auto backward =
      recurrent_in(layer_from(class_config(class_name.c_str(), std::move(other)), context));
  auto body = std::make_shared<BidirectionalBody>(forward, backward, merge_mode, Arrays{});
  body->set_num_constants(constants);
  body->set_options(std::move(common));
  return body;
}

}  // namespace

Layer TimeDistributed(const Layer& layer, const PlainOptions& o) {
  if (!layer.defined()) throw TypeError("TimeDistributed: layer must be a layer; got nothing.");
  auto body = std::make_shared<TimeDistributedBody>(layer.shared());
  body->set_options(common_options(o));
  return Layer(std::move(body));
}

Layer Bidirectional(const Layer& layer, const BidirectionalOptions& o) {
  const auto forward = recurrent_in(layer.shared());
  auto body =
      std::make_shared<BidirectionalBody>(forward, forward->reversed(), o.merge_mode, o.weights);
  body->set_options(common_options(o));
  return Layer(std::move(body));
}

void add_wrapper_layers(LayerTable& t) {
  t["TimeDistributed"] = time_distributed_from;
  t["Bidirectional"] = bidirectional_from;
}

}  // namespace horngate::keras
