// What every engine fills in the same way: its table of functions, and the status of a call that failed.
#pragma once

#include <algorithm>
#include <cstring>
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

/// `open` of an engine that has nothing to open.
inline int open_nothing(const char*, void** engine, hg_status*) {
  *engine = nullptr;
  return 0;
}

/// Fills the status, if there is one; what does not fit of the text is cut off. Gives 1, as a function that failed.
inline int fail(hg_status* status, int32_t code, std::string_view text) {
  if (!status) return 1;
  status->code = code;
  const size_t n = std::min(text.size(), sizeof status->text - 1);
  std::memcpy(status->text, text.data(), n);
  status->text[n] = 0;
  return 1;
}

}  // namespace horngate::engines
