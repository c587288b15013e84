// Libraries that are loaded when something first needs them.
#include "engines/native/late_library.h"

#include <dlfcn.h>
#ifdef __GLIBC__
#include <execinfo.h>
#endif

#include <filesystem>

#include "engines/common/own_folder.h"
#include "horngate/error.h"
#include "ir/check.h"

namespace horngate::native {
namespace {

/// Tries beside this code first: anything that intercepts dlopen, as sanitizers do, hides our run path from it. Null
/// with `missing` if there is none.
void* open(const char* file, bool& missing) {
  missing = false;
  const std::filesystem::path own = engines::own_folder();
  std::error_code ignored;
  for (const std::filesystem::path& path : {own / file, own / ".." / "lib" / file})
    if (!own.empty() && std::filesystem::exists(path, ignored))
      return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* found = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  missing = !found;
  return found;
}

/// At the first exception that passes through its own code (std::call_once in oneDNN), glibc links with libgcc, and ends
/// the process if there is no memory for that. So it happens now.
void prepare_exceptions() {
#ifdef __GLIBC__
  void* frame = nullptr;
  (void)backtrace(&frame, 1);
#endif
}

}  // namespace

LateLibrary::LateLibrary(const char* name, const char* file) : name_(name), file_(file) {
  bool missing;
  handle_ = open(file, missing);
  if (handle_) prepare_exceptions();
  if (handle_ || missing) return;
  const char* why = dlerror();
  fail<RuntimeError>(name_, "the library could not be loaded: ", why ? why : file,
                     ". It belongs beside libhorngate.so: install Horngate again.");
}

void* LateLibrary::find(const char* symbol) const {
  check<RuntimeError>(is_there(), name_, "there is no ", file_, " beside libhorngate.so.");
  void* found = dlsym(handle_, symbol);
  check<RuntimeError>(found != nullptr, name_, file_, " has no function ", symbol,
                      ": its version differs from the one Horngate was built with.");
  return found;
}

}  // namespace horngate::native
