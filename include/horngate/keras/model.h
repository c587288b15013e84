// Models: graphs of layers that can be trained, run and saved. Copies of a handle are the same model.
#pragma once

#include <concepts>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "horngate/keras/callbacks.h"
#include "horngate/keras/data.h"
#include "horngate/keras/layer.h"
#include "horngate/keras/layers_core.h"
#include "horngate/keras/losses.h"
#include "horngate/keras/metrics.h"
#include "horngate/keras/optimizers.h"

namespace horngate::keras {

class Network;
class Trainer;

/// Metrics: a list for all outputs, lists for each of them, or lists by their names.
class MetricChoices {
 public:
  using List = std::vector<Metric>;
  using Named = std::map<std::string, List>;

  MetricChoices() = default;
  MetricChoices(std::initializer_list<Metric> all) : all_(all) {}
  MetricChoices(List all) : all_(std::move(all)) {}
  MetricChoices(std::vector<List> each) : each_(std::move(each)) {}
  MetricChoices(Named named) : named_(std::move(named)) {}
  MetricChoices(std::initializer_list<Named::value_type> named) : named_(named) {}
  const List& all() const { return all_; }
  const std::vector<List>& each() const { return each_; }
  const Named& named() const { return named_; }

 private:
  List all_;
  std::vector<List> each_;
  Named named_;
};

struct CompileOptions {
  Optimizer optimizer = "rmsprop";
  PerOutput<Loss> loss = {};
  MetricChoices metrics = {};
  PerOutput<double> loss_weights = {};
  PerOutput<std::string> sample_weight_mode = {};  // "temporal": weights of (samples, time)
  MetricChoices weighted_metrics = {};
};

/// A batch that a generator gives: inputs, targets and, perhaps, weights of samples.
struct Batch {
  Data x;
  Data y = {};
  Data sample_weight = {};
};
/// Gives batches, again and again; nothing ends an epoch early.
using Generator = std::function<std::optional<Batch>()>;

/// A list of batches, or a view that makes them.
template <class R>
concept BatchRange = requires(const R& range) {
  { *std::begin(range) } -> std::convertible_to<Batch>;
  std::begin(range) == std::end(range);
};

/// Gives the batches of a range again and again; the range must outlive it.
template <BatchRange R>
Generator batches_of(const R& range) {
  return [&range, at = std::begin(range)]() mutable -> std::optional<Batch> {
    if (at == std::end(range)) at = std::begin(range);
    if (at == std::end(range)) return {};
    return *at++;
  };
}

/// Weights of classes, by their number.
using ClassWeights = std::map<int64_t, double>;

/// Such weights for all outputs, or by the names of outputs.
/// Example: net.fit(images, labels, {.class_weight = {{0, 1.0}, {1, 5.0}}});
class ClassWeightChoices {
 public:
  using Named = std::map<std::string, ClassWeights>;

  ClassWeightChoices() = default;
  ClassWeightChoices(std::initializer_list<ClassWeights::value_type> all) : all_(all) {}
  ClassWeightChoices(ClassWeights all) : all_(std::move(all)) {}
  ClassWeightChoices(Named named) : named_(std::move(named)) {}
  ClassWeightChoices(std::initializer_list<Named::value_type> named) : named_(named) {}
  const ClassWeights& all() const { return all_; }
  const Named& named() const { return named_; }

 private:
  ClassWeights all_;
  Named named_;
};

struct ValidationData {
  Data x;
  Data y = {};
  Data sample_weight = {};
};

struct FitOptions {
  int64_t batch_size = 32;
  int64_t epochs = 1;
  int verbose =
      1;  // 0: silent, 1: a bar (quiet if standard output is no terminal), 2: a line per epoch
  Callbacks callbacks = {};
  double validation_split = 0.0;  // this part of the data, its end, is kept for validation
  std::optional<ValidationData> validation_data = {};
  bool shuffle = true;
  std::optional<uint64_t> shuffle_seed = {};  // unset: another order in each process
  ClassWeightChoices class_weight = {};
  Data sample_weight = {};
  int64_t initial_epoch = 0;
  int64_t validation_freq = 1;  // epochs between two validations
};

struct FitGeneratorOptions {
  int64_t steps_per_epoch = 0;  // batches of an epoch; 0: as many as the range has
  int64_t epochs = 1;
  int verbose = 1;
  Callbacks callbacks = {};
  std::optional<ValidationData> validation_data = {};
  int64_t validation_freq = 1;
  int64_t validation_batch_size = 32;
  ClassWeightChoices class_weight = {};
  int64_t initial_epoch = 0;
};

struct EvaluateOptions {
  int64_t batch_size = 32;
  Data sample_weight = {};
};

struct PredictOptions {
  int64_t batch_size = 32;
};

struct TrainOptions {
  Data sample_weight = {};
  ClassWeightChoices class_weight = {};
  bool reset_metrics = true;
};

struct SaveOptions {
  bool include_optimizer = true;
};

struct LoadWeightsOptions {
  bool by_name = false;        // layers that have the same name; others keep their weights
  bool skip_mismatch = false;  // with by_name: leave out layers whose weights have other shapes
};

struct ModelOptions {
  std::string name = {};
};

struct PlotOptions {
  bool show_shapes = false;
  bool show_layer_names = true;
  std::string rankdir = "TB";  // or "LR": from left to right
};

struct SummaryOptions {
  int64_t line_length = 0;             // 0: 65, or 98 with connections
  std::vector<double> positions = {};  // of the columns, as parts of the line
};

class HORNGATE_API Model : public Layer {
 public:
  Model() = default;
  /// From inputs, which come from Input, to results of layers.
  /// Example: keras::Model net(x, keras::Dense(10)(x));
  Model(const Values& inputs, const Values& outputs, const ModelOptions& options = {});
  explicit Model(std::shared_ptr<Network> network);

  Values inputs() const;
  Values outputs() const;
  std::vector<std::string> input_names() const, output_names() const;
  /// By decreasing depth, as files have them.
  Layers layers() const;
  /// ValueError, which lists the names, for one that is not there.
  Layer get_layer(std::string_view name) const;
  /// The table that Keras prints.
  std::string summary(const SummaryOptions& options = {}) const;
  /// The structure, without weights, for model_from_json here and in Python. ValueError for callables without a name.
  std::string to_json() const;
  /// The graph in Graphviz's language.
  std::string to_dot(const PlotOptions& options = {}) const;

  /// How to train. Weights keep their values; what an earlier optimizer remembers is gone.
  void compile(const CompileOptions& options) const;
  bool is_compiled() const;
  const CompileOptions& compiled() const;
  const Optimizer& optimizer() const { return compiled().optimizer; }
  /// "loss", then metrics, as fit, evaluate and train_on_batch give them.
  std::vector<std::string> metrics_names() const;
  /// Adds to the loss; before compile.
  void add_loss(const Tensor& loss) const;

  History fit(const Data& x, const Data& y, const FitOptions& options = {}) const;
  History fit_generator(const Generator& generator, const FitGeneratorOptions& options) const;
  /// The values of metrics_names. Calls from several threads take turns.
  std::vector<double> evaluate(const Data& x, const Data& y,
                               const EvaluateOptions& options = {}) const;
  std::vector<double> evaluate_generator(const Generator& generator, int64_t steps) const;
  /// The results of that many batches, of all outputs; y is not needed.
  Arrays predict_generator(const Generator& generator, int64_t steps) const;
  /// A range of batches serves as a generator, and starts again at its end.
  /// Example: net.fit_generator(std::vector<keras::Batch>{{x1, y1}, {x2, y2}}, {.epochs = 5});
  template <BatchRange R>
  History fit_generator(const R& range, FitGeneratorOptions options = {}) const {
    if (options.steps_per_epoch == 0) options.steps_per_epoch = count_of(range);
    return fit_generator(batches_of(range), options);
  }
  /// Without steps: once through the range.
  template <BatchRange R>
  std::vector<double> evaluate_generator(const R& range, int64_t steps = 0) const {
    return evaluate_generator(batches_of(range), steps ? steps : count_of(range));
  }
  template <BatchRange R>
  Arrays predict_generator(const R& range, int64_t steps = 0) const {
    return predict_generator(batches_of(range), steps ? steps : count_of(range));
  }
  /// May be called from many threads at once.
  Array predict(const Data& x, const PredictOptions& options = {}) const;
  Arrays predict_all(const Data& x, const PredictOptions& options = {}) const;
  std::vector<double> train_on_batch(const Data& x, const Data& y,
                                     const TrainOptions& options = {}) const;
  std::vector<double> test_on_batch(const Data& x, const Data& y,
                                    const TrainOptions& options = {}) const;
  /// All samples at once; `all` for models with several outputs.
  Array predict_on_batch(const Data& x) const;
  Arrays predict_all_on_batch(const Data& x) const;
  void reset_metrics() const;

  /// Everything, into a .h5 file that Keras 2.3.1 reads or a .safetensors file with configurations as its metadata. The
  /// file is whole or as it was before.
  void save(const std::string& path, const SaveOptions& options = {}) const;
  /// Weights alone, into .h5 or .safetensors.
  void save_weights(const std::string& path) const;
  /// From files of save and save_weights, here or in Python. All weights fit, or none is changed.
  void load_weights(const std::string& path, const LoadWeightsOptions& options = {}) const;

  /// For callbacks: fit ends after this batch.
  void stop_training() const;

  Network& network() const;

 private:
  Trainer& trainer() const;
  /// The result of a function for models with one output.
  Array only(const char* function, const Arrays& results) const;
  template <class R>
  static int64_t count_of(const R& range) {
    return std::ranges::distance(std::begin(range), std::end(range));
  }
};

/// A model whose layers stand in a row.
class HORNGATE_API Sequential : public Model {
 public:
  explicit Sequential(const ModelOptions& options = {});
  Sequential(std::initializer_list<Layer> layers, const ModelOptions& options = {});
  /// The first layer gives its input_shape, or else the first data decide it.
  void add(const Layer& layer) const;
};

/// Writes a picture of the graph: .dot always; .svg, .png and .pdf where Graphviz is installed.
/// Example: keras::plot_model(net, "net.svg", {.show_shapes = true});
HORNGATE_API void plot_model(const Model& model, const std::string& path,
                             const PlotOptions& options = {});

}  // namespace horngate::keras
