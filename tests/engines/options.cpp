// An engine that runs nothing and tells what it was opened with.
#include "engines/common/api.h"

namespace {

using namespace horngate::engines;

std::string seen;

int open(const hg_open* how, void** engine, hg_status* status) {
  *engine = nullptr;
  if (const std::string wrong = unknown_option(how, {"color", "size"}); !wrong.empty())
    return fail(status, HG_VALUE_ERROR, wrong);
  seen = "threads=" + std::to_string(how->threads);
  for (uint32_t i = 0; i < how->n_option; ++i)
    seen += std::string(" ") + how->option[i] + "=" + how->value[i];
  return 0;
}
int supports(void*, const hg_graph*, uint32_t) { return 0; }
int compile(void*, const hg_graph*, void**, hg_status*) { return 0; }
int run(void*, const hg_buffer* const*, hg_buffer* const*, const hg_run*, hg_status*) { return 0; }
void free_executable(void*) {}

constexpr hg_engine_api kApi =
    make_api("options", "1", 0, open, supports, compile, run, free_executable);

}  // namespace

extern "C" const hg_engine_api* hg_engine_main(uint32_t host_abi) {
  return host_abi == HG_ABI ? &kApi : nullptr;
}
extern "C" const char* options_seen() { return seen.c_str(); }
