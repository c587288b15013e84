// Process-wide settings: read lazily once, then kept in atomics, because every op reads floatx.
#include "horngate/config.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <vector>

#include "api/keras_json.h"
#include "engines/names.h"
#include "engines/registry.h"
#include "ir/check.h"
#include "ir/environment.h"
#include "ir/fork.h"
#include "ir/warn.h"

namespace horngate {
namespace {

struct State {
  std::atomic<bool> ready{false};
  std::atomic<bool> quiet{false};
  std::atomic<DType> floatx{DType::float32};
  std::atomic<double> epsilon{0.0};
  std::atomic<DataFormat> image_data_format{DataFormat::channels_last};
  // These are guarded by the mutex, like loading.
  EngineChoice engine;
  std::map<std::string, EngineOptions> engine_options;
  bool engine_taken = false;
  std::vector<std::string> announced;
};

constinit std::mutex state_mutex;
const AtFork at_fork{state_mutex, ForkOrder::config};

// Never destroyed: settings may be read while the process ends.
State& state() {
  static State* const kState = new State;
  return *kState;
}

void load(State& s) {
  Settings settings = read_settings();
  s.floatx = settings.floatx;
  s.epsilon = settings.epsilon;
  s.image_data_format = settings.image_data_format;
  s.engine = std::move(settings.engine);
  s.engine_options = std::move(settings.engine_options);
  s.ready.store(true, std::memory_order_release);
}

// If the file has an error, `ready` stays false and the next use reads it again.
State& loaded() {
  State& s = state();
  if (!s.ready.load(std::memory_order_acquire)) {
    const std::lock_guard lock(state_mutex);
    if (!s.ready.load(std::memory_order_relaxed)) load(s);
  }
  return s;
}

std::string line_of(std::string_view engine) {
  if (const KnownEngine* known = known_engine(engine)) return std::string(known->line);
  return text_of("Using ", engine, " backend.");
}

}  // namespace

DType floatx() { return loaded().floatx; }

void set_floatx(DType dtype) { set_floatx(name_of(dtype)); }

void set_floatx(std::string_view name) {
  loaded().floatx = keras_json::floatx_from(name, "set_floatx");
}

double epsilon() { return loaded().epsilon; }

void set_epsilon(double e) {
  check(std::isfinite(e) && e >= 0, "set_epsilon", "e must be a finite number, 0 or more; got ", e,
        ".");
  loaded().epsilon = e;
}

DataFormat image_data_format() { return loaded().image_data_format; }

void set_image_data_format(DataFormat data_format) { loaded().image_data_format = data_format; }

void set_image_data_format(std::string_view data_format) {
  set_image_data_format(data_format_from(data_format, "set_image_data_format"));
}

std::string backend() { return engine_choice().name; }

EngineChoice engine_choice() {
  State& s = loaded();
  const std::lock_guard lock(state_mutex);
  return s.engine;
}

EngineChoice take_engine_choice() {
  State& s = loaded();
  const std::lock_guard lock(state_mutex);
  s.engine_taken = true;
  return s.engine;
}

EngineOptions engine_options(std::string_view engine) {
  State& s = loaded();
  const std::lock_guard lock(state_mutex);
  const auto at = s.engine_options.find(std::string(engine));
  return at == s.engine_options.end() ? EngineOptions() : at->second;
}

void set_engine(std::string_view name) {
  check(keras_json::is_engine_name(name), "set_engine",
        "name must consist of lower-case letters, digits and underscores, like \"native\"; got \"",
        name, "\".");
  State& s = loaded();
  const auto is_in_use = [&] {
    check<RuntimeError>(!s.engine_taken || s.engine.name == name, "set_engine",
                        "must be called before the first use of an engine; \"", s.engine.name,
                        "\" is already in use, got \"", name, "\".");
    return s.engine_taken;
  };
  {
    const std::lock_guard lock(state_mutex);
    if (is_in_use()) return;
  }
  // Open it now, to report at once an engine that does not exist or cannot be used.
  find_engine(std::string(name), "set_engine");
  const std::lock_guard lock(state_mutex);
  if (!is_in_use()) s.engine = {std::string(name), "set_engine"};
}

void set_quiet(bool quiet) { state().quiet = quiet; }

void announce_engine(std::string_view name) {
  State& s = state();
  if (s.quiet || environment_flag("HORNGATE_QUIET")) return;
  {
    const std::lock_guard lock(state_mutex);
    if (std::find(s.announced.begin(), s.announced.end(), name) != s.announced.end()) return;
    s.announced.emplace_back(name);
  }
  inform(line_of(name));
}

void reset_settings() {
  State& s = state();
  const std::lock_guard lock(state_mutex);
  s.ready = false;
  s.quiet = false;
  s.engine = {};
  s.engine_taken = false;
  s.announced.clear();
}

}  // namespace horngate
