// Which nodes Theano runs.
#pragma once

#include "horngate/engine.h"

namespace horngate::theano {

bool supports(const hg_graph& graph, const hg_node& node);

}  // namespace horngate::theano
