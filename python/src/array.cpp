// Conversion between NumPy arrays and horngate::Array.
#include "array.h"

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>

#include <cstring>
#include <limits>
#include <string>

#include "errors.h"
#include "gil.h"
#include "stable_abi.h"
#include "text.h"

namespace horngate::python {
namespace {

/// Keeps the memory of a fetched array alive for NumPy.
struct Owner {
  PyObject_HEAD Storage storage;
};

PyTypeObject* owner_type = nullptr;
PyArray_Descr* bfloat16_descr = nullptr;  // of ml_dtypes; null if the package is missing
bool looked_for_bfloat16 = false;

void owner_dealloc(PyObject* self) {
  reinterpret_cast<Owner*>(self)->storage.~Storage();
  PyTypeObject* type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

PyArray_Descr* find_bfloat16() {
  if (looked_for_bfloat16) return bfloat16_descr;
  looked_for_bfloat16 = true;
  PyObject* package = PyImport_ImportModule("ml_dtypes");
  PyObject* type = package ? PyObject_GetAttrString(package, "bfloat16") : nullptr;
  if (type) PyArray_DescrConverter(type, &bfloat16_descr);
  Py_XDECREF(type);
  Py_XDECREF(package);
  PyErr_Clear();
  return bfloat16_descr;
}

std::optional<DType> dtype_of(PyArray_Descr* d) {
  switch (d->type_num) {
    case NPY_HALF: return DType::float16;
    case NPY_FLOAT: return DType::float32;
    case NPY_DOUBLE: return DType::float64;
    case NPY_BYTE: return DType::int8;
    case NPY_SHORT: return DType::int16;
    case NPY_INT: return DType::int32;
    case NPY_LONG: return sizeof(long) == 8 ? DType::int64 : DType::int32;
    case NPY_LONGLONG: return DType::int64;
    case NPY_UBYTE: return DType::uint8;
    case NPY_USHORT: return DType::uint16;
    case NPY_UINT: return DType::uint32;
    case NPY_ULONG: return sizeof(long) == 8 ? DType::uint64 : DType::uint32;
    case NPY_ULONGLONG: return DType::uint64;
    case NPY_BOOL: return DType::bool_;
    default: break;
  }
  if (d->type_num >= NPY_USERDEF && find_bfloat16() && d->type_num == bfloat16_descr->type_num)
    return DType::bfloat16;
  return {};
}

int type_num_of(DType t) {
  switch (t) {
    case DType::float16: return NPY_HALF;
    case DType::float32: return NPY_FLOAT;
    case DType::float64: return NPY_DOUBLE;
    case DType::int8: return NPY_INT8;
    case DType::int16: return NPY_INT16;
    case DType::int32: return NPY_INT32;
    case DType::int64: return NPY_INT64;
    case DType::uint8: return NPY_UINT8;
    case DType::uint16: return NPY_UINT16;
    case DType::uint32: return NPY_UINT32;
    case DType::uint64: return NPY_UINT64;
    case DType::bool_: return NPY_BOOL;
    case DType::bfloat16: break;  // only ml_dtypes has it
  }
  return NPY_DOUBLE;
}

/// A new reference.
PyArray_Descr* descr_of(DType t) {
  if (t == DType::bfloat16 && find_bfloat16()) {
    Py_INCREF(reinterpret_cast<PyObject*>(bfloat16_descr));
    return bfloat16_descr;
  }
  return PyArray_DescrFromType(type_num_of(t));
}

/// What Python raised, if it is not about the kind of value: memory that ran out, Ctrl-C, what an object's own method raised.
void raise_if_other() {
  if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_ValueError) &&
      !PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_OverflowError))
    nb::raise_python_error();
}

[[noreturn]] void raise_not_numeric(nb::handle value, const char* function) {
  raise_if_other();
  const bool is_ragged =
      PyErr_Occurred() && (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr()));
  PyErr_Clear();
  std::string type = type_name_of(value);
  if (is_ragged) type = "a " + type + " whose parts have different shapes";
  if (is_ndarray(value.ptr())) {
    const nb::object dtype = value.attr("dtype");
    type = std::string("an array of dtype ") + str_of(dtype);
  }
  throw TypeError(std::string(function) +
                  ": expected a tensor, a number or an array of numbers; got " + type + ".");
}

/// Fails for a list that contains itself. `above` are the lists around this one.
void check_nesting(PyObject* list, SmallVec<PyObject*, 8>& above, const char* function) {
  for (PyObject* outer : above)
    if (outer == list)
      throw ValueError(std::string(function) + ": a list must not contain itself.");
  // NumPy refuses more axes than that.
  if (above.size() > 64)
    throw ValueError(std::string(function) + ": lists must not be nested more than 64 deep.");
  above.push_back(list);
  // The list may change while the destructor of some other object runs, so ask for its size each
  // time.
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(list, i);
    if (PyList_Check(item) || PyTuple_Check(item)) check_nesting(item, above, function);
  }
  above.pop_back();
}

/// A view of an array whose memory we can use as it is; false for others.
bool view_of(PyObject* object, Array* out) {
  if (!PyArray_Check(object)) return false;
  auto* a = reinterpret_cast<PyArrayObject*>(object);
  if (!PyArray_ISBEHAVED_RO(a) || !PyArray_IS_C_CONTIGUOUS(a)) return false;
  const std::optional<DType> dtype = dtype_of(PyArray_DESCR(a));
  if (!dtype) return false;
  const npy_intp* dims = PyArray_DIMS(a);
  *out = Array::view(PyArray_DATA(a), *dtype, Ints(dims, dims + PyArray_NDIM(a)));
  return true;
}

/// Whether they are bools of which some byte is neither 0 nor 1: another array's bytes, seen as bools. NumPy takes them for
/// true, kernels compute with the byte.
bool has_odd_bools(const Array& a) {
  if (a.dtype() != DType::bool_) return false;
  const auto* bytes = static_cast<const unsigned char*>(a.raw());
  const auto n = static_cast<size_t>(a.size());
  uint64_t all = 0, b = 0, c = 0, d = 0;  // four, so that memory sets the pace
  size_t i = 0;
  for (uint64_t words[4]; i + sizeof words <= n; i += sizeof words) {
    std::memcpy(words, bytes + i, sizeof words);
    all |= words[0];
    b |= words[1];
    c |= words[2];
    d |= words[3];
  }
  all |= b | c | d;
  for (; i < n; ++i) all |= bytes[i];
  return (all & 0xfefefefefefefefe) != 0;
}

bool is_integer(PyObject* object) {
  return PyLong_Check(object) || PyArray_IsScalar(object, Integer);
}

/// Whether lists in lists hold integers and arrays of integers alone.
bool holds_integers(PyObject* value) {
  if (PyArray_Check(value))
    return PyTypeNum_ISINTEGER(PyArray_TYPE(reinterpret_cast<PyArrayObject*>(value)));
  if (!PyList_Check(value) && !PyTuple_Check(value)) return is_integer(value);
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(value); ++i)
    if (!holds_integers(PySequence_Fast_GET_ITEM(value, i))) return false;
  return true;
}

/// Integers as uint64, which keeps the digits that float64 would lose; to a dtype of integers they go modulo 2^64, to others only
/// if they fit. An invalid object for anything else.
nb::object exact_integers(PyObject* value, std::optional<DType> dtype) {
  const nb::object made = nb::steal(PyArray_FromAny(value, PyArray_DescrFromType(NPY_OBJECT), 0, 0,
                                                    NPY_ARRAY_CARRAY_RO, nullptr));
  if (!made.is_valid()) nb::raise_python_error();
  auto* objects = reinterpret_cast<PyArrayObject*>(made.ptr());
  auto* const* items = static_cast<PyObject* const*>(PyArray_DATA(objects));
  const npy_intp* dims = PyArray_DIMS(objects);
  const Array exact(DType::uint64, Ints(dims, dims + PyArray_NDIM(objects)));
  for (int64_t i = 0; i < exact.size(); ++i) {
    if (!items[i] || !is_integer(items[i])) return {};
    const nb::object number = nb::steal(PyNumber_Index(items[i]));
    if (!number.is_valid()) nb::raise_python_error();
    exact.data<uint64_t>()[i] = dtype && is_int(*dtype)
                                    ? PyLong_AsUnsignedLongLongMask(number.ptr())
                                    : PyLong_AsUnsignedLongLong(number.ptr());
    if (PyErr_Occurred()) {
      PyErr_Clear();
      return {};
    }
  }
  return nb::steal(to_ndarray(exact));
}

/// Whether what NumPy made of `value` may lack digits of its integers. For lists in which one is beyond int64 that is float64;
/// objects are to become float64.
bool may_lack_digits(PyObject* value, PyObject* made, std::optional<DType> dtype) {
  auto* array = reinterpret_cast<PyArrayObject*>(made);
  const int type = PyArray_TYPE(array);
  if (PyArray_SIZE(array) == 0) return false;
  if (PyArray_Check(value)) return type == NPY_OBJECT && dtype && is_int(*dtype);
  return (type == NPY_DOUBLE || type == NPY_OBJECT) && holds_integers(value);
}

/// Drops a reference, from whichever thread last holds the memory.
std::function<void()> release_of(PyObject* object) {
  return [object] {
    const Locked locked;
    Py_DECREF(object);
  };
}

}  // namespace

bool is_ndarray(PyObject* object) { return PyArray_Check(object); }
bool is_numpy_scalar(PyObject* object) {
  return PyArray_CheckScalar(object) && !PyArray_Check(object);
}
int ndim_of(PyObject* ndarray) { return PyArray_NDIM(reinterpret_cast<PyArrayObject*>(ndarray)); }

bool borrow_array(PyObject* object, Array* out) {
  return view_of(object, out) && !has_odd_bools(*out);
}

nb::object as_ndarray(nb::handle value, std::optional<DType> dtype, const char* function,
                      Array* view) {
  if (borrow_array(value.ptr(), view)) return nb::borrow(value);
  check_nesting(value.ptr(), function);
  nb::object made = nb::steal(
      value.is_none() ? nullptr : PyArray_FromAny(value.ptr(), nullptr, 0, 0, 0, nullptr));
  if (!made.is_valid()) raise_not_numeric(value, function);
  if (may_lack_digits(value.ptr(), made.ptr(), dtype))
    if (const nb::object exact = exact_integers(value.ptr(), dtype); exact.is_valid()) made = exact;
  auto* array = reinterpret_cast<PyArrayObject*>(made.ptr());
  // Text and complex numbers could be cast, but hardly anybody means that.
  PyArray_Descr* from = PyArray_DESCR(array);
  const std::optional<DType> own = dtype_of(from);
  if (!own && from->kind != 'O' && from->kind != 'f') raise_not_numeric(value, function);
  // Python objects and long doubles become float64. All other casts are Array's, which are the same everywhere.
  constexpr int kFlags = NPY_ARRAY_CARRAY_RO | NPY_ARRAY_NOTSWAPPED | NPY_ARRAY_FORCECAST;
  nb::object result =
      nb::steal(PyArray_FromArray(array, descr_of(own.value_or(DType::float64)), kFlags));
  if (!result.is_valid() || !view_of(result.ptr(), view)) raise_not_numeric(value, function);
  if (has_odd_bools(*view)) {
    const Array bytes = Array::view(view->raw(), DType::uint8, view->dims());
    result = nb::steal(to_ndarray(bytes.cast(DType::bool_)));
    view_of(result.ptr(), view);
  }
  return result;
}

nb::object exact_integers(nb::handle value, const char* function, Array* view) {
  const bool is_array = PyArray_Check(value.ptr());
  if (is_array && PyArray_TYPE(reinterpret_cast<PyArrayObject*>(value.ptr())) != NPY_OBJECT)
    return {};
  if (!is_array && !holds_integers(value.ptr())) return {};
  const nb::object modulo = exact_integers(value.ptr(), DType::uint64);
  if (!modulo.is_valid()) return {};
  nb::object result = exact_integers(value.ptr(), {});
  if (!result.is_valid()) {
    // Those that int64 has are the ones that are equal to their last 64 bits.
    const nb::object objects = nb::steal(PyArray_FromAny(
        value.ptr(), PyArray_DescrFromType(NPY_OBJECT), 0, 0, NPY_ARRAY_CARRAY_RO, nullptr));
    if (!objects.is_valid()) nb::raise_python_error();
    view_of(modulo.ptr(), view);
    auto* const* items = static_cast<PyObject* const*>(
        PyArray_DATA(reinterpret_cast<PyArrayObject*>(objects.ptr())));
    for (int64_t i = 0; i < view->size(); ++i) {
      int overflow = 0;
      const nb::object number = nb::steal(PyNumber_Index(items[i]));
      if (!number.is_valid()) nb::raise_python_error();
      PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
      if (!overflow) continue;
      throw ValueError(std::string(function) +
                       ": integers beside a tensor of integers must all be in int64, or all in "
                       "uint64; got " +
                       shown_of(value) + ".");
    }
    result = nb::steal(to_ndarray(view->cast(DType::int64)));
  }
  view_of(result.ptr(), view);
  return result;
}

Array array_from(nb::handle value, std::optional<DType> dtype, const char* function) {
  Array view;
  const nb::object object = as_ndarray(value, dtype, function, &view);
  if (dtype && view.dtype() != *dtype) return view.cast(*dtype);
  Py_INCREF(object.ptr());
  return Array::view(view.raw(), view.dtype(), view.dims(), {}, release_of(object.ptr()));
}

void check_nesting(PyObject* value, const char* function) {
  SmallVec<PyObject*, 8> above;
  if (PyList_Check(value) || PyTuple_Check(value)) check_nesting(value, above, function);
}

bool is_scipy_sparse(PyObject* object) {
  // The most common arguments have no such attribute; for the rest ask the type, not the object.
  if (PyArray_Check(object) || PyFloat_Check(object) || PyLong_Check(object) ||
      PyList_Check(object) || PyTuple_Check(object))
    return false;
  return PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "tocsr");
}

Array sparse_array_from(nb::handle matrix, std::optional<DType> dtype, const char* function) {
  const nb::object csr = matrix.attr("tocsr")();
  const nb::tuple shape = nb::tuple(csr.attr("shape"));
  Ints dims;
  for (nb::handle d : shape) dims.push_back(PyLong_AsLongLong(d.ptr()));
  const auto part = [&](const char* name, std::optional<DType> t) {
    const nb::object values = csr.attr(name);
    return array_from(values, t, function);
  };
  return Array::sparse(part("indptr", DType::int64), part("indices", DType::int64),
                       part("data", dtype), dims);
}

nb::object to_scipy(const Array& array) {
  const auto& parts = array.sparse_parts();
  const auto part = [](const Array& a) { return nb::steal(to_ndarray(a)); };
  const nb::tuple data =
      nb::make_tuple(part(parts.values), part(parts.indices), part(parts.indptr));
  const nb::tuple shape = nb::make_tuple(array.dims()[0], array.dims()[1]);
  const nb::object matrix = nb::module_::import_("scipy.sparse").attr("csr_matrix")(data, shape);
  return matrix.attr("tocoo")();
}

PyObject* to_ndarray(const Array& array) {
  if (!array.storage()) return to_ndarray(array.copy());  // memory of somebody else, which may go
  // float32 has all its numbers, and says what they are.
  if (array.dtype() == DType::bfloat16 && !find_bfloat16())
    return to_ndarray(array.cast(DType::float32));
  npy_intp dims[kMaxRank], strides[kMaxRank];
  if (array.ndim() > kMaxRank) throw ValueError("array: NumPy takes up to 64 dimensions.");
  const int rank = static_cast<int>(array.ndim());
  const auto item = static_cast<npy_intp>(size_of(array.dtype()));
  for (int i = 0; i < rank; ++i) {
    dims[i] = array.dims()[static_cast<size_t>(i)];
    if (!array.is_contiguous()) strides[i] = array.strides()[static_cast<size_t>(i)] * item;
  }
  PyArray_Descr* descr = descr_of(array.dtype());
  PyObject* result = PyArray_NewFromDescr(&PyArray_Type, descr, rank, dims,
                                          array.is_contiguous() ? nullptr : strides, array.raw(),
                                          NPY_ARRAY_WRITEABLE | NPY_ARRAY_ALIGNED, nullptr);
  if (!result) nb::raise_python_error();
  auto* owner = PyObject_New(Owner, owner_type);
  if (!owner) {
    Py_DECREF(result);
    nb::raise_python_error();
  }
  new (&owner->storage) Storage(array.storage());
  PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(result),
                        reinterpret_cast<PyObject*>(owner));
  return result;
}

PyObject* to_numpy(const Array& array) {
  if (array.ndim() > 0) return to_ndarray(array);
  if (array.dtype() == DType::bfloat16 && !find_bfloat16())
    return to_numpy(array.cast(DType::float32));
  PyArray_Descr* descr = descr_of(array.dtype());
  PyObject* scalar = PyArray_Scalar(array.raw(), descr, nullptr);
  Py_DECREF(descr);
  if (!scalar) nb::raise_python_error();
  return scalar;
}

DType dtype_from_python(nb::handle dtype, const char* function) {
  if (PyUnicode_Check(dtype.ptr())) {
    try {
      return dtype_from(str_of(dtype));
    } catch (const ValueError& e) {
      throw TypeError(std::string(function) + ": " + e.what());  // as Keras' tests expect
    }
  }
  // NumPy takes the first of some lists, which name the fields of records.
  const bool is_list = PyTuple_Check(dtype.ptr()) || PyList_Check(dtype.ptr());
  PyArray_Descr* descr = nullptr;
  if (dtype.is_none() || is_list || !PyArray_DescrConverter(dtype.ptr(), &descr)) {
    PyErr_Clear();
    throw TypeError(std::string(function) + ": dtype must be a name such as \"float32\"; got " +
                    repr_of(dtype) + ".");
  }
  const std::optional<DType> result = dtype_of(descr);
  Py_DECREF(descr);
  if (!result)
    throw TypeError(std::string(function) + ": dtype must be a name such as \"float32\"; got " +
                    repr_of(dtype) + ".");
  return *result;
}

std::optional<DType> optional_dtype(nb::handle dtype, const char* function) {
  if (dtype.is_none()) return {};
  return dtype_from_python(dtype, function);
}

namespace {

int import_numpy() {
  import_array1(-1);
  return 0;
}

void delete_unused_capsule(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, "dltensor")) return;
  const Array taken =
      Array::from_dlpack(static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor")));
}

nb::object to_dlpack(nb::handle value) {
  // DLPack cannot say that memory is read-only.
  if (PyArray_Check(value.ptr()) &&
      !PyArray_ISWRITEABLE(reinterpret_cast<PyArrayObject*>(value.ptr()))) {
    PyErr_SetString(PyExc_BufferError, "to_dlpack: the array is read-only; give a copy of it.");
    nb::raise_python_error();
  }
  const Array a = array_from(value, {}, "to_dlpack");
  return nb::steal(PyCapsule_New(a.to_dlpack(), "dltensor", delete_unused_capsule));
}

nb::object from_dlpack(nb::handle value) {
  nb::object capsule = nb::borrow(value);
  if (PyObject_HasAttrString(value.ptr(), "__dlpack__")) capsule = value.attr("__dlpack__")();
  if (!PyCapsule_IsValid(capsule.ptr(), "dltensor"))
    throw TypeError("from_dlpack: expected a DLPack capsule that has not been used.");
  auto* managed = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  return nb::steal(to_ndarray(Array::from_dlpack(managed)));
}

}  // namespace

void init_array(nb::module_& m) {
  if (import_numpy() < 0) nb::raise_python_error();
  PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(owner_dealloc)}, {0, nullptr}};
  PyType_Spec spec = {"horngate._horngate._Owner", sizeof(Owner), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  owner_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!owner_type) nb::raise_python_error();
  m.def("to_dlpack", &to_dlpack, "A DLPack capsule over the array's memory.");
  m.def("from_dlpack", &from_dlpack,
        "A NumPy array over the memory of a DLPack capsule or exporter.");
}

}  // namespace horngate::python
