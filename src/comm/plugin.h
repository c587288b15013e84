// Communicators by name: shared objects that implement horngate/comm.h.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "horngate/comm.h"

namespace horngate::comm {

using Options = std::vector<std::pair<std::string, std::string>>;

/// The names of those that are here.
std::vector<std::string> plugin_names();

/// Loads one. `origin` says where the name comes from, for errors ("HORNGATE_COMM").
const hg_comm_api* load_plugin(const std::string& name, const std::string& origin = {});

/// The options for a communicator in HORNGATE_COMM_OPTIONS: "mpi.library=/path,threads.delay=5".
Options options_of(const std::string& name);

/// What the launcher's variables and HORNGATE_COMM ask for: the name of a communicator and who named it. The name is
/// empty when this process is alone.
struct Choice {
  std::string name, origin;
};
Choice choose_plugin();

}  // namespace horngate::comm
