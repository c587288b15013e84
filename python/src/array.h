// Conversion between NumPy arrays and horngate::Array, without copies. Only array.cpp uses NumPy's
// C interface.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "horngate/array.h"

namespace horngate::python {

namespace nb = nanobind;

/// How many dimensions an array of NumPy has at most.
constexpr size_t kMaxRank = 64;

/// A view of a NumPy array whose dtype, memory order and bytes we can use directly; false for
/// anything else. The view does not hold the object: the caller must, for as long as the view lives.
bool borrow_array(PyObject* object, Array* out);

/// A NumPy array from anything NumPy can convert, and the view of it that borrow_array gives. It has
/// the dtype that NumPy chooses; `dtype`, what it will be cast to, says which digits of integers
/// count. `function` begins the error for what cannot be numbers.
nb::object as_ndarray(nb::handle value, std::optional<DType> dtype, const char* function,
                      Array* view);

/// Integers alone, in lists or arrays of objects, in a dtype that has all of them: int64 or uint64.
/// ValueError if neither has; an invalid object for anything else.
nb::object exact_integers(nb::handle value, const char* function, Array* view);

/// What as_ndarray gives as an Array that holds the object, cast to `dtype`.
Array array_from(nb::handle value, std::optional<DType> dtype, const char* function);

/// ValueError for a list that contains itself, or is nested deeper than arrays can be.
void check_nesting(PyObject* value, const char* function);

/// A SciPy matrix, or anything else with tocsr().
bool is_scipy_sparse(PyObject* object);
/// A sparse array as a SciPy matrix in COO form.
nb::object to_scipy(const Array& array);
Array sparse_array_from(nb::handle matrix, std::optional<DType> dtype, const char* function);

/// A writable NumPy array over the array's memory. bfloat16 has the dtype of ml_dtypes; if that
/// package is missing, it is float32, of which it is a part.
PyObject* to_ndarray(const Array& array);
/// The same, but a NumPy number for a scalar: Keras programs test for np.float32.
PyObject* to_numpy(const Array& array);

bool is_ndarray(PyObject* object);
/// A NumPy scalar, such as numpy.float32(1).
bool is_numpy_scalar(PyObject* object);
/// Number of dimensions of an ndarray.
int ndim_of(PyObject* ndarray);

/// A dtype argument: a Keras string, a NumPy dtype or type; TypeError for others.
DType dtype_from_python(nb::handle dtype, const char* function);
/// None means unset.
std::optional<DType> optional_dtype(nb::handle dtype, const char* function);

void init_array(nb::module_& m);

}  // namespace horngate::python
