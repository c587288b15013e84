#include "runtime.h"

#include <sched.h>

#include <cstdlib>

#include "../common/library.h"

namespace horngate::onnx {
namespace {

constexpr uint32_t kApiLevel = 17;
constexpr const char* kAdvice =
    " Install it with \"horngate engines install onnx\" or \"pip install onnxruntime\", or set "
    "HORNGATE_ONNX to the folder that holds it.";

/// What OrtGetApiBase returns.
struct ApiBase {
  const void* const* (*get_api)(uint32_t level);
  const char* (*version)();
};

/// Positions in its table.
enum ApiIndex {
  kGetErrorMessage = 2,
  kCreateSessionFromArray = 8,
  kRun = 9,
  kCreateSessionOptions = 10,
  kSetSessionLogSeverityLevel = 22,
  kSetSessionGraphOptimizationLevel = 23,
  kCreateTensorWithData = 49,
  kCreateCpuMemoryInfo = 69,
  kReleaseStatus = 93,
  kReleaseSession = 95,
  kReleaseValue = 96,
  kReleaseSessionOptions = 100,
  kCreateEnvWithGlobalThreadPools = 119,
  kDisablePerSessionThreads = 120,
  kCreateThreadingOptions = 121,
  kReleaseThreadingOptions = 122,
  kAddSessionConfigEntry = 130,
  kCreateAndRegisterAllocator = 144,
  kSetGlobalIntraOpNumThreads = 147,
  kSetGlobalInterOpNumThreads = 148,
  kSetGlobalSpinControl = 149
};

constexpr int kLogFatal = 4;
constexpr int kArenaAllocator = 1, kDefaultMemory = 0;

int all_cpus() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

std::vector<engines::fs::path> folders() {
  return engines::engine_folders("HORNGATE_ONNX", "onnx");
}

}  // namespace

std::string Runtime::find() {
  return engines::find_library(folders(), {"onnxruntime/capi", "capi", "lib", ""},
                               "libonnxruntime.so")
      .string();
}

Runtime::Runtime(int threads, int optimization)
    : threads_(threads > 0 ? threads : all_cpus()), optimization_(optimization), path_(find()) {
  if (path_.empty()) {
    std::string where;
    for (const auto& f : folders()) where += (where.empty() ? "" : ", ") + f.string();
    throw std::runtime_error("ONNX Runtime was not found in " + where + "." + kAdvice);
  }
  std::string why;
  void* library = engines::open_library(path_, RTLD_NOW | RTLD_LOCAL, why);
  if (!library) throw std::runtime_error(why);
  const auto base = reinterpret_cast<const ApiBase* (*)()>(dlsym(library, "OrtGetApiBase"));
  if (!base) throw std::runtime_error(path_ + " is not ONNX Runtime." + kAdvice);
  version_ = base()->version();
  const void* const* table = base()->get_api(kApiLevel);
  if (!table)
    throw std::runtime_error(path_ + " is version " + version_ + "; 1." +
                             std::to_string(kApiLevel) + " or later is needed." + kAdvice);
  bind(table);
  make_environment();
}

void Runtime::bind(const void* const* table) {
  const auto take = [table](auto& function, ApiIndex slot) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        const_cast<void*>(table[slot]));
  };
  take(message_, kGetErrorMessage);
  take(create_env_, kCreateEnvWithGlobalThreadPools);
  take(create_threading_options_, kCreateThreadingOptions);
  take(set_intra_threads_, kSetGlobalIntraOpNumThreads);
  take(set_inter_threads_, kSetGlobalInterOpNumThreads);
  take(set_spin_, kSetGlobalSpinControl);
  take(create_session_, kCreateSessionFromArray);
  take(run_, kRun);
  take(create_session_options_, kCreateSessionOptions);
  take(share_threads_, kDisablePerSessionThreads);
  take(set_optimization_, kSetSessionGraphOptimizationLevel);
  take(set_log_level_, kSetSessionLogSeverityLevel);
  take(set_config_, kAddSessionConfigEntry);
  take(share_memory_, kCreateAndRegisterAllocator);
  take(create_tensor_, kCreateTensorWithData);
  take(create_memory_info_, kCreateCpuMemoryInfo);
  take(release_status_, kReleaseStatus);
  take(release_session_, kReleaseSession);
  take(release_value_, kReleaseValue);
  take(release_session_options_, kReleaseSessionOptions);
  take(release_threading_options_, kReleaseThreadingOptions);
}

/// One pool of threads, which sleep when idle, and one memory arena for the runs of all sessions, since each plan
/// has a session.
void Runtime::make_environment() {
  OrtThreadingOptions* options = nullptr;
  check(create_threading_options_(&options));
  check(set_intra_threads_(options, threads_));
  check(set_inter_threads_(options, 1));
  check(set_spin_(options, 0));
  check(create_env_(kLogFatal, "horngate", options, &env_));
  release_threading_options_(options);
  check(create_memory_info_(kArenaAllocator, kDefaultMemory, &memory_));
  check(share_memory_(env_, memory_, nullptr));
}

void Runtime::check(OrtStatus* status) const {
  if (!status) return;
  const std::string text = message_(status);
  release_status_(status);
  throw RuntimeFault(text);
}

OrtSession* Runtime::make_session(const std::string& model,
                                  const std::string& without_rules) const {
  struct Options {
    const Runtime& runtime;
    OrtSessionOptions* self = nullptr;
    ~Options() { runtime.release_session_options_(self); }
  } options{*this};
  check(create_session_options_(&options.self));
  check(share_threads_(options.self));
  check(set_optimization_(options.self, optimization_));
  check(set_log_level_(options.self, kLogFatal));
  check(set_config_(options.self, "session.use_env_allocators", "1"));
  check(set_config_(options.self, "optimization.disable_specified_optimizers",
                    without_rules.c_str()));
  OrtSession* session = nullptr;
  check(create_session_(env_, model.data(), model.size(), options.self, &session));
  return session;
}

OrtValue* Runtime::make_tensor(void* data, size_t bytes, const int64_t* dims, size_t rank,
                               int type) const {
  OrtValue* value = nullptr;
  check(create_tensor_(memory_, data, bytes, dims, rank, type, &value));
  return value;
}

void Runtime::run(OrtSession* session, const char* const* in_names, const OrtValue* const* in,
                  size_t n_in, const char* const* out_names, size_t n_out, OrtValue** out) const {
  check(run_(session, nullptr, in_names, in, n_in, out_names, n_out, out));
}

}  // namespace horngate::onnx
