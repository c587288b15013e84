// Callbacks that watch a quantity, write lines, or call functions.
#include "horngate/keras/callbacks.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <ranges>

#include "horngate/error.h"
#include "horngate/function.h"
#include "horngate/keras/model.h"
#include "keras/names.h"

namespace horngate::keras {

CallbackBody::~CallbackBody() = default;

const double* Logs::find(std::string_view name) const {
  for (const auto& [key, value] : *this)
    if (key == name) return &value;
  return nullptr;
}

void Logs::set(std::string_view name, double value) {
  for (auto& [key, old] : *this)
    if (key == name) {
      old = value;
      return;
    }
  emplace_back(std::string(name), value);
}

const std::vector<double>& History::operator[](std::string_view name) const {
  for (const auto& [key, values] : history)
    if (key == name) return values;
  throw ValueError("history: name must be one of " + listed(history | std::views::keys) +
                   "; got \"" + std::string(name) + "\".");
}

namespace {

/// Whether a quantity got better.
class Watch {
 public:
  Watch(const char* callback, std::string monitor, const std::string& mode, double min_delta)
      : callback_(callback), monitor_(std::move(monitor)), min_delta_(std::abs(min_delta)) {
    if (mode != "auto" && mode != "min" && mode != "max")
      throw ValueError(std::string(callback) +
                       ": mode must be \"auto\", \"min\" or \"max\"; got \"" + mode + "\".");
    is_max_ = mode == "max" || (mode == "auto" && (monitor_.find("acc") != std::string::npos ||
                                                   monitor_.starts_with("fmeasure")));
    reset();
  }
  void reset() {
    best = is_max_ ? -std::numeric_limits<double>::infinity()
                   : std::numeric_limits<double>::infinity();
  }
  bool is_better(double value) const {
    return is_max_ ? value - min_delta_ > best : value + min_delta_ < best;
  }
  /// The quantity of this epoch. One that no epoch can have is said on standard error, once: nothing would ever happen.
  const double* in(const Logs& logs, const TrainingParams& params) {
    const double* value = logs.find(monitor_);
    const auto& known = params.metrics;
    if (!value && !has_said_ && std::find(known.begin(), known.end(), monitor_) == known.end()) {
      std::fprintf(stderr, "%s: monitor \"%s\" is not there; there are %s.\n", callback_,
                   monitor_.c_str(), listed(logs | std::views::keys).c_str());
      has_said_ = true;
    }
    return value;
  }
  const std::string& name() const { return monitor_; }

  double best = 0;

 private:
  const char* callback_;
  std::string monitor_;
  double min_delta_;
  bool is_max_ = false, has_said_ = false;
};

std::string printed(const char* format, double value) {
  char text[512];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

/// A Python format such as ".2f", "02d" or "" for one value.
std::string formatted(const std::string& spec, double value, bool is_whole) {
  const bool is_plain = spec.find_first_not_of("0123456789.+-defgEG") == std::string::npos;
  if (!is_plain || spec.size() > 12)
    throw ValueError("ModelCheckpoint: format must be like .2f or 02d; got \"" + spec + "\".");
  char text[64];
  if (is_whole) {
    const std::string digits = spec.ends_with('d') ? spec.substr(0, spec.size() - 1) : spec;
    std::snprintf(text, sizeof text, ("%" + digits + "lld").c_str(), static_cast<long long>(value));
  } else if (spec.empty()) {
    return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
  } else {
    const bool has_kind = spec.find_first_of("defgEG") != std::string::npos;
    std::snprintf(text, sizeof text, ("%" + spec + (has_kind ? "" : "g")).c_str(), value);
  }
  return text;
}

/// "{epoch:02d}-{val_loss:.2f}" with values put in.
std::string filled(const std::string& pattern, int64_t epoch, const Logs& logs) {
  std::string result;
  for (size_t i = 0; i < pattern.size();) {
    if (pattern[i] != '{') {
      result += pattern[i++];
      continue;
    }
    const size_t end = pattern.find('}', i);
    if (end == std::string::npos)
      throw ValueError("ModelCheckpoint: filepath has a { without its }: \"" + pattern + "\".");
    const std::string field = pattern.substr(i + 1, end - i - 1);
    const size_t colon = field.find(':');
    const std::string name = field.substr(0, colon),
                      spec = colon == std::string::npos ? "" : field.substr(colon + 1);
    if (name == "epoch") {
      result += formatted(spec, static_cast<double>(epoch), true);
    } else {
      const double* value = logs.find(name);
      if (!value)
        throw ValueError("ModelCheckpoint: filepath names \"" + name +
                         "\", which is not in the logs.");
      result += formatted(spec, *value, false);
    }
    i = end + 1;
  }
  return result;
}

class Checkpoint final : public CallbackBody {
 public:
  Checkpoint(std::string path, const ModelCheckpointOptions& o)
      : path_(std::move(path)), o_(o), watch_("ModelCheckpoint", o.monitor, o.mode, 0) {}
  void on_epoch_end(int64_t epoch, Logs& logs) override {
    if (++since_ < o_.period) return;
    since_ = 0;
    const std::string path = filled(path_, epoch + 1, logs);
    std::string reason;
    if (o_.save_best_only) {
      const double* value = watch_.in(logs, params());
      if (!value) return;
      const double before = watch_.best;
      if (!watch_.is_better(*value))
        return say(epoch, watch_.name() + printed(" did not improve from %0.5f", before));
      watch_.best = *value;
      reason =
          watch_.name() + printed(" improved from %0.5f", before) + printed(" to %0.5f, ", *value);
    }
    say(epoch, reason + "saving model to " + path);
    o_.save_weights_only ? model().save_weights(path) : model().save(path);
  }

 private:
  void say(int64_t epoch, const std::string& text) const {
    if (o_.verbose > 0)
      std::printf("\nEpoch %05lld: %s\n", static_cast<long long>(epoch + 1), text.c_str());
  }

  std::string path_;
  ModelCheckpointOptions o_;
  Watch watch_;
  int64_t since_ = 0;
};

class Early final : public CallbackBody {
 public:
  explicit Early(const EarlyStoppingOptions& o)
      : o_(o), watch_("EarlyStopping", o.monitor, o.mode, o.min_delta) {}
  void on_train_begin() override {
    waited_ = 0;
    stopped_ = 0;
    watch_.reset();
    if (o_.baseline) watch_.best = *o_.baseline;
    best_ = {};
  }
  void on_epoch_end(int64_t epoch, Logs& logs) override {
    const double* value = watch_.in(logs, params());
    if (!value) return;
    if (watch_.is_better(*value)) {
      watch_.best = *value;
      waited_ = 0;
      if (o_.restore_best_weights) best_ = model().get_weights();
      return;
    }
    if (++waited_ < o_.patience) return;
    stopped_ = epoch;
    model().stop_training();
    if (o_.restore_best_weights && !best_.empty()) {
      if (o_.verbose > 0) std::printf("Restoring model weights from the end of the best epoch\n");
      model().set_weights(best_);
    }
  }
  void on_train_end() override {
    if (stopped_ > 0 && o_.verbose > 0)
      std::printf("Epoch %05lld: early stopping\n", static_cast<long long>(stopped_ + 1));
  }

 private:
  EarlyStoppingOptions o_;
  Watch watch_;
  int64_t waited_ = 0, stopped_ = 0;
  Arrays best_;
};

double rate_of(const Model& model) {
  return get_value(model.optimizer().learning_rate()).item<double>();
}
void set_rate(const Model& model, double rate) {
  set_value(model.optimizer().learning_rate(), Array(rate));
}

class Plateau final : public CallbackBody {
 public:
  explicit Plateau(const ReduceLROnPlateauOptions& o)
      : o_(o), watch_("ReduceLROnPlateau", o.monitor, o.mode, o.min_delta) {
    if (o.factor >= 1)
      throw ValueError("ReduceLROnPlateau: factor must be below 1; got " +
                       std::to_string(o.factor) + ".");
  }
  void on_train_begin() override {
    watch_.reset();
    waited_ = cooling_ = 0;
  }
  void on_epoch_end(int64_t epoch, Logs& logs) override {
    logs.set("lr", rate_of(model()));
    const double* value = watch_.in(logs, params());
    if (!value) return;
    if (cooling_ > 0) {
      --cooling_;
      waited_ = 0;
    }
    if (watch_.is_better(*value)) {
      watch_.best = *value;
      waited_ = 0;
    } else if (cooling_ <= 0 && ++waited_ >= o_.patience) {
      const double old = rate_of(model());
      if (old <= o_.min_lr) return;
      const double rate = std::max(old * o_.factor, o_.min_lr);
      set_rate(model(), rate);
      if (o_.verbose > 0)
        std::printf("\nEpoch %05lld: ReduceLROnPlateau reducing learning rate to %s.\n",
                    static_cast<long long>(epoch + 1), Json(rate).dump().c_str());
      cooling_ = o_.cooldown;
      waited_ = 0;
    }
  }

 private:
  ReduceLROnPlateauOptions o_;
  Watch watch_;
  int64_t waited_ = 0, cooling_ = 0;
};

class Scheduler final : public CallbackBody {
 public:
  Scheduler(std::function<double(int64_t, double)> schedule, int verbose)
      : schedule_(std::move(schedule)), verbose_(verbose) {}
  void on_epoch_begin(int64_t epoch) override {
    const double rate = schedule_(epoch, rate_of(model()));
    set_rate(model(), rate);
    if (verbose_ > 0)
      std::printf("\nEpoch %05lld: LearningRateScheduler setting learning rate to %s.\n",
                  static_cast<long long>(epoch + 1), Json(rate).dump().c_str());
  }
  void on_epoch_end(int64_t, Logs& logs) override { logs.set("lr", rate_of(model())); }

 private:
  std::function<double(int64_t, double)> schedule_;
  int verbose_;
};

class Base final : public CallbackBody {
 public:
  explicit Base(std::vector<std::string> stateful) : stateful_(std::move(stateful)) {}
  void on_epoch_begin(int64_t) override {
    seen_ = 0;
    totals_.clear();
  }
  void on_batch_end(int64_t, int64_t size, const Logs& logs) override {
    seen_ += size;
    for (const auto& [name, value] : logs) {
      const double* before = totals_.find(name);
      totals_.set(name, is_stateful(name)
                            ? value
                            : (before ? *before : 0) + value * static_cast<double>(size));
    }
  }
  void on_epoch_end(int64_t, Logs& logs) override {
    for (const auto& [name, total] : totals_)
      logs.set(name, is_stateful(name) ? total : total / static_cast<double>(seen_));
  }

 private:
  bool is_stateful(const std::string& name) const {
    return std::find(stateful_.begin(), stateful_.end(), name) != stateful_.end();
  }
  std::vector<std::string> stateful_;
  int64_t seen_ = 0;
  Logs totals_;
};

class NanGuard final : public CallbackBody {
 public:
  void on_batch_end(int64_t batch, int64_t, const Logs& logs) override {
    const double* loss = logs.find("loss");
    if (!loss || std::isfinite(*loss)) return;
    if (params().verbose)
      std::printf("Batch %lld: Invalid loss, terminating training\n",
                  static_cast<long long>(batch));
    model().stop_training();
  }
};

class Csv final : public CallbackBody {
 public:
  Csv(std::string filename, const CSVLoggerOptions& o)
      : filename_(std::move(filename)), o_(o), append_(o.append) {}
  void on_train_begin() override {
    has_header_ = append_ && std::ifstream(filename_).peek() != std::ifstream::traits_type::eof();
    file_.open(filename_, append_ ? std::ios::app : std::ios::trunc);
    if (!file_) throw RuntimeError("CSVLogger: cannot write " + filename_ + ".");
    names_.clear();
  }
  void on_epoch_end(int64_t epoch, Logs& logs) override {
    if (names_.empty()) {
      for (const auto& [name, ignored] : logs) names_.push_back(name);
      std::sort(names_.begin(), names_.end());
      if (!has_header_) {
        file_ << "epoch";
        for (const std::string& name : names_) file_ << o_.separator << name;
        file_ << "\n";
      }
      append_ = true;
    }
    file_ << epoch;
    for (const std::string& name : names_) {
      const double* value = logs.find(name);
      file_ << o_.separator << (value ? Json(*value).dump() : "NA");
    }
    file_ << std::endl;
  }
  void on_train_end() override { file_.close(); }

 private:
  std::string filename_;
  CSVLoggerOptions o_;
  bool append_, has_header_ = false;
  std::ofstream file_;
  std::vector<std::string> names_;
};

class Functions final : public CallbackBody {
 public:
  explicit Functions(LambdaCallbackOptions o) : o_(std::move(o)) {}
  void on_train_begin() override { call(o_.on_train_begin); }
  void on_train_end() override { call(o_.on_train_end); }
  void on_epoch_begin(int64_t epoch) override { call(o_.on_epoch_begin, epoch); }
  void on_epoch_end(int64_t epoch, Logs& logs) override { call(o_.on_epoch_end, epoch, logs); }
  void on_batch_begin(int64_t batch, int64_t) override { call(o_.on_batch_begin, batch); }
  void on_batch_end(int64_t batch, int64_t, const Logs& logs) override {
    call(o_.on_batch_end, batch, logs);
  }

 private:
  template <class F, class... A>
  static void call(const F& f, A&&... arguments) {
    if (f) f(std::forward<A>(arguments)...);
  }
  LambdaCallbackOptions o_;
};

}  // namespace

Callback ModelCheckpoint(const std::string& filepath, const ModelCheckpointOptions& o) {
  return std::make_shared<Checkpoint>(filepath, o);
}
Callback EarlyStopping(const EarlyStoppingOptions& o) { return std::make_shared<Early>(o); }
Callback ReduceLROnPlateau(const ReduceLROnPlateauOptions& o) {
  return std::make_shared<Plateau>(o);
}
Callback LearningRateScheduler(std::function<double(int64_t, double)> schedule, int verbose) {
  return std::make_shared<Scheduler>(std::move(schedule), verbose);
}
Callback BaseLogger(const std::vector<std::string>& stateful_metrics) {
  return std::make_shared<Base>(stateful_metrics);
}
Callback TerminateOnNaN() { return std::make_shared<NanGuard>(); }
Callback CSVLogger(const std::string& filename, const CSVLoggerOptions& o) {
  return std::make_shared<Csv>(filename, o);
}
Callback LambdaCallback(const LambdaCallbackOptions& o) { return std::make_shared<Functions>(o); }

}  // namespace horngate::keras
