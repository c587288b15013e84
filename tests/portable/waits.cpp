// Waits until a time of the steady clock, on systems that have a function for it and on those that have not
// (pthread_cond_clockwait in cmake/portable/compat.cpp). With OLD_SYSTEM in the environment it takes this one for the latter.
#include <pthread.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <thread>

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

bool ends_early = false;  // as when somebody sets the wall clock forward
int timed_waits = 0;

void check(bool is_right, const char* what) {
  if (is_right) return;
  std::printf("%s\n", what);
  std::exit(1);
}

bool never() { return false; }

}  // namespace

extern "C" {

// Called before main.
void* __real_dlsym(void*, const char*);
void* __wrap_dlsym(void* handle, const char* name) {
  return std::getenv("OLD_SYSTEM") ? nullptr : __real_dlsym(handle, name);
}

int __real_pthread_cond_timedwait(pthread_cond_t*, pthread_mutex_t*, const timespec*);
int __wrap_pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                  const timespec* until) {
  ++timed_waits;
  return ends_early ? ETIMEDOUT : __real_pthread_cond_timedwait(condition, mutex, until);
}

}  // extern "C"

int main() {
  const bool is_old = std::getenv("OLD_SYSTEM");
  std::mutex mutex;
  std::condition_variable changed;
  std::unique_lock lock(mutex);

  // Nothing comes.
  auto start = Clock::now();
  check(!changed.wait_for(lock, 50ms, never), "a wait ends without a reason");
  check(Clock::now() - start >= 50ms, "a wait is too short");
  check(Clock::now() - start < 30s, "a wait is too long");
  check(changed.wait_until(lock, Clock::now() - 1h) == std::cv_status::timeout,
        "a wait for the past");

  // Somebody comes.
  bool is_there = false;
  std::thread other([&] {
    std::lock_guard guard(mutex);
    is_there = true;
    changed.notify_one();
  });
  check(changed.wait_for(lock, 1h, [&] { return is_there; }), "a wait that nobody ends");
  other.join();

  if (is_old) {
    check(timed_waits > 0, "the stand-in was not asked");
    // Nanoseconds of the two clocks add up to more and to less than a second, whatever the time is.
    for (int i = 0; i < 8; ++i) {
      start = Clock::now();
      check(!changed.wait_for(lock, i * 7ms, never), "a wait ends without a reason");
      check(Clock::now() - start >= i * 7ms, "a wait is too short");
      std::this_thread::sleep_for(125ms);
    }
    // To be told of a time that has not come would be wrong; to be woken for nothing is allowed.
    ends_early = true;
    timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 3600;
    check(pthread_cond_clockwait(changed.native_handle(), mutex.native_handle(), CLOCK_MONOTONIC,
                                 &until) == 0,
          "a time that has not come");
    until.tv_sec -= 7200;
    check(pthread_cond_clockwait(changed.native_handle(), mutex.native_handle(), CLOCK_MONOTONIC,
                                 &until) == ETIMEDOUT,
          "a time that has passed");
    start = Clock::now();
    check(!changed.wait_for(lock, 50ms, never), "a wait ends without a reason");
    check(Clock::now() - start >= 50ms, "a wait is too short when the wall clock is set");
  } else {
    check(timed_waits == 0, "the system's own function was not asked");
  }
  std::puts("ok");
}
