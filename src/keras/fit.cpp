// Loops over data: fit, evaluate, predict.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>

#include "keras/names.h"
#include "keras/trainer.h"

namespace horngate::keras {
namespace {

/// The mean of the loss over samples; metrics are running values already.
class Means {
 public:
  explicit Means(size_t n) : values_(n, 0.0) {}
  void add(const std::vector<double>& values, int64_t samples) {
    loss_ += values[0] * static_cast<double>(samples);
    samples_ += samples;
    std::copy(values.begin() + 1, values.end(), values_.begin() + 1);
    values_[0] = samples_ ? loss_ / static_cast<double>(samples_) : 0;
  }
  const std::vector<double>& values() const { return values_; }

 private:
  double loss_ = 0;
  int64_t samples_ = 0;
  std::vector<double> values_;
};

/// What is the same for arrays and generators: epochs, callbacks, validation, history.
class Epochs {
 public:
  Epochs(Model model, Trainer& trainer, Callbacks callbacks, TrainingParams params,
         const char* count_mode)
      : model_(std::move(model)), trainer_(trainer), params_(std::move(params)) {
    const std::vector<std::string>& names = trainer.names();
    params_.metrics = names;
    if (params_.do_validation)
      for (const std::string& name : names) params_.metrics.push_back("val_" + name);
    if (params_.verbose)
      callbacks_.push_back(ProgbarLogger(count_mode, {names.begin() + 1, names.end()}));
    callbacks_.insert(callbacks_.end(), callbacks.begin(), callbacks.end());
    for (const std::string& name : names) batch_logs_.emplace_back(name, 0.0);
  }

  /// `epoch` runs one; `validate` gives the values of a validation, or nothing.
  template <class E, class V>
  History run(int64_t first, const E& epoch, const V& validate) {
    for (const Callback& c : callbacks_) c->attach(model_, params_);
    for (const Callback& c : callbacks_) c->on_train_begin();
    trainer_.stops = false;
    for (int64_t e = first; e < params_.epochs && !trainer_.stops; ++e) {
      trainer_.reset_metrics();
      for (const Callback& c : callbacks_) c->on_epoch_begin(e);
      Means means(trainer_.names().size());
      const bool is_whole = epoch(means);
      Logs logs;
      // Validation shares the metrics' state, so training's values are taken first.
      const std::vector<double> values = means.values();
      std::vector<double> checked;
      if (is_whole) checked = validate(e);
      for (size_t i = 0; i < checked.size(); ++i)
        logs.set("val_" + trainer_.names()[i], checked[i]);
      for (size_t i = 0; i < values.size(); ++i) logs.set(trainer_.names()[i], values[i]);
      for (const Callback& c : callbacks_) c->on_epoch_end(e, logs);
      history_.epoch.push_back(e);
      for (const auto& [name, value] : logs) note(name, value);
    }
    for (const Callback& c : callbacks_) c->on_train_end();
    return std::move(history_);
  }

  /// One batch with its callbacks. False: stop.
  bool step(int64_t index, const Feeds& batch, Means& means) {
    for (const Callback& c : callbacks_) c->on_batch_begin(index, batch.samples);
    const std::vector<double> values = trainer_.train(batch);
    means.add(values, batch.samples);
    for (size_t i = 0; i < values.size(); ++i) batch_logs_[i].second = values[i];
    for (const Callback& c : callbacks_) c->on_batch_end(index, batch.samples, batch_logs_);
    return !trainer_.stops;
  }

 private:
  void note(const std::string& name, double value) {
    for (auto& [key, values] : history_.history)
      if (key == name) {
        values.push_back(value);
        return;
      }
    history_.history.emplace_back(name, std::vector<double>{value});
  }

  Model model_;
  Trainer& trainer_;
  TrainingParams params_;
  Callbacks callbacks_;
  Logs batch_logs_;
  History history_;
};

/// Rows of several arrays, one after the other.
Array joined(const Arrays& parts) {
  if (parts.size() == 1) return parts[0];
  Ints dims = parts[0].dims();
  dims[0] = 0;
  for (const Array& part : parts) {
    if (part.ndim() != dims.size() ||
        !std::equal(dims.begin() + 1, dims.end(), part.dims().begin() + 1))
      throw ValueError(
          "predict: results of batches must have the same shape but for the samples; got " +
          parts[0].shape().str() + " and " + part.shape().str() + ".");
    dims[0] += part.dims()[0];
  }
  Array result(parts[0].dtype(), dims);
  auto* to = static_cast<std::byte*>(result.raw());
  for (const Array& part : parts) {
    if (part.nbytes()) std::memcpy(to, part.contiguous().raw(), part.nbytes());
    to += part.nbytes();
  }
  return result;
}

/// Results of one more batch.
void gather(std::vector<Arrays>& parts, const Arrays& results) {
  parts.resize(results.size());
  for (size_t i = 0; i < results.size(); ++i) parts[i].push_back(results[i]);
}

/// The generator of a model that may not know its shapes yet: then the first batch tells them, and is given again.
Generator begun(const char* function, Trainer& trainer, const Generator& generator) {
  if (trainer.has_graph()) return generator;
  std::optional<Batch> first = generator();
  if (!first)
    throw ValueError(std::string(function) +
                     ": a Sequential without input_shape needs a batch to begin with; the "
                     "generator gave none.");
  trainer.ensure_graph(function, first->x);
  return [first = std::move(first), &generator]() mutable {
    return first ? std::exchange(first, std::nullopt) : generator();
  };
}

Arrays joined(const std::vector<Arrays>& parts) {
  Arrays all;
  for (const Arrays& part : parts) all.push_back(joined(part));
  return all;
}

}  // namespace

History Model::fit(const Data& x, const Data& y, const FitOptions& o) const {
  check_positive("fit", "batch_size", o.batch_size);
  if (!(o.validation_split >= 0 && o.validation_split < 1))
    throw ValueError("fit: validation_split must be at least 0 and below 1; got " +
                     std::to_string(o.validation_split) + ".");
  check_positive("fit", "validation_freq", o.validation_freq);
  Trainer& t = trainer();
  Feeds data = t.standardize("fit", x, y, o.sample_weight, o.class_weight);
  Feeds kept;
  if (o.validation_data) {
    kept = t.standardize("fit", o.validation_data->x, o.validation_data->y,
                         o.validation_data->sample_weight, {});
  } else if (o.validation_split > 0) {
    const auto at =
        static_cast<int64_t>(static_cast<double>(data.samples) * (1.0 - o.validation_split));
    kept = data.rows(at, data.samples);
    data = data.rows(0, at);
  }
  if (data.samples == 0) throw ValueError("fit: x must have samples; got none.");
  std::vector<int64_t> order(static_cast<size_t>(data.samples));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(o.shuffle_seed ? *o.shuffle_seed : std::random_device()());
  Epochs epochs(*this, t, o.callbacks,
                {.batch_size = o.batch_size,
                 .epochs = o.epochs,
                 .samples = data.samples,
                 .verbose = o.verbose,
                 .do_validation = kept.samples > 0},
                "samples");
  if (kept.samples > 0 && shows_progress(o.verbose))
    std::printf("Train on %lld samples, validate on %lld samples\n",
                static_cast<long long>(data.samples), static_cast<long long>(kept.samples));
  const auto one_epoch = [&](Means& means) {
    if (o.shuffle) std::shuffle(order.begin(), order.end(), random);
    for (int64_t begin = 0, index = 0; begin < data.samples; begin += o.batch_size, ++index) {
      const int64_t end = std::min(data.samples, begin + o.batch_size);
      const std::span numbers(order.data() + begin, static_cast<size_t>(end - begin));
      const Feeds batch = o.shuffle ? data.pick(numbers) : data.rows(begin, end);
      if (!epochs.step(index, batch, means)) return end == data.samples;
    }
    return true;
  };
  return epochs.run(o.initial_epoch, one_epoch, [&](int64_t epoch) {
    const bool is_due = kept.samples > 0 && (epoch + 1) % o.validation_freq == 0;
    return is_due ? t.evaluate(kept, o.batch_size) : std::vector<double>();
  });
}

History Model::fit_generator(const Generator& given, const FitGeneratorOptions& o) const {
  check_positive("fit_generator", "steps_per_epoch", o.steps_per_epoch);
  check_positive("fit_generator", "validation_freq", o.validation_freq);
  Trainer& t = trainer();
  Feeds kept;
  if (o.validation_data)
    kept = t.standardize("fit_generator", o.validation_data->x, o.validation_data->y,
                         o.validation_data->sample_weight, {});
  (void)t.options();  // compiled
  const Generator generator = begun("fit_generator", t, given);
  Epochs epochs(*this, t, o.callbacks,
                {.epochs = o.epochs,
                 .steps = o.steps_per_epoch,
                 .verbose = o.verbose,
                 .do_validation = kept.samples > 0},
                "steps");
  const auto one_epoch = [&](Means& means) {
    for (int64_t index = 0; index < o.steps_per_epoch; ++index) {
      const std::optional<Batch> batch = generator();
      if (!batch) {
        stop_training();
        return true;
      }
      const Feeds feeds =
          t.standardize("fit_generator", batch->x, batch->y, batch->sample_weight, o.class_weight);
      if (!epochs.step(index, feeds, means)) return index + 1 == o.steps_per_epoch;
    }
    return true;
  };
  return epochs.run(o.initial_epoch, one_epoch, [&](int64_t epoch) {
    const bool is_due = kept.samples > 0 && (epoch + 1) % o.validation_freq == 0;
    return is_due ? t.evaluate(kept, o.validation_batch_size) : std::vector<double>();
  });
}

std::vector<double> Model::evaluate(const Data& x, const Data& y, const EvaluateOptions& o) const {
  check_positive("evaluate", "batch_size", o.batch_size);
  Trainer& t = trainer();
  return t.evaluate(t.standardize("evaluate", x, y, o.sample_weight, {}), o.batch_size);
}

std::vector<double> Model::evaluate_generator(const Generator& given, int64_t steps) const {
  check_positive("evaluate_generator", "steps", steps);
  Trainer& t = trainer();
  (void)t.options();  // compiled
  const Generator generator = begun("evaluate_generator", t, given);
  t.reset_metrics();
  Means means(t.names().size());
  for (int64_t i = 0; i < steps; ++i) {
    const std::optional<Batch> batch = generator();
    if (!batch) break;
    const Feeds feeds =
        t.standardize("evaluate_generator", batch->x, batch->y, batch->sample_weight, {});
    means.add(t.test(feeds), feeds.samples);
  }
  return means.values();
}

Arrays Model::predict_generator(const Generator& generator, int64_t steps) const {
  check_positive("predict_generator", "steps", steps);
  Trainer& t = trainer();
  std::vector<Arrays> parts;
  for (int64_t i = 0; i < steps; ++i) {
    const std::optional<Batch> batch = generator();
    if (!batch) break;
    gather(parts, t.predict(t.standardize_inputs("predict_generator", batch->x)));
  }
  return joined(parts);
}

Arrays Model::predict_all(const Data& x, const PredictOptions& o) const {
  check_positive("predict", "batch_size", o.batch_size);
  Trainer& t = trainer();
  const Arrays inputs = t.standardize_inputs("predict", x);
  const int64_t samples = inputs[0].dims()[0];
  if (samples <= o.batch_size) return t.predict(inputs);
  std::vector<Arrays> parts;
  for (int64_t begin = 0; begin < samples; begin += o.batch_size) {
    Arrays batch;
    for (const Array& a : inputs)
      batch.push_back(a.rows(begin, std::min(samples, begin + o.batch_size)));
    gather(parts, t.predict(batch));
  }
  return joined(parts);
}

Array Model::predict(const Data& x, const PredictOptions& o) const {
  return only("predict", predict_all(x, o));
}

}  // namespace horngate::keras
