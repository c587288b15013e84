// Objects that each thread has one of.
#pragma once

namespace horngate {

/// Calls free(object) when this thread ends. False if it cannot: no memory is left, or the thread is too near its end.
bool at_thread_end(void (*free)(void*), void* object) noexcept;

/// A T of this thread, made at first use; declare it thread_local. A thread_local T would be destroyed before static
/// objects of the main thread, and before some thread_locals of others, whose destructors may call us: they get a new
/// one here, which is freed if that is still possible.
template <class T>
class PerThread {
 public:
  constexpr PerThread() = default;
  T& operator*() { return object_ ? *object_ : make(); }
  T* operator->() { return &**this; }

 private:
  [[gnu::noinline]] T& make() {
    object_ = new T();
    at_thread_end(
        [](void* self) {
          T* const object = static_cast<PerThread*>(self)->object_;
          static_cast<PerThread*>(self)->object_ = nullptr;
          delete object;
        },
        this);
    return *object_;
  }

  T* object_ = nullptr;  // without a destructor: it is there until the thread's memory is gone
};

}  // namespace horngate
