// A plug-in whose struct ends before the optional slots: an older one that must still load.
#include <cstddef>
#include <cstring>

#include "horngate/engine.h"

static int open_engine(const hg_open*, void** engine, hg_status*) {
  static int token;
  *engine = &token;
  return 0;
}
static int supports(void*, const hg_graph*, uint32_t) { return 0; }
static int compile(void*, const hg_graph*, void**, hg_status* status) {
  status->code = HG_NOT_IMPLEMENTED;
  std::strcpy(status->text, "engine short: compiles nothing.");
  return 1;
}
static int run(void*, const hg_buffer* const*, hg_buffer* const*, const hg_run*, hg_status*) {
  return 0;
}
static void free_executable(void*) {}

static const hg_engine_api kApi = {HG_ABI,   offsetof(hg_engine_api, alloc),
                                   "short",  "1",
                                   0,        open_engine,
                                   supports, compile,
                                   run,      free_executable};

extern "C" const hg_engine_api* hg_engine_main(uint32_t) { return &kApi; }
