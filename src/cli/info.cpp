// horngate info: the settings in force.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "horngate/config.h"
#include "horngate/cpus.h"
#include "horngate/error.h"

namespace horngate::cli {

int info(const Arguments& arguments) {
  const bool json = arguments == Arguments{"--json"};
  if (!arguments.empty() && !json) throw ValueError(usage("info"));
  const EngineChoice choice = engine_choice();
  const std::string settings = keras_home() + "/keras.json";
  const int threads = cpu_limits().threads;
  if (json) {
    const nlohmann::ordered_json all = {
        {"version", HORNGATE_VERSION},  {"engine", choice.name},
        {"engine_from", choice.source}, {"floatx", name_of(floatx())},
        {"epsilon", epsilon()},         {"image_data_format", name_of(image_data_format())},
        {"threads", threads},           {"settings", settings}};
    std::puts(all.dump(1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    return 0;
  }
  std::printf("horngate           %s\n", HORNGATE_VERSION);
  std::printf("engine             %s (from %s)\n", choice.name.c_str(), choice.source.c_str());
  std::printf("floatx             %s\n", name_of(floatx()));
  std::printf("epsilon            %g\n", epsilon());
  std::printf("image_data_format  %s\n", name_of(image_data_format()));
  std::printf("threads            %d\n", threads);
  std::printf("settings           %s\n", settings.c_str());
  return 0;
}

}  // namespace horngate::cli
