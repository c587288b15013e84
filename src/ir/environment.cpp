#include "ir/environment.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <mutex>

#include "ir/check.h"
#include "ir/switches.h"

namespace horngate {

std::string_view environment_text(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

bool environment_flag(const char* name, bool otherwise) {
  const std::string_view text = environment_text(name);
  if (text.empty()) return otherwise;
  check(text == "0" || text == "1", name, "must be 0 or 1; got \"", text, "\".");
  return text == "1";
}

int64_t environment_count(const char* name, int64_t most) {
  const std::string_view text = environment_text(name);
  if (text.empty()) return 0;
  int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const bool fits =
      error == std::errc() && end == text.data() + text.size() && count >= 1 && count <= most;
  if (!fits && most == INT64_MAX)
    fail(name, "must be a whole number of at least 1; got \"", text, "\".");
  check(fits, name, "must be a whole number from 1 to ", most, "; got \"", text, "\".");
  return count;
}

// The stages of a plan that can be shown, see passes/log.cpp.
static void check_log() {
  constexpr std::string_view kStages[] = {"all",     "program", "prepare", "plan",  "open",
                                          "compile", "commit",  "steps",   "passes"};
  const std::string_view text = environment_text("HORNGATE_LOG");
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view stage = text.substr(begin, end - begin);
    check(
        std::find(std::begin(kStages), std::end(kStages), stage) != std::end(kStages),
        "HORNGATE_LOG",
        "must be a comma-separated list of stages (program, prepare, plan, open, compile, passes, "
        "commit, steps) or all; got \"",
        text, "\".");
    begin = end + 1;
  }
}

void check_environment() {
  static std::once_flag once;  // an exception leaves it unset, so the next plan checks again
  std::call_once(once, [] {
    check_log();
    check_switches();
    environment_flag("HORNGATE_STRICT");
    environment_count("HORNGATE_NUM_THREADS", kMostThreads);
    for (const char* name : {"HORNGATE_PLAN_BYTES", "HORNGATE_TAPE_BYTES"}) environment_count(name);
  });
}

}  // namespace horngate
