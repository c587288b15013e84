// Array: views, conversion, DLPack, text.
#include "horngate/array.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ostream>

#include "ir/attrs.h"
#include "ir/check.h"
#include "ir/convert_element.h"
#include "ir/dispatch_dtype.h"
#include "ir/dlpack.h"
#include "ir/engine_memory.h"

namespace horngate {
namespace {

/// What a dense array takes; an error if no array has such dimensions. Small arrays are made in every call, so
/// messages are built only on failure.
size_t checked_bytes(DType dtype, const Ints& dims) {
  if (std::any_of(dims.begin(), dims.end(), [](int64_t d) { return d < 0; })) [[unlikely]]
    fail("array", "dimensions must be at least 0; got shape ", Shape(dims), ".");
  const int64_t n = checked_product({dims.data(), dims.size()});
  int64_t bytes = 0;
  if (__builtin_mul_overflow(n, static_cast<int64_t>(size_of(dtype)), &bytes)) [[unlikely]]
    fail("array", "shape ", Shape(dims), " is too large for memory.");
  return static_cast<size_t>(bytes);
}

void check_dense(const Array& a, const char* function) {
  check(a.defined() || a.size() == 0, "array", function, "() needs elements; the array is empty.");
  check<TypeError>(!a.is_sparse(), "array", function,
                   "() needs a dense array; this one is sparse.");
}

/// The type of a sum, as C++ has it.
DType common_type(std::initializer_list<AnyNumber> values) {
  const auto any = [&](DType t) {
    return std::any_of(values.begin(), values.end(), [&](AnyNumber v) { return v.dtype == t; });
  };
  for (const DType t : {DType::float64, DType::float32, DType::uint64})
    if (any(t)) return t;
  if (any(DType::int64)) return DType::int64;
  return any(DType::uint32) ? DType::uint32 : DType::int32;
}

}  // namespace

Array::Array(DType dtype, Ints dims)
    : storage_(Storage::allocate(checked_bytes(dtype, dims))),
      data_(storage_.data()),
      dims_(std::move(dims)),
      dtype_(dtype) {}

Array Array::of(std::initializer_list<AnyNumber> values, Ints dims) {
  Array a(common_type(values), std::move(dims));
  a.check_count(values.size());
  with_dtype(a.dtype_, [&](auto zero) {
    using T = decltype(zero);
    std::transform(values.begin(), values.end(), static_cast<T*>(a.data_), [](AnyNumber v) {
      return is_float(dtype_v<T>) ? convert_element<T>(v.real) : convert_element<T>(v.whole);
    });
  });
  return a;
}

Array Array::zeros(DType dtype, Ints dims) {
  Array a(dtype, std::move(dims));
  std::memset(a.data_, 0, a.nbytes());
  return a;
}

Array Array::full(DType dtype, Ints dims, double value) {
  Array a(dtype, std::move(dims));
  with_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    std::fill_n(static_cast<T*>(a.data_), a.size(), convert_element<T>(value));
  });
  return a;
}

Array Array::view(const void* data, DType dtype, Ints dims, Ints strides,
                  std::function<void()> release) {
  // Kernels and engines rely on it.
  if (reinterpret_cast<uintptr_t>(data) % size_of(dtype) != 0) [[unlikely]]
    fail("array", "a view of ", dtype, " needs memory that is aligned to ", size_of(dtype),
         " bytes; copy it first.");
  const size_t bytes = checked_bytes(dtype, dims);
  if (!strides.empty() && strides.size() != dims.size()) [[unlikely]]
    fail("array", "a view of shape ", Shape(dims), " needs ", dims.size(), " strides or none; got ",
         strides.size(), ".");
  if (!data) {
    if (bytes) [[unlikely]]
      fail("array", "a view of shape ", Shape(dims), " needs memory; got a null pointer.");
    alignas(std::max_align_t) static const std::byte
        kNothing{};  // a vector without elements may have no memory
    data = &kNothing;
  }
  Array a;
  a.dtype_ = dtype;
  a.dims_ = std::move(dims);
  a.data_ = const_cast<void*>(data);
  // Drop strides that merely describe the contiguous order, so that is_contiguous is a single test.
  int64_t expected = 1;
  bool contiguous = true;
  for (size_t i = strides.size(); i-- > 0;) {
    if (a.dims_[i] != 1 && strides[i] != expected) contiguous = false;
    expected *= a.dims_[i];
  }
  if (!contiguous && expected != 0) a.strides_ = std::move(strides);
  if (release) a.storage_ = Storage::adopt(a.data_, bytes, std::move(release));
  return a;
}

Array Array::in_engine(std::shared_ptr<EngineMemory> memory, DType dtype, Ints dims) {
  Array a;
  a.dtype_ = dtype;
  a.dims_ = std::move(dims);
  a.storage_ = Storage::in_engine(std::move(memory), a.nbytes());
  return a;
}

std::shared_ptr<EngineMemory> Array::engine_memory() const {
  return data_ || !storage_ ? nullptr : storage_.engine_memory();
}

Array Array::sparse(Array indptr, Array indices, Array values, Ints dims) {
  check(dims.size() == 2, "sparse array", "needs a shape of two dimensions; got ", Shape(dims),
        ".");
  for (const Array* part : {&indptr, &indices, &values}) check_dense(*part, "sparse");
  indptr = indptr.cast(DType::int64).contiguous();
  indices = indices.cast(DType::int64).contiguous();
  const int64_t rows = dims[0], nnz = values.size();
  check(indptr.size() == rows + 1 && indices.size() == nnz, "sparse array", "shape ", Shape(dims),
        " with ", nnz, " values needs ", rows + 1, " row starts and ", nnz, " columns; got ",
        indptr.size(), " and ", indices.size(), ".");
  const int64_t* starts = indptr.data<int64_t>();
  bool sorted = starts[0] == 0 && starts[rows] == nnz;
  for (int64_t i = 0; i < rows; ++i) sorted &= starts[i] <= starts[i + 1];
  check(sorted, "sparse array", "row starts must ascend from 0 to ", nnz, ".");
  for (int64_t i = 0; i < nnz; ++i)
    check<IndexError>(indices.data<int64_t>()[i] >= 0 && indices.data<int64_t>()[i] < dims[1],
                      "sparse array", "column ", indices.data<int64_t>()[i], " is outside shape ",
                      Shape(dims), ".");
  Array a;
  a.dtype_ = values.dtype();
  a.dims_ = std::move(dims);
  a.sparse_ =
      std::make_shared<const SparseParts>(SparseParts{indptr, indices, values.contiguous()});
  return a;
}

int64_t Array::size() const {
  int64_t n = 1;
  for (int64_t d : dims_) n *= d;  // checked when the array was made
  return n;
}

void Array::check_count(size_t n) const {
  check(static_cast<int64_t>(n) == size(), "array", "shape ", shape(), " takes ", size(),
        " values; got ", n, ".");
}

void Array::check_type(const char* function, DType wanted) const {
  check<TypeError>(dtype_ == wanted, "array", function, "<", wanted, ">() needs dtype ", wanted,
                   "; the array has ", dtype_, ".");
}

void Array::check_access(DType wanted) const {
  check_type("data", wanted);
  check<TypeError>(!sparse_, "array", "data() needs a dense array; this one is sparse.");
  check(is_contiguous(), "array", "data() needs a contiguous array; call contiguous() first.");
}

namespace {

/// Calls f(source offset, i) for each element in row-major order.
template <class F>
void for_each_offset(const Ints& dims, const Ints& strides, int64_t n, F&& f) {
  if (strides.empty()) {
    for (int64_t i = 0; i < n; ++i) f(i, i);
    return;
  }
  Ints at(dims.size(), 0);
  int64_t offset = 0;
  for (int64_t i = 0; i < n; ++i) {
    f(offset, i);
    for (size_t k = dims.size(); k-- > 0;) {
      offset += strides[k];
      if (++at[k] < dims[k]) break;
      offset -= strides[k] * dims[k];
      at[k] = 0;
    }
  }
}

}  // namespace

template <class T>
T Array::item_as() const {
  check_dense(*this, "item");
  check(size() == 1, "array", "item() needs exactly one element; got shape ", shape(), ".");
  return with_dtype(dtype_, [&](auto zero) {
    return convert_element<T>(*static_cast<const decltype(zero)*>(raw()));
  });
}
template HORNGATE_API double Array::item_as() const;
template HORNGATE_API int8_t Array::item_as() const;
template HORNGATE_API int16_t Array::item_as() const;
template HORNGATE_API int32_t Array::item_as() const;
template HORNGATE_API int64_t Array::item_as() const;
template HORNGATE_API uint8_t Array::item_as() const;
template HORNGATE_API uint16_t Array::item_as() const;
template HORNGATE_API uint32_t Array::item_as() const;
template HORNGATE_API uint64_t Array::item_as() const;

int64_t Array::offset_of(const Ints& at) const {
  check<TypeError>(!sparse_, "array", "elements of a sparse array cannot be read by position.");
  check<IndexError>(defined() && at.size() == ndim(), "array", "an element of shape ", shape(),
                    " needs ", ndim(), " positions; got ", at.size(), ".");
  int64_t offset = 0;
  for (size_t i = 0; i < at.size(); ++i) {
    const int64_t position = at[i] < 0 ? at[i] + dims_[i] : at[i];
    check<IndexError>(position >= 0 && position < dims_[i], "array", "position ", at[i],
                      " is outside axis ", i, " of shape ", shape(), ".");
    offset = is_contiguous() ? offset * dims_[i] + position : offset + position * strides_[i];
  }
  return offset;
}

double Array::double_at(const Ints& at) const {
  const int64_t offset = offset_of(at);
  return with_dtype(dtype_, [&](auto zero) {
    return convert_element<double>(static_cast<const decltype(zero)*>(raw())[offset]);
  });
}

Array Array::contiguous() const {
  check_dense(*this, "contiguous");
  return is_contiguous() ? *this : copy();
}

Array Array::copy() const {
  if (sparse_) {
    Array out = *this;
    out.sparse_ = std::make_shared<const SparseParts>(
        SparseParts{sparse_->indptr.copy(), sparse_->indices.copy(), sparse_->values.copy()});
    return out;
  }
  check_dense(*this, "copy");
  Array out(dtype_, dims_);
  const int64_t n = size();
  if (is_contiguous()) {
    // Copy straight from the engine: data() would move the value out of it.
    const auto held = data_ ? nullptr : engine_memory();
    if (held)
      held->copy_out(out.data_);
    else if (n)
      std::memcpy(out.data_, raw(), nbytes());
    return out;
  }
  with_bytes(dtype_, [&](auto zero) {
    using T = decltype(zero);
    for_each_offset(dims_, strides_, n, [&](int64_t from, int64_t to) {
      static_cast<T*>(out.data_)[to] = static_cast<const T*>(data_)[from];
    });
  });
  return out;
}

Array Array::cast(DType dtype) const {
  if (dtype == dtype_) return *this;
  if (sparse_) return sparse(sparse_->indptr, sparse_->indices, sparse_->values.cast(dtype), dims_);
  check_dense(*this, "cast");
  Array out(dtype, dims_);
  const int64_t n = size();
  with_dtype(dtype_, [&](auto from_zero) {
    using From = decltype(from_zero);
    const auto* data = static_cast<const From*>(raw());
    with_dtype(dtype, [&](auto to_zero) {
      using To = decltype(to_zero);
      for_each_offset(dims_, strides_, n, [&](int64_t from, int64_t to) {
        static_cast<To*>(out.data_)[to] = convert_element<To>(data[from]);
      });
    });
  });
  return out;
}

Array Array::reshape(Ints dims) const {
  check_dense(*this, "reshape");
  check(is_contiguous(), "reshape", "needs a contiguous array; call contiguous() first.");
  const auto open = std::find(dims.begin(), dims.end(), -1);
  if (open != dims.end()) {
    *open = 1;  // so that it does not count in the product of the others
    const int64_t known = checked_product({dims.data(), dims.size()});
    *open = known > 0 ? size() / known : known;
  }
  check(checked_product({dims.data(), dims.size()}) == size(), "reshape", shape(), " has ", size(),
        " elements and cannot become ", dims, ".");
  Array a = *this;
  a.dims_ = std::move(dims);
  return a;
}

Array Array::rows(int64_t begin, int64_t end) const {
  check_dense(*this, "rows");
  check(ndim() > 0 && begin >= 0 && begin <= end && end <= dims_[0], "rows", "[", begin, ", ", end,
        ") must lie in axis 0 of shape ", shape(), ".");
  Array a = *this;
  int64_t stride = 1;
  if (is_contiguous())
    for (size_t i = 1; i < dims_.size(); ++i) stride *= dims_[i];
  else
    stride = strides_[0];
  a.data_ = static_cast<char*>(raw()) + begin * stride * static_cast<int64_t>(size_of(dtype_));
  a.dims_[0] = end - begin;
  return a;
}

Array Array::operator[](int64_t i) const {
  check<IndexError>(ndim() > 0, "array", "a scalar has no position ", i, ".");
  const int64_t position = i < 0 ? i + dims_[0] : i;
  check<IndexError>(position >= 0 && position < dims_[0], "array", "position ", i,
                    " is outside axis 0 of shape ", shape(), ".");
  Array a = rows(position, position + 1);
  a.dims_.erase(a.dims_.begin());
  if (!a.strides_.empty()) a.strides_.erase(a.strides_.begin());
  return a;
}

bool same_contents(const Array& a, const Array& b) {
  if (a.dtype() != b.dtype() || a.dims() != b.dims()) return false;
  if (a.raw() == b.raw() && a.strides() == b.strides()) return true;
  if (!a.defined() || !b.defined()) return !a.defined() && !b.defined();
  const Array x = a.contiguous(), y = b.contiguous();
  return std::memcmp(x.raw(), y.raw(), x.nbytes()) == 0;
}

namespace {

struct Exported {
  DLManagedTensor managed;
  Array array;
  Ints dims, strides;
};

DLDataType dlpack_type(DType t) {
  static constexpr uint8_t kCodes[kDTypeCount] = {kDLFloat, kDLBfloat, kDLFloat, kDLFloat, kDLInt,
                                                  kDLInt,   kDLInt,    kDLInt,   kDLUInt,  kDLUInt,
                                                  kDLUInt,  kDLUInt,   kDLBool};
  return {kCodes[static_cast<int>(t)], static_cast<uint8_t>(size_of(t) * 8), 1};
}

}  // namespace

DLManagedTensor* Array::to_dlpack() const {
  check_dense(*this, "to_dlpack");
  auto* e = new Exported{{}, *this, dims_, strides_};
  if (strides_.empty()) {
    e->strides.resize(dims_.size());
    int64_t stride = 1;
    for (size_t i = dims_.size(); i-- > 0; stride *= dims_[i]) e->strides[i] = stride;
  }
  e->managed.dl_tensor = {raw(),
                          {kDLCPU, 0},
                          static_cast<int32_t>(dims_.size()),
                          dlpack_type(dtype_),
                          e->dims.data(),
                          e->strides.data(),
                          0};
  e->managed.manager_ctx = e;
  e->managed.deleter = [](DLManagedTensor* m) { delete static_cast<Exported*>(m->manager_ctx); };
  return &e->managed;
}

Array Array::from_dlpack(DLManagedTensor* managed) {
  check(managed != nullptr, "dlpack", "the tensor must not be null.");
  const DLTensor& t = managed->dl_tensor;
  auto free_it = [managed] {
    if (managed->deleter) managed->deleter(managed);
  };
  int found = -1;
  for (int i = 0; i < kDTypeCount; ++i) {
    const DLDataType d = dlpack_type(static_cast<DType>(i));
    if (d.code == t.dtype.code && d.bits == t.dtype.bits && t.dtype.lanes == 1) found = i;
  }
  if (found < 0 || t.device.device_type != kDLCPU) {
    const std::string what =
        text_of("type code ", int{t.dtype.code}, ", ", int{t.dtype.bits}, " bits, ", t.dtype.lanes,
                " lanes, device ", t.device.device_type);
    free_it();
    fail<TypeError>("dlpack", "needs a CPU tensor of a known element type; got ", what, ".");
  }
  Ints dims(t.shape, t.shape + t.ndim), strides;
  if (t.strides) strides.assign(t.strides, t.strides + t.ndim);
  try {
    return view(static_cast<char*>(t.data) + t.byte_offset, static_cast<DType>(found), dims,
                strides, free_it);
  } catch (...) {
    free_it();
    throw;
  }
}

std::ostream& operator<<(std::ostream& out, const Array& array) { return out << array.str(); }

std::string Array::str() const {
  if (!defined()) return "<empty>";
  if (sparse_) return text_of("<sparse ", shape(), " with ", sparse_->values.size(), " elements>");
  const Array a = contiguous();
  const auto element = [&](int64_t i) {
    return with_dtype(dtype_, [&](auto zero) {
      using T = decltype(zero);
      const auto v = widen(static_cast<const T*>(a.raw())[i]);
      if constexpr (std::is_floating_point_v<decltype(v)>) {
        char text[40];
        std::snprintf(text, sizeof text, "%.*g", sizeof(T) == 8 ? 12 : 7, static_cast<double>(v));
        // Show that a whole number is a float, as in "1.".
        const bool is_whole = std::strspn(text, "-0123456789") == std::strlen(text);
        return std::string(text) + (is_whole ? "." : "");
      } else if constexpr (std::is_same_v<T, bool>) {
        return std::string(v ? "true" : "false");
      } else {
        return std::to_string(v);
      }
    });
  };
  constexpr int64_t kEdge = 3;
  const bool shorten = size() > 1000;
  std::string out;
  // Row by row, with brackets opened and closed where an index is first or last of its axis.
  const auto rank = static_cast<int64_t>(ndim());
  if (rank == 0) return element(0);
  Ints at(dims_.size(), 0);
  if (size() == 0) return "[]";
  while (true) {
    int64_t opened = 0;
    for (int64_t k = rank - 1; k >= 0 && at[k] == 0; --k) ++opened;
    if (!out.empty() && opened) out += ' ';
    out.append(static_cast<size_t>(opened), '[');
    int64_t index = 0;
    for (int64_t k = 0; k < rank; ++k) index = index * dims_[k] + at[k];
    out += element(index);
    int64_t k = rank - 1;
    for (; k >= 0; --k) {
      if (shorten && dims_[k] > 2 * kEdge && at[k] == kEdge - 1) {
        at[k] = dims_[k] - kEdge;
        out += ", ...";
        break;
      }
      if (++at[k] < dims_[k]) break;
      at[k] = 0;
      out += ']';
    }
    if (k < 0) return out;
    out += k == rank - 1 ? ", " : ",";
  }
}

}  // namespace horngate
