// Libraries that are loaded when something first needs them, so that a program that does not pays nothing for them.
#pragma once

namespace horngate::native {

class LateLibrary {
 public:
  /// Loads it. RuntimeError when that fails: `name` is the library's as people know it, `file` what the dynamic
  /// linker looks for, first beside libhorngate.so.
  LateLibrary(const char* name, const char* file);
  /// Stays loaded: what it made may live as long as the process.
  ~LateLibrary() = default;
  LateLibrary(const LateLibrary&) = delete;
  LateLibrary& operator=(const LateLibrary&) = delete;

  /// One of its functions; RuntimeError when it has none of that name.
  template <class F>
  F* function(const char* symbol) const {
    return reinterpret_cast<F*>(find(symbol));
  }

 private:
  void* find(const char* symbol) const;

  const char *name_, *file_;
  void* handle_;
};

}  // namespace horngate::native
