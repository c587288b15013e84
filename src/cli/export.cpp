// horngate export: a model that Keras saved becomes an ONNX file. Keras reads it, so Python does the work.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "commands.h"

namespace horngate::cli {

int export_model(const Arguments& arguments) {
  const char* set = std::getenv("HORNGATE_PYTHON");
  const std::string python = set && *set ? set : "python3";
  std::vector<std::string> words = {python, "-m", "horngate", "export"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  std::fprintf(stderr, "horngate export: \"%s\" cannot be run: %s. Set HORNGATE_PYTHON.\n",
               python.c_str(), std::strerror(errno));
  return 1;
}

}  // namespace horngate::cli
