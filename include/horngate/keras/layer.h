// Layer: a cheap, shared handle. Value: what a layer gives when it is called. Body: what a layer does; derive from it
// to write one.
#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "horngate/args.h"
#include "horngate/function.h"
#include "horngate/keras/json.h"
#include "horngate/keras/objects.h"
#include "horngate/tensor.h"

namespace horngate::keras {

class Body;
struct CallNode;
using Shapes = std::vector<Shape>;

/// A tensor that knows which layer gave it. It is a K::Tensor for K functions, but what those return is not a Value:
/// wrap them in a Lambda.
class HORNGATE_API Value : public Tensor {
 public:
  Value() = default;
  Value(Tensor tensor, Tensor mask, std::shared_ptr<CallNode> node, size_t index)
      : Tensor(std::move(tensor)), mask_(std::move(mask)), node_(std::move(node)), index_(index) {}
  /// Which time steps or rows count; empty if all do.
  const Tensor& mask() const { return mask_; }
  /// The call that gave it, and which of its results it is.
  const std::shared_ptr<CallNode>& node() const { return node_; }
  size_t index() const { return index_; }

 private:
  Tensor mask_;
  std::shared_ptr<CallNode> node_;
  size_t index_ = 0;
};

/// Argument of a layer: one or several values. A bare tensor is an error that says what to do.
class HORNGATE_API Values : public std::vector<Value> {
 public:
  using std::vector<Value>::vector;
  Values(Value value) : vector{std::move(value)} {}
  template <std::same_as<Tensor> T>
  Values(const T& tensor) {
    refuse(tensor);
  }

  /// Throws: says how to make a layer of K functions.
  [[noreturn]] static void refuse(const Tensor& tensor);
};

/// An update, and the layers whose `trainable` decides whether it happens: the one that made it, and those around it.
struct OwnedUpdate {
  Update update;
  std::vector<const Body*> owners = {};
};

struct CallOptions {
  std::optional<bool> training = {};  // unset: as the model is used, to train or to predict
};

/// One call of a layer, while it runs.
class HORNGATE_API Call {
 public:
  Tensors inputs;
  Tensors masks;  // as many; empty ones where nothing is masked

  const Tensor& x() const { return inputs[0]; }
  const Tensor& mask() const { return masks[0]; }
  /// Adds to the loss of each model that contains this call.
  void add_loss(const Tensor& loss) { losses_.push_back(loss); }
  /// Happens in each training step.
  void add_update(Update update) { updates_.push_back({std::move(update)}); }
  /// Happens in every step, also of evaluate and predict: states that go from batch to batch.
  void add_state_update(Update update) { state_updates_.push_back(std::move(update)); }

  /// Takes over what a layer inside of this one added.
  void take(Call&& inner);

  Tensors& losses() { return losses_; }
  std::vector<OwnedUpdate>& updates() { return updates_; }
  const std::vector<Update>& state_updates() const { return state_updates_; }

 private:
  Tensors losses_;
  std::vector<OwnedUpdate> updates_;
  std::vector<Update> state_updates_;
};

struct WeightOptions {
  Initializer initializer = "glorot_uniform";
  Regularizer regularizer = {};
  WeightConstraint constraint = {};
  bool trainable = true;
  DTypeChoice dtype = {};  // unset: the layer's
};

/// What an input must look like; checked before each call.
struct InputSpec {
  std::optional<size_t> ndim = {}, min_ndim = {};
  std::map<int64_t, int64_t> axes = {};  // sizes along some axes; negative ones count from the end
};

struct Weight {
  Variable variable;
  std::string name;  // "dense_1/kernel"
  bool trainable = true;
  Regularizer regularizer = {};
};

/// What all layers can be told.
struct LayerOptions {
  std::string name = {};                        // unset: the class with a number, "dense_1"
  bool trainable = true;                        // false: optimizers leave its weights alone
  DTypeChoice dtype = {};                       // of its weights; unset: floatx
  std::optional<Shape> batch_input_shape = {};  // with the samples; unset: no input of its own
};

/// The common last fields of each layer's options.
#define HORNGATE_KERAS_LAYER_OPTIONS                                                             \
  std::string name = {};              /* unset: the class with a number, "dense_1" */            \
  bool trainable = true;              /* false: optimizers leave its weights alone */            \
  DTypeChoice dtype = {};             /* of its weights; unset: floatx */                        \
  ShapeOption input_shape = {};       /* without samples; for the first layer of a Sequential */ \
  ShapeOption batch_input_shape = {}; /* with samples */

/// What a layer does. A class of your own has class_name, call, and whatever else differs from the default:
///
///   struct Scale : keras::Body {
///     K::Variable factor;
///     std::string class_name() const override { return "Scale"; }
///     void build(const keras::Shapes& in) override { factor = add_weight("factor", {in[0].dim(1)}, {.initializer = "ones"}); }
///     K::Tensors call(keras::Call& c) override { return {c.x() * factor}; }
///   };
///   auto layer = keras::custom<Scale>();
class HORNGATE_API Body : public std::enable_shared_from_this<Body> {
 public:
  Body() = default;
  Body(const Body&) = delete;
  virtual ~Body();

  /// As files name it.
  virtual std::string class_name() const = 0;
  /// Makes the weights, once, when the shapes of the inputs are known.
  virtual void build(const Shapes& inputs);
  virtual Tensors call(Call& call) = 0;
  /// The masks of the results; empty ones for none. By default those of the inputs where supports_masking(), and an
  /// error where a mask comes to a layer that does not.
  virtual Tensors compute_mask(const Tensors& inputs, const Tensors& masks);
  virtual bool supports_masking() const { return false; }
  /// What from_config needs to make the layer again, without the common part. Custom layers that have options say
  /// them here.
  virtual Json config() const;
  /// Weights that optimizers change, and the others, with those of inner layers. If the layer is not trainable, all
  /// are others.
  virtual std::vector<Weight> trainable_weights() const;
  virtual std::vector<Weight> non_trainable_weights() const;
  std::vector<Weight> weights() const;
  /// In the order of get_weights: of a model layer by layer, otherwise that of weights().
  virtual std::vector<Weight> ordered_weights() const { return weights(); }
  /// Losses of the weights themselves, with those of inner layers.
  Tensors weight_losses() const;
  virtual void set_trainable(bool value) { trainable_ = value; }
  /// Inner layers: of models and wrappers.
  virtual std::vector<std::shared_ptr<Body>> parts() const { return {}; }
  virtual bool is_stateful() const { return false; }
  virtual void reset_states() {}

  const std::string& name() const { return name_; }
  bool trainable() const { return trainable_; }
  const std::vector<Weight>& own_weights() const { return weights_; }
  virtual bool is_built() const { return built_; }
  /// A loss of the results; none as a rule.
  const Regularizer& activity() const { return activity_regularizer; }
  DType dtype() const;
  const LayerOptions& layer_options() const { return options_; }
  /// The configuration with name, trainable, dtype and batch_input_shape, as Keras writes it.
  virtual Json full_config() const;

  /// For whoever makes a layer: before its first call.
  virtual void set_options(LayerOptions options);
  /// For layers inside of others: what the names of its weights begin with instead of its own name. Layers of one scope
  /// share the count of its names: "kernel", "kernel_1".
  using NameCount = std::shared_ptr<std::map<std::string, int64_t>>;
  void set_scope(std::string scope, NameCount names = {});
  const std::string& scope() const { return scope_.empty() ? name_ : scope_; }
  /// Calls it: builds at the first time, checks, computes masks, keeps losses and updates.
  Values operator()(const Values& inputs, const CallOptions& options = {});
  /// The same for tensors, without keeping anything: for layers inside of others. `build` must have run.
  Tensors run(Call& call);
  void ensure_built(const Shapes& inputs);

 protected:
  /// A new weight, with this layer's name before its own.
  Variable add_weight(std::string_view name, const Shape& shape, const WeightOptions& options = {});
  /// One for each input; empty: anything.
  std::vector<InputSpec> input_spec;
  /// A loss of the results.
  Regularizer activity_regularizer;
  /// "dense_1: ", for errors.
  std::string where() const { return name_ + ": "; }
  /// Compares with input_spec, before and after build.
  virtual void check_inputs(const Shapes& shapes) const;

 private:
  std::string name_, scope_;
  NameCount names_;
  bool trainable_ = true, built_ = false;
  LayerOptions options_;
  std::vector<Weight> weights_;
};

/// One call of a layer, kept: where values come from. What a model is made of.
struct HORNGATE_API CallNode {
  std::shared_ptr<Body> layer;
  Values inputs;
  Tensors outputs, masks;
  Tensors losses;
  std::vector<OwnedUpdate> updates;
  std::vector<Update> state_updates;
  int64_t order = 0;  // of all calls of the process
  CallOptions options = {};

  CallNode() = default;
  CallNode(const CallNode&) = delete;
  ~CallNode();
};

/// A layer: copies are the same layer, and share its weights.
class HORNGATE_API Layer {
 public:
  Layer() = default;
  /// Gives a body that has no name yet the usual one; custom<B>() is shorter.
  explicit Layer(std::shared_ptr<Body> body);

  /// Calls it on one value, or several.
  /// Example: auto y = keras::Dense(10)(x); auto z = keras::Dropout(0.5)(y, {.training = true});
  Value operator()(const Values& inputs, const CallOptions& options = {}) const;
  /// All results, of layers that have several: recurrent ones with return_state, models.
  Values call_all(const Values& inputs, const CallOptions& options = {}) const;

  const std::string& name() const { return body().name(); }
  std::string class_name() const { return body().class_name(); }
  bool trainable() const { return body().trainable(); }
  void set_trainable(bool value) const { body().set_trainable(value); }
  /// Values of its weights, those that are trained first; of a model layer by layer.
  Arrays get_weights() const;
  /// As many, in the same order and shapes; ValueError otherwise, and nothing has changed.
  void set_weights(const Arrays& values) const;
  std::vector<Weight> weights() const { return body().weights(); }
  std::vector<Weight> trainable_weights() const { return body().trainable_weights(); }
  int64_t count_params() const;
  Json get_config() const { return body().full_config(); }
  void reset_states() const { body().reset_states(); }

  bool defined() const { return body_ != nullptr; }
  Body& body() const;
  const std::shared_ptr<Body>& shared() const { return body_; }
  friend bool operator==(const Layer& a, const Layer& b) { return a.body_ == b.body_; }

 private:
  std::shared_ptr<Body> body_;
};

using Layers = std::vector<Layer>;

/// A layer of a class of your own; the arguments go to its constructor.
template <std::derived_from<Body> B, class... Arguments>
Layer custom(LayerOptions options = {}, Arguments&&... arguments) {
  auto body = std::make_shared<B>(std::forward<Arguments>(arguments)...);
  body->set_options(std::move(options));
  return Layer(std::move(body));
}

/// Makes a layer of a class that is not Keras's own from its configuration: {{"Scale", [](const Json&) { .. }}}.
using LayerMaker = std::function<std::shared_ptr<Body>(const Json& config)>;
using CustomLayers = std::map<std::string, LayerMaker>;

}  // namespace horngate::keras
