// Checkpoints: a loop whose tape would be too large runs in blocks of about sqrt(length) steps. The forward loop
// keeps only the carries at the start of each block; on the way back, each block runs forward once more, now with
// a tape.
#pragma once

#include <set>

#include "ir/graph.h"

namespace horngate {

/// The most bytes that a loop may keep for the loop that goes back over its steps: HORNGATE_TAPE_BYTES, or a
/// quarter of the machine's memory. Setting 0 restores that.
size_t tape_budget();
void set_tape_budget(size_t bytes);

/// Cuts loops with larger tapes, and the loops that read them, into blocks. The graph is static. `done` receives
/// the bodies of the loops over blocks; nothing may be moved out of them, since it would be as large as the tape.
Graph cut_long_tapes(Graph graph, std::set<const Graph*>& done);

}  // namespace horngate
