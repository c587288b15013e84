// Libraries that are loaded when something first needs them.
#include "engines/native/late_library.h"

#include <dlfcn.h>

#include "horngate/error.h"
#include "ir/check.h"

namespace horngate::native {

LateLibrary::LateLibrary(const char* name, const char* file)
    : name_(name), file_(file), handle_(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
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
