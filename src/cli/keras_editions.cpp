// horngate keras enable|disable: whether Keras before 2.2 finds us in an environment. A file in its site-packages
// decides, so its Python does the work.
#include "commands.h"
#include "python.h"

namespace horngate::cli {

int keras_editions(const Arguments& arguments) {
  std::vector<std::string> words = {"-m", "horngate", "keras"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_python("horngate keras", words);
}

}  // namespace horngate::cli
