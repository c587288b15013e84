// Callbacks: what happens while a model trains.
#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "horngate/keras/json.h"

namespace horngate::keras {

class Model;

/// Names and values in their order: "loss", "accuracy", "val_loss".
class HORNGATE_API Logs : public std::vector<std::pair<std::string, double>> {
 public:
  using vector::vector;
  const double* find(std::string_view name) const;
  void set(std::string_view name, double value);
};

/// What fit was told, for callbacks.
struct TrainingParams {
  int64_t batch_size = 0, epochs = 0, steps = 0, samples = 0;  // steps, samples: 0 if not known
  int verbose = 0;
  bool do_validation = false;
  std::vector<std::string> metrics = {};
};

/// What a callback does; derive from it. By default it does nothing.
class HORNGATE_API CallbackBody {
 public:
  virtual ~CallbackBody();
  virtual void on_train_begin() {}
  virtual void on_train_end() {}
  virtual void on_epoch_begin(int64_t epoch) { static_cast<void>(epoch); }
  virtual void on_epoch_end(int64_t epoch, Logs& logs) {
    static_cast<void>(epoch), static_cast<void>(logs);
  }
  virtual void on_batch_begin(int64_t batch, int64_t size) {
    static_cast<void>(batch), static_cast<void>(size);
  }
  virtual void on_batch_end(int64_t batch, int64_t size, const Logs& logs) {
    static_cast<void>(batch), static_cast<void>(size), static_cast<void>(logs);
  }

  /// Set by fit before it begins.
  void attach(Model& model, const TrainingParams& params) { model_ = &model, params_ = &params; }
  Model& model() const { return *model_; }
  const TrainingParams& params() const { return *params_; }

 private:
  Model* model_ = nullptr;
  const TrainingParams* params_ = nullptr;
};

/// A cheap, shared handle.
class Callback {
 public:
  explicit Callback(std::shared_ptr<CallbackBody> body) : body_(std::move(body)) {}
  template <std::derived_from<CallbackBody> B>
  Callback(std::shared_ptr<B> body) : body_(std::move(body)) {}
  CallbackBody& operator*() const { return *body_; }
  CallbackBody* operator->() const { return body_.get(); }

 private:
  std::shared_ptr<CallbackBody> body_;
};
using Callbacks = std::vector<Callback>;

/// Names and values of each epoch.
struct HORNGATE_API History {
  std::vector<int64_t> epoch;
  std::vector<std::pair<std::string, std::vector<double>>> history;
  /// The values of one name, one per epoch; ValueError, which lists the names, for any other name.
  const std::vector<double>& operator[](std::string_view name) const;
};

struct ModelCheckpointOptions {
  std::string monitor = "val_loss";
  int verbose = 0;
  bool save_best_only = false;
  bool save_weights_only = false;
  std::string mode = "auto";  // "auto", "min", "max"
  int64_t period = 1;         // epochs between two files
};
/// Saves the model after epochs. The path may hold {epoch} and names of logs, with formats as in Python:
/// "net.{epoch:02d}-{val_loss:.2f}.h5".
[[nodiscard]] HORNGATE_API Callback ModelCheckpoint(const std::string& filepath,
                                                    const ModelCheckpointOptions& options = {});

struct EarlyStoppingOptions {
  std::string monitor = "val_loss";
  double min_delta = 0;
  int64_t patience = 0;
  int verbose = 0;
  std::string mode = "auto";
  std::optional<double> baseline = {};
  bool restore_best_weights = false;
};
/// Ends training when a quantity no longer gets better.
[[nodiscard]] HORNGATE_API Callback EarlyStopping(const EarlyStoppingOptions& options = {});

struct ReduceLROnPlateauOptions {
  std::string monitor = "val_loss";
  double factor = 0.1;
  int64_t patience = 10;
  int verbose = 0;
  std::string mode = "auto";
  double min_delta = 1e-4;
  int64_t cooldown = 0;
  double min_lr = 0;
};
/// Lowers the learning rate when a quantity no longer gets better.
[[nodiscard]] HORNGATE_API Callback ReduceLROnPlateau(const ReduceLROnPlateauOptions& options = {});

/// Sets the learning rate at the beginning of each epoch: (epoch, rate) -> rate.
[[nodiscard]] HORNGATE_API Callback
LearningRateScheduler(std::function<double(int64_t, double)> schedule, int verbose = 0);

/// Puts the means over an epoch into its logs; for stateful_metrics, the last values. fit does so by itself.
[[nodiscard]] HORNGATE_API Callback
BaseLogger(const std::vector<std::string>& stateful_metrics = {});

/// Ends training when the loss is not a number, or infinite.
[[nodiscard]] HORNGATE_API Callback TerminateOnNaN();

struct CSVLoggerOptions {
  std::string separator = ",";
  bool append = false;
};
/// A line for each epoch, as Keras writes them.
[[nodiscard]] HORNGATE_API Callback CSVLogger(const std::string& filename,
                                              const CSVLoggerOptions& options = {});

struct TensorBoardOptions {
  std::string log_dir = "./logs";
  std::string update_freq = "epoch";  // "epoch", "batch", or a number of samples
};
/// Writes the values of epochs, or of batches, as event files that TensorBoard reads.
[[nodiscard]] HORNGATE_API Callback TensorBoard(const TensorBoardOptions& options = {});

struct LambdaCallbackOptions {
  std::function<void(int64_t epoch)> on_epoch_begin = {};
  std::function<void(int64_t epoch, Logs& logs)> on_epoch_end = {};
  std::function<void(int64_t batch)> on_batch_begin = {};
  std::function<void(int64_t batch, const Logs& logs)> on_batch_end = {};
  std::function<void()> on_train_begin = {};
  std::function<void()> on_train_end = {};
};
/// Functions of your own.
[[nodiscard]] HORNGATE_API Callback LambdaCallback(const LambdaCallbackOptions& options);

/// The bar that fit draws when verbose is 1. "samples" or "steps".
[[nodiscard]] HORNGATE_API Callback
ProgbarLogger(const std::string& count_mode = "samples",
              const std::vector<std::string>& stateful_metrics = {});

}  // namespace horngate::keras
