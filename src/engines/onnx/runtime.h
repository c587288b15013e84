// ONNX Runtime's C interface, found at run time. Its table of functions only grows at the end, so the positions
// below, from version 1.17, are valid for every later one. The declarations are our own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace horngate::onnx {

struct OrtStatus;
struct OrtEnv;
struct OrtSession;
struct OrtSessionOptions;
struct OrtRunOptions;
struct OrtThreadingOptions;
struct OrtMemoryInfo;
struct OrtValue;

/// What the runtime reports.
struct RuntimeFault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Runtime {
 public:
  /// The library's file; empty if there is none.
  static std::string find();
  /// How far it rewrites graphs.
  static constexpr int kOptimizeAll = 99;
  /// Finds and loads it; throws std::runtime_error with the reason. threads 0: one per CPU.
  explicit Runtime(int threads = 0, int optimization = kOptimizeAll);

  /// `without_rules`: names of simplifications that the runtime must not apply, separated by semicolons.
  OrtSession* make_session(const std::string& model, const std::string& without_rules) const;
  OrtValue* make_tensor(void* data, size_t bytes, const int64_t* dims, size_t rank, int type) const;
  void run(OrtSession* session, const char* const* in_names, const OrtValue* const* in, size_t n_in,
           const char* const* out_names, size_t n_out, OrtValue** out) const;
  void release(OrtSession* session) const { release_session_(session); }
  void release(OrtValue* value) const { release_value_(value); }
  const std::string& version() const { return version_; }
  const std::string& path() const { return path_; }

 private:
  void bind(const void* const* table);
  void make_environment();
  void check(OrtStatus* status) const;

  const int threads_, optimization_;
  std::string path_, version_;
  OrtEnv* env_ = nullptr;
  OrtMemoryInfo* memory_ = nullptr;

  const char* (*message_)(const OrtStatus*);
  OrtStatus* (*create_env_)(int, const char*, const OrtThreadingOptions*, OrtEnv**);
  OrtStatus* (*create_threading_options_)(OrtThreadingOptions**);
  OrtStatus* (*set_intra_threads_)(OrtThreadingOptions*, int);
  OrtStatus* (*set_inter_threads_)(OrtThreadingOptions*, int);
  OrtStatus* (*set_spin_)(OrtThreadingOptions*, int);
  OrtStatus* (*create_session_)(const OrtEnv*, const void*, size_t, const OrtSessionOptions*,
                                OrtSession**);
  OrtStatus* (*run_)(OrtSession*, const OrtRunOptions*, const char* const*, const OrtValue* const*,
                     size_t, const char* const*, size_t, OrtValue**);
  OrtStatus* (*create_session_options_)(OrtSessionOptions**);
  OrtStatus* (*share_threads_)(OrtSessionOptions*);
  OrtStatus* (*set_optimization_)(OrtSessionOptions*, int);
  OrtStatus* (*set_log_level_)(OrtSessionOptions*, int);
  OrtStatus* (*share_memory_)(OrtEnv*, const OrtMemoryInfo*, const void*);
  OrtStatus* (*set_config_)(OrtSessionOptions*, const char*, const char*);
  OrtStatus* (*create_tensor_)(const OrtMemoryInfo*, void*, size_t, const int64_t*, size_t, int,
                               OrtValue**);
  OrtStatus* (*create_memory_info_)(int, int, OrtMemoryInfo**);
  void (*release_status_)(OrtStatus*);
  void (*release_session_)(OrtSession*);
  void (*release_value_)(OrtValue*);
  void (*release_session_options_)(OrtSessionOptions*);
  void (*release_threading_options_)(OrtThreadingOptions*);
};

}  // namespace horngate::onnx
