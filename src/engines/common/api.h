// What every engine fills in the same way: its table of functions, and the status of a failed call.
#pragma once

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "horngate/engine.h"

namespace horngate::engines {

/// The table of an engine that uses host memory.
constexpr hg_engine_api make_api(
    const char* name, const char* version, uint64_t caps, decltype(hg_engine_api::open) open,
    decltype(hg_engine_api::supports) supports, decltype(hg_engine_api::compile) compile,
    decltype(hg_engine_api::run) run, decltype(hg_engine_api::free_executable) free_executable,
    decltype(hg_engine_api::executable_bytes) executable_bytes = nullptr) {
  hg_engine_api api = {};
  api.abi = HG_ABI;
  api.size = sizeof(hg_engine_api);
  api.name = name;
  api.version = version;
  api.caps = caps;
  api.open = open;
  api.supports = supports;
  api.compile = compile;
  api.run = run;
  api.free_executable = free_executable;
  api.executable_bytes = executable_bytes;
  return api;
}

/// Fills the status, if there is one, cutting off text that does not fit. Returns 1, like a function that failed.
inline int fail(hg_status* status, int32_t code, std::string_view text) {
  if (!status) return 1;
  status->code = code;
  const size_t n = std::min(text.size(), sizeof status->text - 1);
  std::memcpy(status->text, text.data(), n);
  status->text[n] = 0;
  return 1;
}

/// The value of an option, if given.
inline std::optional<std::string_view> option(const hg_open* how, std::string_view name) {
  for (uint32_t i = 0; i < how->n_option; ++i)
    if (how->option[i] == name) return how->value[i];
  return std::nullopt;
}

/// Empty, or an error about an option that the engine does not have.
inline std::string unknown_option(const hg_open* how,
                                  std::initializer_list<std::string_view> known) {
  for (uint32_t i = 0; i < how->n_option; ++i) {
    if (std::find(known.begin(), known.end(), how->option[i]) != known.end()) continue;
    std::string names;
    for (const std::string_view name : known)
      names += (names.empty() ? "" : ", ") + std::string(name);
    return "there is no option \"" + std::string(how->option[i]) + "\"; it takes " +
           (names.empty() ? "none" : names) + ".";
  }
  return "";
}

/// `open` of an engine that has nothing to open.
inline int open_nothing(const hg_open* how, void** engine, hg_status* status) {
  *engine = nullptr;
  const std::string wrong = unknown_option(how, {});
  return wrong.empty() ? 0 : fail(status, HG_VALUE_ERROR, wrong);
}

}  // namespace horngate::engines
