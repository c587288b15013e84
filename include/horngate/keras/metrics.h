// Metrics: what is watched while a model learns. They keep sums over batches until they are reset. Given by a Keras
// name, as an object of keras::metrics, or as a callable.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "horngate/dtype.h"
#include "horngate/function.h"
#include "horngate/keras/json.h"
#include "horngate/keras/losses.h"
#include "horngate/tensor.h"

namespace horngate::keras {

/// What all metrics can be told.
struct MetricOptions {
  std::string name = {};   // unset: that of the function, or the class with a number
  DTypeChoice dtype = {};  // of the sums; unset: floatx
};

/// What a metric does; derive from it to write one.
class HORNGATE_API MetricBody {
 public:
  MetricBody() = default;
  MetricBody(const MetricBody&) = delete;
  virtual ~MetricBody();

  /// As files name it.
  virtual std::string class_name() const = 0;
  /// Makes the variables, with add_weight; once.
  virtual void build() {}
  /// Adds a batch. An empty y_pred: y_true holds values whose mean or sum is wanted. An empty sample_weight: all count.
  virtual std::vector<Update> update_state(const Tensor& y_true, const Tensor& y_pred,
                                           const Tensor& sample_weight) = 0;
  /// Of the variables as they are.
  virtual Tensor result() const = 0;
  /// As files have it: a name, or {"class_name": .., "config": ..}.
  virtual Json description() const;
  /// The options, without name and dtype.
  virtual Json config() const { return Json::Object(); }
  /// The same metric with the same options, before build.
  virtual std::shared_ptr<MetricBody> fresh() const = 0;

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  DType dtype() const;
  const std::vector<Variable>& variables() const { return variables_; }
  /// For whoever makes a metric: before its first use.
  void set_options(const MetricOptions& options);

 protected:
  /// A variable of zeros.
  Variable add_weight(const char* name, const Ints& shape = {}, DTypeChoice dtype = {});

 private:
  std::string name_;
  std::optional<DType> dtype_;
  std::vector<Variable> variables_;
};

/// A metric: copies are the same one, and share its sums.
class HORNGATE_API Metric {
 public:
  using Call = Loss::Call;
  Metric() = default;  // none
  /// "mse", "top_k_categorical_accuracy", ..; "accuracy", "acc", "crossentropy" and "ce" need resolved() first.
  Metric(const char* name);
  Metric(const std::string& name) : Metric(name.c_str()) {}
  template <class F>
    requires std::is_invocable_r_v<Tensor, const F&, const Tensor&, const Tensor&>
  Metric(F call) : Metric(std::string(), std::move(call)) {}
  /// The mean of what a callable gives, under a name.
  Metric(const std::string& name, Call call, DTypeChoice dtype = {});
  explicit Metric(std::shared_ptr<MetricBody> body) : body_(std::move(body)) {}

  /// The updates that add a batch, for K::function.
  std::vector<Update> update_state(const Tensor& y_true, const Tensor& y_pred,
                                   const Tensor& sample_weight = {}) const;
  /// The same for metrics of values: Mean and Sum.
  std::vector<Update> update_values(const Tensor& values, const Tensor& sample_weight = {}) const;
  /// The metric of all batches before this call of the function that computes it.
  Tensor result() const;
  /// The metric with the batch that these updates add, in the same function.
  Tensor result_after(const std::vector<Update>& updates) const;
  void reset_states() const;
  const std::vector<Variable>& variables() const { return body().variables(); }

  const std::string& name() const { return body().name(); }
  void set_name(std::string name) const { body().set_name(std::move(name)); }
  std::string class_name() const { return body().class_name(); }
  /// As files have it: a name, or {"class_name": .., "config": ..}; null for none and for callables without a name.
  Json config() const { return body_ ? body_->description() : Json(); }
  /// The same options, sums of its own.
  Metric clone() const;
  /// A clone; "accuracy" and "crossentropy" become what suits the loss and the shape of the output.
  Metric resolved(const Loss& loss, const Shape& output) const;
  /// From a configuration.
  static Metric from(const Json& config, const std::string& where);

  explicit operator bool() const { return body_ != nullptr; }
  MetricBody& body() const;

 private:
  std::shared_ptr<MetricBody> body_;
};

/// What "accuracy", "acc", "crossentropy" or "ce" means for an output: its binary, sparse or categorical form.
HORNGATE_API Metric resolve_accuracy(const std::string& name, const Loss& loss,
                                     const Shape& output);

namespace metrics {

using Options = MetricOptions;

/// Of values: update_values.
HORNGATE_API Metric Mean(const Options& options = {});
HORNGATE_API Metric Sum(const Options& options = {});
/// The mean of what a function gives.
HORNGATE_API Metric MeanMetricWrapper(const Metric::Call& call, const Options& options = {});

HORNGATE_API Metric MeanSquaredError(const Options& options = {});
HORNGATE_API Metric RootMeanSquaredError(const Options& options = {});
HORNGATE_API Metric MeanAbsoluteError(const Options& options = {});
HORNGATE_API Metric MeanAbsolutePercentageError(const Options& options = {});
HORNGATE_API Metric MeanSquaredLogarithmicError(const Options& options = {});
HORNGATE_API Metric Hinge(const Options& options = {});
HORNGATE_API Metric SquaredHinge(const Options& options = {});
HORNGATE_API Metric CategoricalHinge(const Options& options = {});
HORNGATE_API Metric LogCoshError(const Options& options = {});
HORNGATE_API Metric Poisson(const Options& options = {});
HORNGATE_API Metric KLDivergence(const Options& options = {});

struct CosineSimilarityOptions {
  std::string name = {};
  DTypeChoice dtype = {};
  int64_t axis = -1;
};
/// cos of the angle: 1 for the same direction.
HORNGATE_API Metric CosineSimilarity(const CosineSimilarityOptions& options = {});

struct CrossentropyOptions {
  std::string name = {};
  DTypeChoice dtype = {};
  bool from_logits = false;
  double label_smoothing = 0;
};
HORNGATE_API Metric BinaryCrossentropy(const CrossentropyOptions& options = {});
HORNGATE_API Metric CategoricalCrossentropy(const CrossentropyOptions& options = {});
struct SparseCrossentropyOptions {
  std::string name = {};
  DTypeChoice dtype = {};
  bool from_logits = false;
  int64_t axis = -1;
};
HORNGATE_API Metric SparseCategoricalCrossentropy(const SparseCrossentropyOptions& options = {});

/// How often predictions equal labels.
HORNGATE_API Metric Accuracy(const Options& options = {});
struct BinaryAccuracyOptions {
  std::string name = {};
  DTypeChoice dtype = {};
  double threshold = 0.5;
};
/// How often predictions lie on the side of their labels, 0 or 1.
HORNGATE_API Metric BinaryAccuracy(const BinaryAccuracyOptions& options = {});
/// How often the largest prediction is that of the one-hot label.
HORNGATE_API Metric CategoricalAccuracy(const Options& options = {});
/// Of labels that are numbers of classes.
HORNGATE_API Metric SparseCategoricalAccuracy(const Options& options = {});
struct TopKOptions {
  int64_t k = 5;
  std::string name = {};
  DTypeChoice dtype = {};
};
/// How often the label is among the k largest predictions.
HORNGATE_API Metric TopKCategoricalAccuracy(const TopKOptions& options = {});
HORNGATE_API Metric SparseTopKCategoricalAccuracy(const TopKOptions& options = {});

/// None, one, or several numbers in [0, 1]: with several, results have one number for each.
class Thresholds {
 public:
  Thresholds() = default;
  Thresholds(double one) : values_(std::vector<double>{one}), single_(true) {}
  Thresholds(std::initializer_list<double> several) : values_(std::vector<double>(several)) {}
  Thresholds(std::vector<double> several) : values_(std::move(several)) {}
  const std::optional<std::vector<double>>& values() const { return values_; }
  bool single() const { return single_; }

 private:
  std::optional<std::vector<double>> values_;
  bool single_ = false;
};

struct ThresholdOptions {
  Thresholds thresholds = {};  // unset: 0.5
  std::string name = {};
  DTypeChoice dtype = {};
};
/// Counts of predictions above or below thresholds, right or wrong.
HORNGATE_API Metric TruePositives(const ThresholdOptions& options = {});
HORNGATE_API Metric TrueNegatives(const ThresholdOptions& options = {});
HORNGATE_API Metric FalsePositives(const ThresholdOptions& options = {});
HORNGATE_API Metric FalseNegatives(const ThresholdOptions& options = {});

struct PrecisionOptions {
  Thresholds thresholds = {};            // unset: 0.5
  std::optional<int64_t> top_k = {};     // only the largest k predictions of a sample are positive
  std::optional<int64_t> class_id = {};  // only this class
  std::string name = {};
  DTypeChoice dtype = {};
};
/// What part of the positive predictions is right.
HORNGATE_API Metric Precision(const PrecisionOptions& options = {});
/// What part of the positive labels is found.
HORNGATE_API Metric Recall(const PrecisionOptions& options = {});

struct AtOptions {
  int64_t num_thresholds = 200;
  std::string name = {};
  DTypeChoice dtype = {};
};
/// tp / (tp + fn) at the threshold where tn / (tn + fp) is closest to `specificity`.
HORNGATE_API Metric SensitivityAtSpecificity(double specificity, const AtOptions& options = {});
/// tn / (tn + fp) at the threshold where tp / (tp + fn) is closest to `sensitivity`.
HORNGATE_API Metric SpecificityAtSensitivity(double sensitivity, const AtOptions& options = {});

struct AUCOptions {
  int64_t num_thresholds = 200;
  std::string curve = "ROC";                       // "ROC", "PR"
  std::string summation_method = "interpolation";  // "interpolation", "minoring", "majoring"
  std::string name = {};
  DTypeChoice dtype = {};
  std::optional<std::vector<double>> thresholds = {};  // unset: num_thresholds evenly
};
/// The area under a curve.
HORNGATE_API Metric AUC(const AUCOptions& options = {});

/// Mean over classes of intersection / union, of labels and predictions that are numbers of classes.
HORNGATE_API Metric MeanIoU(int64_t num_classes, const Options& options = {});

}  // namespace metrics

}  // namespace horngate::keras
