// horngate export: a model that Keras saved becomes an ONNX file. Keras reads it, so Python does the work.
#include "commands.h"
#include "python.h"

namespace horngate::cli {

int export_model(const Arguments& arguments) {
  std::vector<std::string> words = {"-m", "horngate", "export"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_python("horngate export", words);
}

}  // namespace horngate::cli
