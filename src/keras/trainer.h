// Training of one model: its functions, and data as they take them.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "horngate/keras/model.h"
#include "keras/network.h"

namespace horngate::keras {

/// Whether this much is to be shown here.
bool shows_progress(int verbose);

/// Arrays as the functions take them, with samples along axis 0.
struct Feeds {
  Arrays inputs, targets, weights;  // weights: one for each target
  int64_t samples = 0;

  /// The samples [begin, end).
  Feeds rows(int64_t begin, int64_t end) const;
  /// Those with these numbers, copied.
  Feeds pick(std::span<const int64_t> numbers) const;
};

class Trainer {
 public:
  explicit Trainer(Network& network) : network_(network) {}

  void compile(const CompileOptions& options);
  bool is_compiled() const;
  const CompileOptions& options() const;
  const std::vector<std::string>& names() const;
  void add_loss(const Tensor& loss) { losses_.push_back(loss); }
  /// The model has another output: what was compiled for the old one is gone.
  void forget();

  /// Data for `function` ("fit"), checked: counts, names, shapes.
  Feeds standardize(const char* function, const Data& x, const Data& y, const Data& sample_weight,
                    const ClassWeightChoices& class_weight);
  Arrays standardize_inputs(const char* function, const Data& x);
  /// The graph of a Sequential that knows no shapes yet, from the first data. Of several threads one makes it.
  void ensure_graph(const char* function, const Data& x);
  bool has_graph() const;

  /// Makes the training step, and with it the optimizer's state.
  void prepare();
  /// One step; the values of names().
  std::vector<double> train(const Feeds& batch);
  std::vector<double> test(const Feeds& batch);
  /// All of it, in batches; metrics begin anew. Threads take turns, because they share the metrics.
  std::vector<double> evaluate(const Feeds& data, int64_t batch_size);
  Arrays predict(const Arrays& inputs);
  void reset_metrics();

  std::atomic<bool> stops{false};

 private:
  struct Output {
    std::string name;
    Loss loss;
    double weight = 1;
    bool is_temporal = false;
    Value value;
    Tensor target = {}, sample_weight = {};
    std::vector<Metric> metrics = {}, weighted = {};
  };
  /// While the first data may still make the graph, so that nobody sees half of it.
  std::unique_lock<std::mutex> until_built() const;
  void compile_now(const CompileOptions& options);
  void check_metrics(const MetricChoices& choices) const;
  /// Those of one output, resolved and named.
  void choose_metrics(size_t output, const MetricChoices& choices, std::vector<Metric>& chosen);
  Function make_step(bool trains);
  std::vector<double> run(bool trains, const Feeds& batch);
  std::string unique_name(const std::string& name, const Output& output) const;
  Array weights_for(const char* function, const Output& output, const Array& target,
                    const Array& given, const ClassWeights& classes) const;

  Network& network_;
  std::atomic<bool> has_graph_{false};  // false: not known
  mutable std::mutex build_mutex_;
  CompileOptions options_;
  bool is_compiled_ = false;
  std::vector<Variable> trained_;  // as it was when the model was compiled
  std::vector<Output> outputs_;    // with those that have no loss
  std::vector<Metric> output_losses_;
  Tensors losses_;
  std::vector<std::string> names_;
  Tensor total_loss_;
  std::vector<Update> metric_updates_;
  Tensors results_;  // the loss, then metrics after their updates
  std::mutex step_mutex_, predict_mutex_, evaluate_mutex_;
  Function train_, test_, predict_;  // made when they are first needed
};

}  // namespace horngate::keras
