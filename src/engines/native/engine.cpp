// The native engine behind the interface of engine.h.
#include "engines/native/engine.h"

#include <algorithm>

#include "engines/common/api.h"
#include "engines/native/arena.h"
#include "engines/native/callers.h"
#include "engines/native/derived.h"
#include "engines/native/sparse.h"
#include "engines/native/work.h"
#include "ir/abi.h"
#include "ir/per_thread.h"

namespace horngate::native {
namespace {

constexpr size_t kPointersOnStack = 1024;

int supports(void*, const hg_graph* graph, uint32_t node) {
  const std::optional<Prim> prim = find_primitive(graph->node[node]->prim);
  return prim && primitive(*prim).how != How::core ? 1 : prim == Prim::constant;
}

/// Fills a status from the exception being handled.
int status_of_current_exception(hg_status* status) noexcept {
  const auto fill = [&](int32_t code, const char* text) { engines::fail(status, code, text); };
  try {
    throw;
  } catch (const ValueError& e) {
    fill(HG_VALUE_ERROR, e.what());
  } catch (const TypeError& e) {
    fill(HG_TYPE_ERROR, e.what());
  } catch (const IndexError& e) {
    fill(HG_INDEX_ERROR, e.what());
  } catch (const NotImplementedError& e) {
    fill(HG_NOT_IMPLEMENTED, e.what());
  } catch (const Interrupted& e) {
    fill(HG_INTERRUPTED, e.what());
  } catch (const std::bad_alloc&) {
    fill(HG_RUNTIME_ERROR, "out of memory.");
  } catch (const std::exception& e) {
    fill(HG_RUNTIME_ERROR, e.what());
  } catch (...) {
    fill(HG_RUNTIME_ERROR, "an unknown error occurred.");
  }
  return 1;
}

struct Compilation {
  explicit Compilation(const Graph& graph) : exe(graph), bytes(bytes_of(graph)) {}
  Executable exe;
  const size_t bytes;  // approximate size of its steps
  Derived derived;
};

int compile(void*, const hg_graph* graph, void** executable, hg_status* status) {
  try {
    *executable = compile_graph(import_graph(*graph));
    return 0;
  } catch (...) {
    return status_of_current_exception(status);
  }
}

/// The memory of the sparse outputs of one run.
class SparseOutputs {
 public:
  void* add(size_t output) {
    made_.emplace_back(output, std::make_unique<SparseBuffer>());
    return made_.back().second->pointer();
  }
  /// Hands them over; from now on the caller frees them.
  void give(hg_buffer* const* out) {
    for (auto& [i, buffer] : made_) {
      *static_cast<hg_sparse*>(out[i]->data) = {sizeof(hg_sparse), buffer->nnz, buffer->indptr,
                                                buffer->indices, buffer->values};
      out[i]->owner = buffer.release();
      out[i]->release = [](void* owner) { delete static_cast<SparseBuffer*>(owner); };
    }
  }

 private:
  std::vector<std::pair<size_t, std::unique_ptr<SparseBuffer>>> made_;
};

int run(void* executable, const hg_buffer* const* in, hg_buffer* const* out, const hg_run* run,
        hg_status* status) {
  try {
    auto& compiled = *static_cast<Compilation*>(executable);
    Executable& exe = compiled.exe;
    // Arrays of pointers on the stack or, if there are many, one per thread that is reused: a call
    // allocates nothing.
    const size_t n_in = exe.n_inputs(), n_out = exe.n_outputs();
    void** pointers;
    if (n_in + n_out <= kPointersOnStack) {
      pointers = static_cast<void**>(__builtin_alloca((n_in + n_out) * sizeof(void*)));
    } else {
      thread_local PerThread<std::vector<void*>> kept;
      kept->resize(std::max(kept->size(), n_in + n_out));
      pointers = kept->data();
    }
    for (size_t i = 0; i < n_in; ++i) pointers[i] = in[i]->data;
    SparseOutputs sparse;
    for (size_t i = 0; i < n_out; ++i)
      pointers[n_in + i] = out[i]->type->flags & HG_TYPE_SPARSE ? sparse.add(i) : out[i]->data;
    RunContext context;
    context.stopped = run->stopped;
    context.log = run->log;
    context.host = run->ctx;
    const CallerScope caller(context.stopped != nullptr);
    const ArenaLease arena(exe.arena_bytes());
    Derived::Bytes derived;
    if (exe.derived_bytes()) {
      thread_local PerThread<std::vector<uint64_t>> kept;
      std::vector<uint64_t>& stamps = *kept;
      stamps.resize(std::max(stamps.size(), n_in));
      for (size_t i = 0; i < n_in; ++i) stamps[i] = in[i]->stamp;
      derived = compiled.derived.get(exe, pointers, stamps.data(), arena.data(), context);
    }
    exe.run(pointers, pointers + n_in, derived.get(), arena.data(), context);
    sparse.give(out);
    return 0;
  } catch (...) {
    return status_of_current_exception(status);
  }
}

void free_executable(void* executable) { delete static_cast<Compilation*>(executable); }

size_t executable_bytes(void* executable) {
  const auto& compiled = *static_cast<const Compilation*>(executable);
  return compiled.bytes + compiled.exe.derived_bytes();
}

}  // namespace

void* compile_graph(const Graph& graph) { return new Compilation(graph); }

constexpr hg_engine_api kApi = engines::make_api(
    "native", HORNGATE_VERSION,
    HG_CAP_SCAN | HG_CAP_COND | HG_CAP_CONCURRENT_RUN | HG_CAP_IN_PLACE | HG_CAP_SPARSE |
        HG_CAP_EVERYTHING,
    engines::open_nothing, supports, compile, run, free_executable, executable_bytes);

}  // namespace horngate::native

const hg_engine_api* hg_native_engine(uint32_t host_abi) {
  return host_abi == HG_ABI ? &horngate::native::kApi : nullptr;
}
