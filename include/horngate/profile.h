// Where the time goes: a trace with one bar per step of a plan, for Perfetto (ui.perfetto.dev), chrome://tracing and
// `horngate profile`. HORNGATE_PROFILE=trace.json traces a whole process.
#pragma once

#include <string>

#include "horngate/export.h"

namespace horngate {

/// Records what runs from now on; profile_stop() writes it. A trace already under way ends first.
/// Example: `K::profile_start("trace.json"); f({x}); K::profile_stop();`
HORNGATE_API void profile_start(const std::string& path);

/// Writes the trace; does nothing if there is none. The end of the process does the same.
HORNGATE_API void profile_stop();

}  // namespace horngate
