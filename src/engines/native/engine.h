// Entry point of the native engine: what a plug-in exports as hg_engine_main.
#pragma once

#include "horngate/engine.h"

namespace horngate::native {

const hg_engine_api* engine_main(uint32_t host_abi);

}  // namespace horngate::native
