// Calling layers: build, check, masks, losses and updates.
#include "horngate/keras/layer.h"

#include <atomic>

#include "horngate/config.h"
#include "horngate/ops/values.h"
#include "horngate/ops/variables.h"
#include "keras/fields.h"
#include "keras/names.h"
#include "keras/no_initializers.h"
#include "keras/node.h"

namespace horngate::keras {

void Values::refuse(const Tensor& tensor) {
  throw TypeError(
      "a layer must be called on what Input or a layer gave; got a tensor of K functions, of "
      "shape " +
      tensor.shape().str() +
      ". Wrap those functions: keras::Lambda(\"name\", [](const K::Tensors& x) { .. }).");
}

void Call::take(Call&& inner) {
  const auto move_to = [](auto& to, auto& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  };
  move_to(losses_, inner.losses_);
  move_to(updates_, inner.updates_);
  move_to(state_updates_, inner.state_updates_);
}

CallNode::~CallNode() {
  // One after the other: nets may be deeper than the stack.
  std::vector<Value> rest;
  const auto take = [&rest](Values& values) {
    for (Value& v : values)
      if (v.node().use_count() == 1) rest.push_back(std::move(v));
    values.clear();
  };
  take(inputs);
  while (!rest.empty()) {
    const Value last = std::move(rest.back());
    rest.pop_back();
    if (last.node() && last.node().use_count() == 1) take(last.node()->inputs);
  }
}

Values keep_call(const std::shared_ptr<Body>& layer, const Values& inputs, Call& call,
                 Tensors outputs, Tensors masks) {
  static std::atomic<int64_t> count{0};
  const auto node = std::make_shared<CallNode>();
  node->layer = layer;
  node->inputs = inputs;
  node->outputs = std::move(outputs);
  node->masks = std::move(masks);
  node->losses = call.losses();
  node->updates = call.updates();
  node->state_updates = call.state_updates();
  node->order = count++;
  Values results;
  for (size_t i = 0; i < node->outputs.size(); ++i)
    results.emplace_back(node->outputs[i], node->masks[i], node, i);
  return results;
}

Body::~Body() = default;
void Body::build(const Shapes&) {}
Json Body::config() const { return Json::Object(); }

namespace {

void append(std::vector<Weight>& to, const std::vector<Weight>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

std::vector<Weight> Body::trainable_weights() const {
  std::vector<Weight> result;
  if (!trainable_) return result;
  for (const Weight& w : weights_)
    if (w.trainable) result.push_back(w);
  for (const auto& part : parts()) append(result, part->trainable_weights());
  return result;
}

std::vector<Weight> Body::non_trainable_weights() const {
  std::vector<Weight> result;
  for (const bool trained : {true, false})
    for (const Weight& w : weights_)
      if (w.trainable == trained && !(trained && trainable_)) result.push_back(w);
  for (const auto& part : parts())
    append(result, trainable_ ? part->non_trainable_weights() : part->weights());
  return result;
}

std::vector<Weight> Body::weights() const {
  std::vector<Weight> result = trainable_weights();
  append(result, non_trainable_weights());
  return result;
}

DType Body::dtype() const { return options_.dtype.value_or(floatx()); }

Tensors Body::weight_losses() const {
  Tensors losses;
  for (const Weight& w : weights_)
    if (w.regularizer) losses.push_back(w.regularizer(w.variable));
  for (const auto& part : parts())
    for (const Tensor& loss : part->weight_losses()) losses.push_back(loss);
  return losses;
}

Tensors Body::compute_mask(const Tensors&, const Tensors& masks) {
  if (supports_masking()) return masks;
  for (const Tensor& mask : masks)
    if (mask.defined())
      throw TypeError(where() + "a " + class_name() +
                      " layer does not support masking, but its input has a mask.");
  return {};
}

void Body::set_options(LayerOptions options) {
  options_ = std::move(options);
  name_ = !options_.name.empty() ? options_.name : default_name(class_name());
  trainable_ = options_.trainable;
}

void Body::set_scope(std::string scope, NameCount names) {
  scope_ = std::move(scope);
  names_ = std::move(names);
}

Json Body::full_config() const {
  Json config;
  config.set("name", name_);
  config.set("trainable", trainable_);
  if (const auto& shape = options_.batch_input_shape)
    config.set("batch_input_shape", to_json(*shape));
  config.set("dtype", std::string(name_of(dtype())));
  Json own;
  try {
    own = this->config();
  } catch (const Nameless& e) {
    throw ValueError(where() + e.what());
  }
  for (const auto& [name, value] : own.as_object("")) config.set(name, value);
  return config;
}

Variable Body::add_weight(std::string_view name, const Shape& shape, const WeightOptions& options) {
  std::string full = scope() + "/" + std::string(name);
  if (names_)
    if (const int64_t before = (*names_)[std::string(name)]++) full += "_" + std::to_string(before);
  if (!shape.is_static())
    throw ValueError(where() + "the shape of " + std::string(name) + " must be known; got " +
                     shape.str() + ".");
  const DType dtype = options.dtype.value_or(this->dtype());
  if (NoInitializers::is_active() && !NoInitializers::take(shape.size()))
    throw ValueError(where() + std::string(name) + " has the shape " + shape.str() +
                     " in the configuration, more numbers than the file holds.");
  Array first;
  if (NoInitializers::is_active())
    first = Array(dtype, shape.dims());  // whatever memory holds: a file sets every weight
  else
    first =
        options.initializer ? options.initializer(shape, dtype) : Array::zeros(dtype, shape.dims());
  Constraint constraint;
  if (options.constraint) constraint = options.constraint;
  weights_.push_back(
      {variable(std::move(first), {.dtype = dtype, .name = full, .constraint = constraint}), full,
       options.trainable, options.regularizer});
  return weights_.back().variable;
}

void Body::check_inputs(const Shapes& shapes) const {
  if (input_spec.empty()) return;
  const auto fail = [&](size_t i, const std::string& wanted) {
    throw ValueError(where() + "input " + std::to_string(i) + " must have " + wanted +
                     "; got shape " + shapes[i].str() + ".");
  };
  if (shapes.size() != input_spec.size())
    throw ValueError(where() + "must have " + std::to_string(input_spec.size()) + " inputs; got " +
                     std::to_string(shapes.size()) + ".");
  for (size_t i = 0; i < shapes.size(); ++i) {
    const InputSpec& spec = input_spec[i];
    const auto ndim = shapes[i].ndim();
    if (spec.ndim && *spec.ndim != ndim) fail(i, std::to_string(*spec.ndim) + " dimensions");
    if (spec.min_ndim && *spec.min_ndim > ndim)
      fail(i, "at least " + std::to_string(*spec.min_ndim) + " dimensions");
    for (const auto& [axis, size] : spec.axes) {
      const int64_t at = axis < 0 ? axis + static_cast<int64_t>(ndim) : axis;
      if (at < 0 || at >= static_cast<int64_t>(ndim)) fail(i, "an axis " + std::to_string(axis));
      const Dim d = shapes[i][static_cast<size_t>(at)];
      if (d.known() && d.value() != size)
        fail(i, std::to_string(size) + " along axis " + std::to_string(axis));
    }
  }
}

void Body::ensure_built(const Shapes& inputs) {
  check_inputs(inputs);
  if (built_) return;
  weights_.clear();  // a build that failed halfway begins anew
  build(inputs);
  built_ = true;
  check_inputs(inputs);
}

Tensors Body::run(Call& call) {
  call.masks.resize(call.inputs.size());
  Tensors outputs = this->call(call);
  if (activity_regularizer)
    for (const Tensor& output : outputs) call.add_loss(activity_regularizer(output));
  for (OwnedUpdate& update : call.updates()) update.owners.push_back(this);
  return outputs;
}

Values Body::operator()(const Values& inputs, const CallOptions& options) {
  if (inputs.empty()) throw ValueError(where() + "must have at least 1 input; got 0.");
  Call call;
  for (const Value& v : inputs) {
    if (!v.node()) Values::refuse(v);
    call.inputs.push_back(v);
    call.masks.push_back(v.mask());
  }
  ensure_built(shapes_of(call.inputs));
  const PhaseScope phase(options.training);
  Tensors outputs = run(call);
  // A tensor that is handed through is another value of this layer.
  for (Tensor& output : outputs)
    for (const Tensor& input : call.inputs)
      if (output.same_as(input)) output = identity(input);
  Tensors masks = compute_mask(call.inputs, call.masks);
  masks.resize(outputs.size());
  Values results =
      keep_call(shared_from_this(), inputs, call, std::move(outputs), std::move(masks));
  if (!results.empty()) results[0].node()->options = options;
  return results;
}

Body& Layer::body() const {
  if (!body_) throw ValueError("layer: this handle holds no layer.");
  return *body_;
}

Values Layer::call_all(const Values& inputs, const CallOptions& options) const {
  return body()(inputs, options);
}

Layer::Layer(std::shared_ptr<Body> body) : body_(std::move(body)) {
  if (body_ && body_->name().empty()) body_->set_options({});
}

Value Layer::operator()(const Values& inputs, const CallOptions& options) const {
  Values results = call_all(inputs, options);
  if (results.size() != 1)
    throw ValueError(name() + ": has " + std::to_string(results.size()) +
                     " results; take them with call_all.");
  return results[0];
}

Arrays Layer::get_weights() const {
  std::vector<Variable> variables;
  for (const Weight& w : body().ordered_weights()) variables.push_back(w.variable);
  return batch_get_value(variables);
}

void Layer::set_weights(const Arrays& values) const {
  const std::vector<Weight> mine = body().ordered_weights();
  if (values.size() != mine.size())
    throw ValueError("set_weights: layer " + name() + " has " + std::to_string(mine.size()) +
                     " weights; got " + std::to_string(values.size()) + ".");
  std::vector<std::pair<Variable, Array>> pairs;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].shape() != mine[i].variable.shape())
      throw ValueError("set_weights: " + mine[i].name + " has the shape " +
                       mine[i].variable.shape().str() + "; got " + values[i].shape().str() + ".");
    pairs.emplace_back(mine[i].variable, values[i]);
  }
  batch_set_value(pairs);
}

int64_t Layer::count_params() const {
  if (!body().is_built())
    throw RuntimeError("count_params: layer " + name() +
                       " is not built yet, so it has no weights; call it first.");
  int64_t count = 0;
  for (const Weight& w : weights()) count += w.variable.shape().size();
  return count;
}

}  // namespace horngate::keras
