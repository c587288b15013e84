// Checkpoints: a loop whose tape would be too large runs in blocks of about sqrt(length) steps. Going forward it
// keeps the carries at the start of each block only; going back, each block runs forward once more, with a tape.
#pragma once

#include <set>

#include "ir/graph.h"

namespace horngate {

/// Most bytes that a loop may keep for the one that goes back over its steps: HORNGATE_TAPE_BYTES, else a quarter
/// of the machine's memory. 0 sets it back to that.
size_t tape_budget();
void set_tape_budget(size_t bytes);

/// Cuts loops with larger tapes, and the loops that read them, into blocks. The graph is static; `done` gets the
/// bodies of the loops over blocks, out of which nothing must be moved: that would be as large as the tape.
Graph cut_long_tapes(Graph graph, std::set<const Graph*>& done);

}  // namespace horngate
