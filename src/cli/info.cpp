// horngate info: the settings in force.
#include <cstdio>

#include "commands.h"
#include "horngate/config.h"

namespace horngate::cli {

int info(const Arguments&) {
  const EngineChoice choice = engine_choice();
  std::printf("horngate           %s\n", HORNGATE_VERSION);
  std::printf("engine             %s (from %s)\n", choice.name.c_str(), choice.source.c_str());
  std::printf("floatx             %s\n", name_of(floatx()));
  std::printf("epsilon            %g\n", epsilon());
  std::printf("image_data_format  %s\n", name_of(image_data_format()));
  std::printf("settings           %s/keras.json\n", keras_home().c_str());
  return 0;
}

}  // namespace horngate::cli
