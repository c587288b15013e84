// A graph of layers, which is a layer itself. Models are made of one.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "horngate/keras/layer.h"
#include "horngate/keras/layers_core.h"
#include "keras/layers/body_of.h"

namespace horngate::keras {

class Trainer;

class Network final : public Body {
 public:
  using Node = std::shared_ptr<CallNode>;

  /// Empty: a Sequential, to which layers are added.
  Network();
  ~Network() override;
  /// From inputs to outputs. ValueError if they are not connected.
  Network(Values inputs, Values outputs);

  std::string class_name() const override { return is_sequential_ ? "Sequential" : "Model"; }
  bool supports_masking() const override { return true; }
  Tensors call(Call& call) override;
  Tensors compute_mask(const Tensors& inputs, const Tensors& masks) override;
  Json config() const override;
  Json full_config() const override;
  std::vector<std::shared_ptr<Body>> parts() const override { return layers_; }
  std::vector<Weight> non_trainable_weights() const override;
  std::vector<Weight> ordered_weights() const override;
  bool is_stateful() const override;
  void reset_states() override;

  /// To the end of a Sequential. The first one must know its input's shape, or the graph waits for build_for.
  void add(const Layers& layers);
  void build_for(const Shape& batch_input_shape);
  bool is_sequential() const { return is_sequential_; }
  bool has_graph() const { return !outputs_.empty(); }
  bool is_built() const override { return has_graph(); }

  const Values& inputs() const { return inputs_; }
  const Values& outputs() const { return outputs_; }
  /// Calls in the order in which they can run.
  const std::vector<Node>& nodes() const { return nodes_; }
  /// Layers by decreasing depth, as files have them; of a Sequential without its InputLayer.
  const std::vector<std::shared_ptr<Body>>& layers() const { return layers_; }
  /// The calls of a layer that belong to this network, oldest first.
  const std::vector<Node>& nodes_of(const Body& layer) const { return calls_.at(&layer); }
  /// The number of each call among those of its layer, as configurations count; a model's own graph is its first.
  std::unordered_map<const CallNode*, size_t> call_numbers() const;
  /// What every step does, also of evaluate and predict.
  std::vector<Update> state_updates() const;
  std::vector<std::string> input_names() const, output_names() const;

  /// Layers of a Sequential, also while its graph waits for a shape.
  const std::vector<std::shared_ptr<Body>>& added() const { return added_; }
  /// How it is trained; made at the first use.
  Trainer& trainer();

  /// From configurations.
  static std::shared_ptr<Network> from_config(const Json& config, const LoadContext& context);
  static std::shared_ptr<Network> sequential_from_config(const Json& config,
                                                         const LoadContext& context);

 private:
  void append(const Layer& layer);
  void map_graph();
  Json functional_config() const;
  Json sequential_config() const;

  Values inputs_, outputs_;
  std::vector<Node> nodes_;
  std::unordered_map<const Body*, std::vector<Node>> calls_;
  std::vector<std::shared_ptr<Body>> layers_;
  std::vector<std::shared_ptr<Body>> added_;  // of a Sequential
  std::optional<Shape> expected_input_;       // of a Sequential whose first layer does not know it
  bool is_sequential_ = true;
  Tensors last_masks_;
  std::once_flag trainer_once_;
  std::unique_ptr<Trainer> trainer_;
};

}  // namespace horngate::keras
