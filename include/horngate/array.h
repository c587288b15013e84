// Array: an n-dimensional host array, the argument and result of functions.
#pragma once

#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "horngate/dtype.h"
#include "horngate/shape.h"

struct DLManagedTensor;  // DLPack

namespace horngate {

class EngineMemory;  // memory that only an engine can read

/// Reference-counted memory behind arrays and variables. What we allocate is 64-byte aligned.
class HORNGATE_API Storage {
 public:
  Storage() = default;
  /// New, uninitialised memory. Large blocks are recycled, so that the steady state has no page faults.
  static Storage allocate(size_t bytes);
  /// Somebody else's memory; release runs when the last reference is gone.
  static Storage adopt(void* data, size_t bytes, std::function<void()> release);
  /// An engine's memory: data() moves it here.
  static Storage in_engine(std::shared_ptr<EngineMemory> memory, size_t bytes);
  Storage(const Storage& other) noexcept;
  Storage(Storage&& other) noexcept : block_(other.block_) { other.block_ = nullptr; }
  Storage& operator=(Storage other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Storage();

  void* data() const;
  size_t bytes() const;
  bool unique() const;   // whether nobody else holds it
  bool is_ours() const;  // from allocate(), and not somebody else's memory
  /// The engine's memory, until somebody asks for data(); after that null.
  std::shared_ptr<EngineMemory> engine_memory() const;
  explicit operator bool() const { return block_ != nullptr; }
  struct Block;

 private:
  Block* block_ = nullptr;
};

/// Returns the memory kept for recycling to the system.
HORNGATE_API void release_cached_memory();

/// A number of a type that is known at run time only.
struct AnyNumber {
  template <class T>
    requires std::is_arithmetic_v<T>
  AnyNumber(T v) : dtype(dtype_v<T>), real(static_cast<double>(v)) {
    if constexpr (std::is_integral_v<T>) whole = static_cast<uint64_t>(v);
  }
  DType dtype;
  double real;
  uint64_t whole = 0;  // of integers: the same, exact
};

/// A range of numbers of one element type.
template <class R>
concept HasElements = requires(const R& r) {
  std::size(r);
  DTypeOf<std::remove_cvref_t<decltype(*std::begin(r))>>::value;
};

class HORNGATE_API Array {
 public:
  Array() = default;
  Array(const Array&) = default;
  Array& operator=(const Array&) = default;
  /// What was moved from is empty.
  Array(Array&& other) noexcept { *this = std::move(other); }
  Array& operator=(Array&& other) noexcept {
    storage_ = std::move(other.storage_);
    data_ = std::exchange(other.data_, nullptr);
    dims_ = std::move(other.dims_);
    strides_ = std::move(other.strides_);
    dtype_ = other.dtype_;
    sparse_ = std::move(other.sparse_);
    return *this;
  }
  /// New array, contiguous, uninitialised.
  Array(DType dtype, Ints dims);
  /// Scalar.
  template <class T>
    requires std::is_arithmetic_v<T>
  Array(T value) : Array(dtype_v<T>, Ints{}) {
    *static_cast<T*>(data_) = value;
  }
  /// Array::of({1.f, 2.f, 3.f, 4.f}, {2, 2}); vectors, spans, C arrays, ...: anything that has a size and numbers.
  template <class R>
    requires HasElements<R>
  static Array of(const R& values, Ints dims) {
    using T = std::remove_cvref_t<decltype(*std::begin(values))>;
    Array a(dtype_v<T>, std::move(dims));
    a.check_count(std::size(values));
    std::copy(std::begin(values), std::end(values), static_cast<T*>(a.data_));
    return a;
  }
  template <class R>
    requires HasElements<R>
  static Array of(const R& values) {
    return of(values, Ints{std::size(values)});
  }
  template <class T>
  static Array of(std::span<const T> values, Ints dims) {
    Array a(dtype_v<T>, std::move(dims));
    a.check_count(values.size());
    std::copy(values.begin(), values.end(), static_cast<T*>(a.data_));
    return a;
  }
  template <class T>
  static Array of(std::initializer_list<T> values, Ints dims) {
    return of(std::span<const T>(values.begin(), values.size()), std::move(dims));
  }
  template <class T>
  static Array of(std::initializer_list<T> values) {
    return of(values, Ints{values.size()});
  }
  /// Numbers of several types: {1, 2.5}. The result has the type that C++ gives to their sum.
  static Array of(std::initializer_list<AnyNumber> values, Ints dims);
  static Array of(std::initializer_list<AnyNumber> values) {
    return of(values, Ints{values.size()});
  }
  static Array zeros(DType dtype, Ints dims);
  static Array full(DType dtype, Ints dims, double value);
  /// Somebody else's memory, without a copy; strides in elements, empty = contiguous. Functions never write into
  /// what they are given, so data may be const; then data<T>() is for reading.
  static Array view(const void* data, DType dtype, Ints dims, Ints strides = {},
                    std::function<void()> release = {});
  static Array in_engine(std::shared_ptr<EngineMemory> memory, DType dtype, Ints dims);

  /// A sparse matrix in CSR form: int64 indptr (rows + 1) and indices (columns), values. It can be fed to a
  /// sparse placeholder or become a sparse variable; most other members are for dense arrays.
  static Array sparse(Array indptr, Array indices, Array values, Ints dims);
  bool is_sparse() const { return sparse_ != nullptr; }
  struct SparseParts;
  const SparseParts& sparse_parts() const { return *sparse_; }

  bool defined() const { return data_ != nullptr || storage_ || sparse_; }
  DType dtype() const { return dtype_; }
  const Ints& dims() const { return dims_; }
  Shape shape() const { return Shape(dims_); }
  /// In elements; empty means contiguous.
  const Ints& strides() const { return strides_; }
  size_t ndim() const { return dims_.size(); }
  int64_t size() const;
  size_t nbytes() const { return static_cast<size_t>(size()) * size_of(dtype_); }
  bool is_contiguous() const { return strides_.empty(); }
  const Storage& storage() const { return storage_; }

  /// Where an engine keeps the elements, until somebody asks for them; null if they are here.
  std::shared_ptr<EngineMemory> engine_memory() const;
  /// If an engine still holds the elements, they are copied here first.
  void* raw() const { return data_ || !storage_ ? data_ : storage_.data(); }
  /// Typed data of a contiguous array; TypeError for another element type.
  template <class T>
  T* data() const {
    check_access(dtype_v<T>);
    return static_cast<T*>(raw());
  }
  /// The only element, converted to T like cast(): integers stay exact.
  template <class T>
  T item() const {
    if constexpr (std::is_same_v<T, bool>)
      return item_as<double>() != 0;
    else if constexpr (!std::is_integral_v<T>)
      return static_cast<T>(item_as<double>());
    else if constexpr (sizeof(T) < sizeof(int64_t) && requires { DTypeOf<T>::value; })
      return item_as<T>();
    else  // long long, char
      return static_cast<T>(item_as<std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>());
  }
  /// a(i, j): one element, as a double; negative positions count from the end.
  template <std::integral... I>
  double operator()(I... where) const {
    return double_at(Ints{where...});
  }
  /// a.at<int64_t>(i, j): the element itself, to read or to write; TypeError for another element type.
  template <class T, std::integral... I>
  T& at(I... where) const {
    check_type("at", dtype_v<T>);
    return static_cast<T*>(raw())[offset_of(Ints{where...})];
  }
  /// a[i]: what is at i along the first axis, without a copy.
  Array operator[](int64_t i) const;

  template <class T>
  std::vector<T> to_vector() const {
    Array a = cast(dtype_v<T>).contiguous();
    const T* p = static_cast<const T*>(a.raw());
    return std::vector<T>(p, p + a.size());
  }

  /// The array itself if already contiguous.
  Array contiguous() const;
  /// The array itself if already of that type. Floats are truncated to integers; anything but 0 is true.
  Array cast(DType dtype) const;
  /// A deep copy, contiguous.
  Array copy() const;
  /// Same data, other shape; contiguous arrays only. One dimension may be -1.
  Array reshape(Ints dims) const;
  /// View of [begin, end) along axis 0.
  Array rows(int64_t begin, int64_t end) const;

  /// DLPack: no copy in either direction. from_dlpack takes ownership of the managed tensor.
  DLManagedTensor* to_dlpack() const;
  static Array from_dlpack(DLManagedTensor* managed);

  /// "[[1, 2], [3, 4]]", floats "[1., 2.5]"; large arrays are shortened in the middle.
  std::string str() const;
  friend HORNGATE_API std::ostream& operator<<(std::ostream& out, const Array& array);

 private:
  void check_count(size_t n) const;
  void check_type(const char* function, DType wanted) const;
  void check_access(DType wanted) const;
  int64_t offset_of(const Ints& at) const;  // in elements
  double double_at(const Ints& at) const;
  template <class T>
  T item_as() const;

  Storage storage_;
  void* data_ = nullptr;
  Ints dims_;
  Ints strides_;
  DType dtype_ = DType::float32;
  std::shared_ptr<const SparseParts> sparse_;
};

struct Array::SparseParts {
  Array indptr, indices, values;
};

/// zeros_array({784, 10}): an initial value for variable(), in the default float type.
HORNGATE_API Array zeros_array(Ints dims);
HORNGATE_API Array ones_array(Ints dims);

}  // namespace horngate
