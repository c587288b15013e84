// What the headers and the static half of the build machine's C++ library ask for, and an older system has not.
// Hidden, so that each of our libraries has its own.
#define HIDDEN __attribute__((visibility("hidden")))

struct stat;

extern "C" {

// Of glibc 2.32: true would allow counts of references without atomic instructions.
HIDDEN char __libc_single_threaded = 0;

// Functions since glibc 2.33; before that, calls that say which version of the struct they mean.
int __xstat(int, const char*, struct stat*);
int __lxstat(int, const char*, struct stat*);
int __fxstat(int, int, struct stat*);
constexpr int kStatVersion = 1;
HIDDEN int stat(const char* path, struct stat* out) { return __xstat(kStatVersion, path, out); }
HIDDEN int lstat(const char* path, struct stat* out) { return __lxstat(kStatVersion, path, out); }
HIDDEN int fstat(int file, struct stat* out) { return __fxstat(kStatVersion, file, out); }

// Of GCC 11: before that, only the copy constructor and the destructor of exception_ptr were exported, which do this.
// The static half has them too, but with handlers of its own for std::terminate.
void _ZNSt15__exception_ptr13exception_ptrC1ERKS0_(void* self, const void* other);
void _ZNSt15__exception_ptr13exception_ptrD1Ev(void* self);
HIDDEN void _ZNSt15__exception_ptr13exception_ptr9_M_addrefEv(void* self) {
  void* copy;
  _ZNSt15__exception_ptr13exception_ptrC1ERKS0_(&copy, self);
}
HIDDEN void _ZNSt15__exception_ptr13exception_ptr10_M_releaseEv(void* self) {
  _ZNSt15__exception_ptr13exception_ptrD1Ev(self);
}

}  // extern "C"
