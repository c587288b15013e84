// Libraries that are loaded when something first needs them.
#include "engines/native/late_library.h"

#include <dlfcn.h>
#ifdef __GLIBC__
#include <execinfo.h>
#endif

#include <filesystem>
#include <string>

#include "engines/common/own_folder.h"
#include "horngate/error.h"
#include "ir/check.h"
#include "ir/warn.h"

namespace horngate::native {
namespace {

void* load(const char* path, std::string& why) {
  void* const found = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (found) return found;
  const char* const said = dlerror();
  why = said ? said : path;
  return nullptr;
}

/// Looks beside this code first, because whatever intercepts dlopen, as sanitizers do, hides our run path from it. Null
/// on failure, with the reason in `why`, which is empty if there is no such file.
void* open(const char* file, std::string& why) {
  const std::filesystem::path own = engines::own_folder();
  std::error_code ignored;
  for (const std::filesystem::path& path : {own / file, own / ".." / "lib" / file})
    if (!own.empty() && std::filesystem::exists(path, ignored)) return load(path.c_str(), why);
  void* found = load(file, why);
  // The dynamic linker names what it did not find: this file, or one that this file needs.
  if (why.starts_with(file) && why.find("No such file") != why.npos) why.clear();
  return found;
}

/// When an exception first passes through its own code (std::call_once in oneDNN), glibc loads libgcc, and ends the
/// process if there is no memory for that. So have it loaded now.
void prepare_exceptions() {
#ifdef __GLIBC__
  void* frame = nullptr;
  (void)backtrace(&frame, 1);
#endif
}

}  // namespace

LateLibrary::LateLibrary(const char* name, const char* file) : name_(name), file_(file) {
  std::string why;
  handle_ = open(file, why);
  check<RuntimeError>(why.empty(), name_, "the library could not be loaded: ", why,
                      ". It belongs beside libhorngate.so: install Horngate again.");
  if (handle_)
    prepare_exceptions();
  else
    warn(text_of(name_, ": there is no ", file_,
                 " beside libhorngate.so; slower loops are used instead."));
}

void* LateLibrary::find(const char* symbol) const {
  check<RuntimeError>(is_there(), name_, "there is no ", file_, " beside libhorngate.so.");
  void* found = dlsym(handle_, symbol);
  check<RuntimeError>(found != nullptr, name_, file_, " has no function ", symbol,
                      ": its version differs from the one Horngate was built with.");
  return found;
}

}  // namespace horngate::native
