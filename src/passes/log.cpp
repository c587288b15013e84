// HORNGATE_LOG: prints each stage of a program to standard error, for people who study plans.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "passes/passes.h"

namespace horngate {

bool log_enabled(const char* stage) {
  static const std::string* const kWanted = [] {
    const char* value = std::getenv("HORNGATE_LOG");
    return new std::string(value ? std::string(",") + value + "," : "");
  }();
  if (kWanted->empty()) return false;
  return kWanted->find(",all,") != std::string::npos ||
         kWanted->find(std::string(",") + stage + ",") != std::string::npos;
}

void log_text(const char* stage, const std::string& text) {
  if (log_enabled(stage)) std::fprintf(stderr, "--- horngate: %s\n%s", stage, text.c_str());
}

void log_stage(const char* stage, const Graph& graph) {
#ifndef NDEBUG
  verify(graph, stage);
#endif
  if (log_enabled(stage)) log_text(stage, print_text(graph));
}

}  // namespace horngate
