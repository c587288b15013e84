// Settings of the process: floatx, epsilon, image_data_format, the engine, and the file keras.json. They are read at
// first use; the setters change them for what is built afterwards, never the file.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "horngate/dtype.h"
#include "horngate/options.h"

namespace horngate {

/// The float type wherever a dtype is not given.
/// Example: K::floatx() == K::DType::float32
[[nodiscard]] HORNGATE_API DType floatx();
/// float16, float32 or float64; existing tensors keep their type.
/// Example: K::set_floatx("float16");
HORNGATE_API void set_floatx(DType floatx);
HORNGATE_API void set_floatx(std::string_view floatx);

/// The small number that keeps divisions and logarithms away from zero.
/// Example: K::epsilon() == 1e-07
[[nodiscard]] HORNGATE_API double epsilon();
/// Sets it.
/// Example: K::set_epsilon(1e-05);
HORNGATE_API void set_epsilon(double e);

/// The axis order that functions use if data_format is not given.
/// Example: K::image_data_format() == K::DataFormat::channels_last
[[nodiscard]] HORNGATE_API DataFormat image_data_format();
/// Sets it.
/// Example: K::set_image_data_format("channels_first");
HORNGATE_API void set_image_data_format(DataFormat data_format);
HORNGATE_API void set_image_data_format(std::string_view data_format);

/// The given data format, or the one that is set if there is none.
/// Example: const bool first = K::normalize_data_format({}) == K::DataFormat::channels_first;
[[nodiscard]] inline DataFormat normalize_data_format(std::optional<DataFormat> value) {
  return value ? *value : image_data_format();
}

/// Name of the engine that runs functions.
/// Example: K::backend() == "native"
[[nodiscard]] HORNGATE_API std::string backend();
/// Chooses the engine before its first use, overriding KERAS_BACKEND and keras.json. Opens it at once: ValueError for
/// an unknown name, listing the known ones; RuntimeError for one that is not installed, saying how to get it.
/// Example: K::set_engine("tensorflow");
HORNGATE_API void set_engine(std::string_view name);

/// true: no line "Using native backend." on standard error. HORNGATE_QUIET=1 does the same.
HORNGATE_API void set_quiet(bool quiet);

/// The folder of keras.json: $KERAS_HOME, else .keras in the home folder or, if that is not writable, in the folder
/// for temporary files.
[[nodiscard]] HORNGATE_API std::string keras_home();

/// An engine's name and who chose it, for messages: "KERAS_BACKEND", the path of keras.json,
/// "set_engine" or "default".
struct EngineChoice {
  std::string name = "native";
  std::string source = "default";
  bool operator==(const EngineChoice&) const = default;
};

/// What an engine is opened with, by name: {"optimization", "basic"}.
using EngineOptions = std::map<std::string, std::string>;

struct Settings {
  DataFormat image_data_format = DataFormat::channels_last;
  double epsilon = 1e-7;
  DType floatx = DType::float32;
  EngineChoice engine;
  std::map<std::string, EngineOptions> engine_options;
  bool operator==(const Settings&) const = default;
};

/// keras.json and KERAS_BACKEND as they are now. A missing file means the defaults and is written, unless
/// HORNGATE_NO_CONFIG_WRITE is set. A broken one is a ValueError with file and line, and is left alone.
[[nodiscard]] HORNGATE_API Settings read_settings();

/// The engine in force and who chose it.
[[nodiscard]] HORNGATE_API EngineChoice engine_choice();
/// The same, but final from now on: set_engine refuses to change it. For the registry, when it opens an engine.
HORNGATE_API EngineChoice take_engine_choice();
/// "engine_options" of keras.json for an engine, overridden by those of HORNGATE_ENGINE_OPTIONS
/// ("onnx.optimization=basic,tensorflow.xla=1"). For the registry.
[[nodiscard]] HORNGATE_API EngineOptions engine_options(std::string_view engine);
/// Writes "Using <name> backend." to standard error, once per engine. For the registry.
HORNGATE_API void announce_engine(std::string_view name);
/// Forgets all of the above, so that the next use reads the file again. For tests.
HORNGATE_API void reset_settings();

}  // namespace horngate
