// How sessions are set up: messages to TensorFlow in protocol buffer form.
#pragma once

#include <string>

#include "api.h"

namespace horngate::tf {

/// What the engine was opened with. threads 0: TensorFlow takes one per CPU.
void configure(int threads, bool xla);
/// Options of all sessions; the caller deletes them.
COptions* session_options();
/// Options of every run.
const CBuffer& run_options();
/// Option xla=1: graphs are compiled by XLA.
bool wants_xla();
/// The value `true` of an attribute.
const std::string& true_attribute();

}  // namespace horngate::tf
