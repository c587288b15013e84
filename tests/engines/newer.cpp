// A plug-in built for another version of the interface: the host must refuse it with a clear text.
#include "horngate/engine.h"

static const hg_engine_api kApi = {HG_ABI + 1, sizeof(hg_engine_api), "newer", "1"};

extern "C" const hg_engine_api* hg_engine_main(uint32_t) { return &kApi; }
