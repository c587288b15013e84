// How sessions are set up: messages to TensorFlow in protocol buffer form.
#pragma once

#include <string>

#include "api.h"

namespace horngate::tf {

/// Options of all sessions; the caller deletes them.
COptions* session_options();
/// Options of every run.
const CBuffer& run_options();
/// HORNGATE_TF_XLA=1
bool wants_xla();
/// The value `true` of an attribute.
const std::string& true_attribute();

}  // namespace horngate::tf
