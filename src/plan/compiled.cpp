// A graph that an engine compiled.
#include <atomic>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "ir/abi.h"
#include "ir/check.h"
#include "ir/profile.h"
#include "plan/plan.h"

namespace horngate {

namespace {

/// The bytes of an output, or a marker if they vary from run to run.
constexpr size_t kOpen = ~size_t{0}, kSparse = kOpen - 1;
size_t bytes_of(const TensorType& t) {
  if (t.sparse) return kSparse;
  for (const int64_t d : t.shape.dims())
    if (d < 0) return kOpen;
  return t.nbytes();
}

/// Plug-ins free memory in many small pieces, which the C library keeps; make it return them now and then.
void give_back(size_t bytes) {
  constexpr size_t kWorthIt = 16 << 20;
  static std::atomic<size_t> freed{0};
  if (freed.fetch_add(bytes, std::memory_order_relaxed) + bytes < kWorthIt) return;
  freed = 0;
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace

Compiled::Compiled(const Engine& engine, const Graph& graph)
    : engine_(engine), bytes_(graph_bytes(graph)) {  // an estimate, unless the engine tells
  const profile::Scope bar("compile");
  if (log_enabled("compile"))
    log_text("compile", text_of("engine ", engine.api->name, ": ", graph.nodes.size(), " nodes\n"));
  if (!engine.path.empty())
    for (const ValueId v : graph.outputs) out_bytes_.push_back(bytes_of(graph.values[v]));
  executable_ = engine.compile(graph);
  if (const size_t told = engine.executable_bytes(executable_)) bytes_ = told;
}

Compiled::~Compiled() {
  if (!executable_) return;
  engine_.free_executable(executable_);
  if (!engine_.path.empty()) give_back(bytes_);
}

void Compiled::run(const hg_buffer* const* in, hg_buffer* const* out, const hg_run* run) const {
  std::unique_lock lock(serial_, std::defer_lock);
  if (!engine_.has(HG_CAP_CONCURRENT_RUN)) lock.lock();
  const profile::Scope bar(engine_.api->name);
  engine_.run(executable_, in, out, run);
  check_outputs(out);
}

/// Checks what a plug-in hands over before it is used: a wrong size or missing memory would crash the
/// process.
void Compiled::check_outputs(const hg_buffer* const* out) const {
  for (size_t i = 0; i < out_bytes_.size(); ++i) {
    const hg_buffer& b = *out[i];
    const char* fault = nullptr;
    if (out_bytes_[i] < kSparse && b.bytes != out_bytes_[i])
      fault = " does not have the requested size; got ";
    else if (!b.data && b.bytes != 0)
      fault = " has no memory for its ";
    else if (b.release && out_bytes_[i] != kSparse && !engine_.has(HG_CAP_OWN_MEMORY) &&
             reinterpret_cast<uintptr_t>(b.data) % 64 != 0)
      fault = " lies in memory that is not aligned to 64 bytes, with ";
    if (fault)
      fail<RuntimeError>(text_of("engine ", engine_.api->name), "result ", i, fault, b.bytes,
                         " bytes.");
  }
}

}  // namespace horngate
