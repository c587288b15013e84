// Libraries that are loaded on first use, so that programs that do not need them pay nothing.
#pragma once

namespace horngate::native {

class LateLibrary {
 public:
  /// Loads it; RuntimeError if that fails, but a warning if there is no such file: an installation may leave it out.
  /// `name` is what people call the library, `file` what the dynamic linker looks for, first beside libhorngate.so.
  LateLibrary(const char* name, const char* file);
  /// Stays loaded, as what it made may live as long as the process.
  ~LateLibrary() = default;
  LateLibrary(const LateLibrary&) = delete;
  LateLibrary& operator=(const LateLibrary&) = delete;

  bool is_there() const { return handle_ != nullptr; }

  /// One of its functions; RuntimeError if there is none of that name, or no library.
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
