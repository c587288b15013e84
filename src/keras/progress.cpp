// The bar and the lines that fit prints, as Keras draws them.
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>

#include "horngate/error.h"
#include "horngate/keras/callbacks.h"
#include "keras/trainer.h"

namespace horngate::keras {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

template <class... A>
std::string print(const char* format, A... arguments) {
  char text[128];
  std::snprintf(text, sizeof text, format, arguments...);
  return text;
}

/// One epoch.
class Bar {
 public:
  Bar(int64_t target, int verbose, std::vector<std::string> running)
      : target_(target), verbose_(verbose), running_(std::move(running)) {}

  /// A name may come twice, and then counts twice.
  void update(int64_t current, const std::vector<std::pair<std::string, double>>& values) {
    for (const auto& [name, value] : values) take(name, value, current - seen_);
    seen_ = current;
    const bool is_done = target_ > 0 && current >= target_;
    if (verbose_ == 2) {
      if (is_done)
        std::fputs((print(" - %.0fs", seconds_since(begin_)) + numbers(true) + "\n").c_str(),
                   stdout);
    } else {
      draw(current, is_done);
    }
    std::fflush(stdout);
  }

 private:
  struct Mean {
    std::string name;
    double sum = 0, count = 0;
  };

  void take(const std::string& name, double value, int64_t more) {
    Mean* mean = nullptr;
    for (Mean& m : means_)
      if (m.name == name) mean = &m;
    if (!mean) mean = &means_.emplace_back(Mean{name});
    if (std::find(running_.begin(), running_.end(), name) != running_.end()) {
      *mean = {name, value, 1};
    } else {
      mean->sum += value * static_cast<double>(more);
      mean->count += static_cast<double>(more);
    }
  }

  std::string numbers(bool is_line) const {
    std::string text;
    for (const Mean& m : means_) {
      const double mean = m.sum / std::max(1.0, m.count);
      const bool is_plain = is_line ? mean > 1e-3 : std::abs(mean) > 1e-3;
      text += " - " + m.name + ":" + print(is_plain ? " %.4f" : " %.4e", mean);
    }
    return text;
  }

  void draw(int64_t current, bool is_done) {
    const double now = seconds_since(begin_);
    if (target_ > 0 && !is_done && now - last_ < 0.05) return;
    last_ = now;
    std::string line;
    if (target_ > 0) {
      const int digits = static_cast<int>(std::to_string(target_).size());
      line = print("%*lld/%lld [", digits, static_cast<long long>(current),
                   static_cast<long long>(target_));
      const auto filled = static_cast<size_t>(30 * current / target_);
      if (filled > 0) line += std::string(filled - 1, '=') + (is_done ? '=' : '>');
      line += std::string(30 - std::min<size_t>(filled, 30), '.') + "]";
    } else {
      line = print("%7lld/Unknown", static_cast<long long>(current));
    }
    const double each = current ? now / static_cast<double>(current) : 0;
    if (target_ > 0 && !is_done) {
      const auto eta = static_cast<long long>(each * static_cast<double>(target_ - current));
      line += eta > 3600
                  ? print(" - ETA: %lld:%02lld:%02lld", eta / 3600, eta % 3600 / 60, eta % 60)
              : eta > 60 ? print(" - ETA: %lld:%02lld", eta / 60, eta % 60)
                         : print(" - ETA: %llds", eta);
    } else {
      line += print(" - %.0fs", now);
      line += each >= 1      ? print(" %.0fs/step", each)
              : each >= 1e-3 ? print(" %.0fms/step", each * 1e3)
                             : print(" %.0fus/step", each * 1e6);
    }
    line += numbers(false);
    const size_t width = line.size();
    const std::string back(width_, '\b');
    if (width < width_) line += std::string(width_ - width, ' ');
    width_ = width;
    std::fputs((back + "\r" + line + (is_done ? "\n" : "")).c_str(), stdout);
  }

  int64_t target_, seen_ = 0;
  int verbose_;
  std::vector<std::string> running_;
  std::vector<Mean> means_;
  Clock::time_point begin_ = Clock::now();
  double last_ = -1;
  size_t width_ = 0;
};

class Progress final : public CallbackBody {
 public:
  Progress(bool uses_steps, std::vector<std::string> running)
      : uses_steps_(uses_steps), running_(std::move(running)) {}
  void on_epoch_begin(int64_t epoch) override {
    if (!shows_progress(params().verbose)) return;
    std::printf("Epoch %lld/%lld\n", static_cast<long long>(epoch + 1),
                static_cast<long long>(params().epochs));
    target_ = uses_steps_ ? params().steps : params().samples;
    seen_ = 0;
    bar_ = std::make_unique<Bar>(target_, params().verbose, running_);
  }
  void on_batch_end(int64_t, int64_t size, const Logs& logs) override {
    if (!bar_) return;
    seen_ += uses_steps_ ? 1 : size;
    last_ = logs;
    if (target_ == 0 || seen_ < target_) bar_->update(seen_, logs);
  }
  void on_epoch_end(int64_t, Logs& logs) override {
    if (!bar_) return;
    // As Keras has it: the epoch's mean counts as much as the last batch.
    std::vector<std::pair<std::string, double>> values = last_;
    for (const std::string& name : params().metrics)
      if (const double* value = logs.find(name)) values.emplace_back(name, *value);
    bar_->update(seen_, values);
  }

 private:
  bool uses_steps_;
  std::vector<std::string> running_;
  int64_t target_ = 0, seen_ = 0;
  Logs last_;
  std::unique_ptr<Bar> bar_;
};

}  // namespace

// A file or a pipe has no use for a bar.
bool shows_progress(int verbose) { return verbose > 1 || (verbose == 1 && isatty(STDOUT_FILENO)); }

Callback ProgbarLogger(const std::string& count_mode,
                       const std::vector<std::string>& stateful_metrics) {
  if (count_mode != "samples" && count_mode != "steps")
    throw ValueError("ProgbarLogger: count_mode must be \"samples\" or \"steps\"; got \"" +
                     count_mode + "\".");
  return std::make_shared<Progress>(count_mode == "steps", stateful_metrics);
}

}  // namespace horngate::keras
