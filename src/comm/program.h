// Whether all ranks are about to run the same program. Nothing is negotiated while it runs, so this is found out before.
#pragma once

#include <span>
#include <string>

#include "comm/communicator.h"

namespace horngate::comm {

/// Compares the operations of a plan, each as a text (see signature_of), with those of all ranks; every rank calls it
/// before the plan's first run. Costs one small operation. Throws a CommError on all ranks that names the first one that
/// differs; the communicator stays whole. `what`: the plan, for the message.
void check_same_program(Communicator& c, const std::string& what,
                        std::span<const std::string> operations);

}  // namespace horngate::comm
