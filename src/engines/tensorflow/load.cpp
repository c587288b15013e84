// Finding TensorFlow, loading it and binding its functions.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "../common/library.h"
#include "api.h"

namespace horngate::tf {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibrary = "libtensorflow_cc.so.2";
constexpr int kOldest = 16, kTested = 21;  // minor versions of 2.x

Api functions{};
const char* version = "";
std::string path_found;

fs::path find_file() {
  const std::vector<fs::path> folders =
      engines::engine_folders("HORNGATE_TENSORFLOW", "tensorflow");
  const fs::path found = engines::find_library(folders, {"tensorflow", ""}, kLibrary);
  if (!found.empty()) return found;
  std::string looked;
  for (const fs::path& folder : folders) looked += (looked.empty() ? "" : ", ") + folder.string();
  throw Error(HG_RUNTIME_ERROR,
              std::string("there is no ") + kLibrary + " in " +
                  (looked.empty() ? "any known folder" : looked) +
                  ". Install it with \"horngate engines install tensorflow\" or \"pip install "
                  "tensorflow-cpu\", or set HORNGATE_TENSORFLOW to the folder that holds it.");
}

/// While one is alive, nothing that the process writes to standard error is shown: TensorFlow prints a greeting
/// before its own log level takes effect.
class Silence {
 public:
  Silence() {
    std::fflush(stderr);
    kept_ = dup(2);
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (kept_ >= 0 && nowhere >= 0) dup2(nowhere, 2);
    if (nowhere >= 0) close(nowhere);
  }
  ~Silence() {
    std::fflush(stderr);
    if (kept_ < 0) return;
    dup2(kept_, 2);
    close(kept_);
  }
  Silence(const Silence&) = delete;

 private:
  int kept_;
};

void check_version(const fs::path& path) {
  int major = 0, minor = 0;
  version = functions.Version();
  if (std::sscanf(version, "%d.%d", &major, &minor) != 2 || major != 2 || minor < kOldest)
    throw Error(HG_RUNTIME_ERROR, path.string() + " is TensorFlow " + version +
                                      "; this engine needs 2." + std::to_string(kOldest) +
                                      " or a later 2.x (2." + std::to_string(kTested) +
                                      " is the tested one).");
}

void bind(const fs::path& path) {
  // Before the library is loaded, since it reads these once.
  setenv("TF_CPP_MIN_LOG_LEVEL", "3", 0);  // errors reach us as statuses
  setenv("TF_ENABLE_ONEDNN_OPTS", "1", 0);
  std::string why;
  void* library;
  {
    const Silence silence;
    library = engines::open_library(path, RTLD_LAZY | RTLD_LOCAL, why);
  }
  if (!library) throw Error(HG_RUNTIME_ERROR, why);
  const auto find = [&](const char* name) {
    void* found = dlsym(library, name);
    if (!found)
      throw Error(HG_RUNTIME_ERROR, path.string() + " has no function " + name +
                                        ": it is not a TensorFlow that this engine can use.");
    return found;
  };
  functions.Version = reinterpret_cast<const char* (*)()>(find("TF_Version"));
  check_version(path);
#define FUNCTION(result, name, arguments) \
  functions.name = reinterpret_cast<result(*) arguments>(find("TF_" #name));
  HORNGATE_TF_FUNCTIONS(FUNCTION)
#undef FUNCTION
}

}  // namespace

const Api& api() { return functions; }
const char* library_version() { return version; }
const char* library_path() { return path_found.empty() ? nullptr : path_found.c_str(); }

void load() {
  static std::mutex mutex;
  static bool is_loaded = false;  // not after a failure, so that a later call may succeed
  const std::lock_guard lock(mutex);
  if (is_loaded) return;
  path_found.clear();
  const fs::path file = find_file();
  path_found = file.string();
  bind(file);
  is_loaded = true;
}

void Status::check(const char* doing) const {
  const int code = api().GetCode(status_);
  if (code == 0) return;
  // 3 INVALID_ARGUMENT, 9 FAILED_PRECONDITION, 11 OUT_OF_RANGE, 12 UNIMPLEMENTED
  const int kind = code == 3 || code == 9 || code == 11 ? HG_VALUE_ERROR
                   : code == 12                         ? HG_NOT_IMPLEMENTED
                                                        : HG_RUNTIME_ERROR;
  throw Error(kind, std::string("engine tensorflow: ") + doing + ": " + api().Message(status_));
}

Type type_of(int32_t dtype) {
  constexpr Type kTypes[] = {kHalf,  kBfloat16, kFloat,  kDouble, kInt8,   kInt16, kInt32,
                             kInt64, kUint8,    kUint16, kUint32, kUint64, kBool};
  if (dtype < 0 || dtype > HG_BOOL) throw Error(HG_TYPE_ERROR, "engine tensorflow: unknown dtype.");
  return kTypes[dtype];
}

size_t size_of(Type type) {
  switch (type) {
    case kBool:
    case kInt8:
    case kUint8: return 1;
    case kHalf:
    case kBfloat16:
    case kInt16:
    case kUint16: return 2;
    case kFloat:
    case kInt32:
    case kUint32: return 4;
    default: return 8;
  }
}

}  // namespace horngate::tf
