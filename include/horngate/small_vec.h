// A vector that keeps its first N elements inline: shapes and operand lists rarely need the heap.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <new>
#include <type_traits>
#include <utility>

namespace horngate {

/// An entry of a list of integers: from any integral type, or {n, 3} with a size_t n would be narrowing.
struct Int64Entry {
  template <std::integral T>
  constexpr Int64Entry(T n) : value(static_cast<int64_t>(n)) {}
  constexpr operator int64_t() const { return value; }
  int64_t value;
};

template <class T, uint32_t N>
class SmallVec {
 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  SmallVec() = default;
  // Delegates to the default constructor: if memory runs out halfway, the elements made so far are
  // freed.
  explicit SmallVec(size_t n, const T& fill = T()) : SmallVec() { resize(n, fill); }
  using Entry = std::conditional_t<std::is_same_v<T, int64_t>, Int64Entry, T>;
  SmallVec(std::initializer_list<Entry> items) : SmallVec() { assign(items.begin(), items.end()); }
  template <std::input_iterator It>
  SmallVec(It first, It last) : SmallVec() {
    assign(first, last);
  }
  SmallVec(const SmallVec& other) : SmallVec() { assign(other.begin(), other.end()); }
  SmallVec(SmallVec&& other) noexcept { steal(other); }
  SmallVec& operator=(const SmallVec& other) {
    if (this != &other) assign(other.begin(), other.end());
    return *this;
  }
  SmallVec& operator=(SmallVec&& other) noexcept {
    if (this != &other) {
      destroy();
      steal(other);
    }
    return *this;
  }
  ~SmallVec() { destroy(); }

  T* data() { return is_inline() ? inline_data() : heap_; }
  const T* data() const { return is_inline() ? inline_data() : heap_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  T& front() { return data()[0]; }
  const T& front() const { return data()[0]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }

  void clear() {
    for (T& t : *this) t.~T();
    size_ = 0;
  }
  void reserve(size_t n) {
    if (n > capacity_) grow(n);
  }
  void push_back(T value) {
    if (size_ == capacity_) grow(capacity_ ? size_t{capacity_} * 2 : 2);
    new (data() + size_) T(std::move(value));
    ++size_;
  }
  void pop_back() {
    back().~T();
    --size_;
  }
  void resize(size_t n, const T& fill = T()) {
    while (size_ > n) pop_back();
    reserve(n);
    while (size_ < n) push_back(fill);
  }
  template <class It>
  void assign(It first, It last) {
    clear();
    for (; first != last; ++first) push_back(*first);
  }
  iterator insert(const_iterator where, T value) {
    const size_t at = static_cast<size_t>(where - begin());
    push_back(std::move(value));
    for (size_t i = size_ - 1; i > at; --i) std::swap((*this)[i], (*this)[i - 1]);
    return begin() + at;
  }
  iterator erase(const_iterator where) {
    const size_t at = static_cast<size_t>(where - begin());
    for (size_t i = at; i + 1 < size_; ++i) (*this)[i] = std::move((*this)[i + 1]);
    pop_back();
    return begin() + at;
  }

  friend bool operator==(const SmallVec& a, const SmallVec& b) {
    if (a.size_ != b.size_) return false;
    for (size_t i = 0; i < a.size_; ++i)
      if (!(a[i] == b[i])) return false;
    return true;
  }

 private:
  bool is_inline() const { return capacity_ == N; }
  T* inline_data() { return std::launder(reinterpret_cast<T*>(raw_)); }
  const T* inline_data() const { return std::launder(reinterpret_cast<const T*>(raw_)); }
  void grow(size_t n) {
    T* heap = static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t(alignof(T))));
    for (size_t i = 0; i < size_; ++i) new (heap + i) T(std::move((*this)[i]));
    const uint32_t kept = size_;
    destroy();
    heap_ = heap;
    size_ = kept;
    capacity_ = static_cast<uint32_t>(n);
  }
  void destroy() {
    clear();
    if (!is_inline()) ::operator delete(heap_, std::align_val_t(alignof(T)));
    capacity_ = N;
  }
  void steal(SmallVec& other) {
    if (other.is_inline()) {
      for (size_t i = 0; i < other.size_; ++i) new (inline_data() + i) T(std::move(other[i]));
      size_ = other.size_;
      other.clear();
    } else {
      heap_ = other.heap_;
      size_ = other.size_;
      capacity_ = other.capacity_;
      other.size_ = 0;
      other.capacity_ = N;
    }
  }

  uint32_t size_ = 0;
  uint32_t capacity_ = N;  // equal to N exactly while the elements are inline
  union {
    T* heap_ = nullptr;
    alignas(T) unsigned char raw_[sizeof(T) * (N ? N : 1)];
  };
};

/// Integers of shapes, axes, strides.
using Ints = SmallVec<int64_t, 4>;

}  // namespace horngate
