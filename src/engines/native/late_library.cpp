// Libraries that are loaded when something first needs them.
#include "engines/native/late_library.h"

#include <dlfcn.h>

#include <filesystem>

#include "horngate/error.h"
#include "ir/check.h"

namespace horngate::native {
namespace {

/// First beside this code: whatever stands between us and dlopen, as sanitizers do, hides our run path from it.
void* open(const char* file) {
  namespace fs = std::filesystem;
  Dl_info here;
  if (dladdr(reinterpret_cast<const void*>(&open), &here) && here.dli_fname) {
    const fs::path folder = fs::path(here.dli_fname).parent_path();
    std::error_code ignored;
    for (const fs::path& path : {folder / file, folder / ".." / "lib" / file})
      if (fs::exists(path, ignored)) return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  return dlopen(file, RTLD_NOW | RTLD_LOCAL);
}

}  // namespace

LateLibrary::LateLibrary(const char* name, const char* file)
    : name_(name), file_(file), handle_(open(file)) {
  if (handle_) return;
  const char* why = dlerror();
  fail<RuntimeError>(name_, "the library could not be loaded: ", why ? why : file,
                     ". It belongs beside libhorngate.so: install Horngate again.");
}

void* LateLibrary::find(const char* symbol) const {
  void* found = dlsym(handle_, symbol);
  check<RuntimeError>(found != nullptr, name_, file_, " has no function ", symbol,
                      ": it is another version than Horngate was built with.");
  return found;
}

}  // namespace horngate::native
