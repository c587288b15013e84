// What the headers and the static half of the build machine's C++ library ask for, and an older system has not.
// Hidden, so that each of our libraries has its own.
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

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

// Of glibc 2.30: std::condition_variable waits with it until a time of the steady clock. The system's own, where it has
// one; else a wait for the same time of the wall clock. When somebody has set that forward, the wait ends too early, which is
// then not said to be the end: the caller looks at his condition and waits again. To wait again here would miss who woke
// us between the two waits. When somebody sets it back, the wait is longer by as much, as with C++ libraries of that age.
using Clockwait = int(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*);
static Clockwait* const system_clockwait =
    reinterpret_cast<Clockwait*>(dlsym(RTLD_DEFAULT, "pthread_cond_clockwait"));

HIDDEN int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                  clockid_t clock, const timespec* deadline) {
  if (system_clockwait) return system_clockwait(condition, mutex, clock, deadline);
  timespec now, wall;
  if (clock_gettime(clock, &now) || clock_gettime(CLOCK_REALTIME, &wall)) return EINVAL;
  constexpr long kSecond = 1'000'000'000;
  const long nanoseconds = wall.tv_nsec + (deadline->tv_nsec - now.tv_nsec);
  const long carried = nanoseconds < 0 ? -1 : nanoseconds >= kSecond ? 1 : 0;
  const timespec until = {.tv_sec = wall.tv_sec + (deadline->tv_sec - now.tv_sec) + carried,
                          .tv_nsec = nanoseconds - carried * kSecond};
  const int status = pthread_cond_timedwait(condition, mutex, &until);
  if (status != ETIMEDOUT) return status;
  clock_gettime(clock, &now);
  const bool is_over = now.tv_sec != deadline->tv_sec ? now.tv_sec > deadline->tv_sec
                                                      : now.tv_nsec >= deadline->tv_nsec;
  return is_over ? ETIMEDOUT : 0;
}

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
