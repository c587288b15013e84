// A graph that an engine compiled.
#include "engines/abi.h"
#include "engines/native/engine.h"
#include "ir/check.h"
#include "ir/profile.h"
#include "plan/plan.h"

namespace horngate {

Compiled::Compiled(const Engine& engine, const Graph& graph)
    : engine_(engine), bytes_(compiled_bytes(graph)) {
  const profile::Scope bar("compile");
  if (&engine == &native_engine()) {
    executable_ = native::compile_graph(graph);
    return;
  }
  if (log_enabled("compile"))
    log_text("compile", text_of("engine ", engine.api->name, ": ", graph.nodes.size(), " nodes\n"));
  const CGraph c(graph);
  hg_status status{};
  status.size = sizeof status;
  if (engine.api->compile(engine.self, c.get(), &executable_, &status) != 0) throw_status(status);
}

Compiled::~Compiled() {
  if (executable_) engine_.api->free_executable(executable_);
}

void Compiled::run(const hg_buffer* in, hg_buffer* out, const hg_run* run) const {
  // The text of a status is long: only its head is cleared on this path.
  hg_status status;
  status.size = sizeof status;
  status.code = 0;
  status.text[0] = 0;
  std::unique_lock lock(serial_, std::defer_lock);
  if (!engine_.has(HG_CAP_CONCURRENT_RUN)) lock.lock();
  const profile::Scope bar(engine_.api->name);
  if (engine_.api->run(executable_, in, out, run, &status) != 0) throw_status(status);
}

}  // namespace horngate
