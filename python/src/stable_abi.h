// Python's stable ABI lacks the macros that reach into objects: there they are the functions that do the same, with
// checks. One wheel then serves every Python from 3.12 on.
#pragma once

#include <nanobind/nanobind.h>

#ifdef Py_LIMITED_API
#define PyList_GET_SIZE PyList_Size
#define PyList_GET_ITEM PyList_GetItem
#define PyList_SET_ITEM (void)PyList_SetItem
#define PyTuple_GET_SIZE PyTuple_Size
#define PyTuple_GET_ITEM PyTuple_GetItem
#define PyTuple_SET_ITEM (void)PyTuple_SetItem
#define PyFloat_AS_DOUBLE PyFloat_AsDouble
#define PyBytes_AS_STRING PyBytes_AsString
#define PyBytes_GET_SIZE PyBytes_Size
// A chain of tensors is one of tuples too, and these see to it that freeing a long one does not recurse.
#define Py_TRASHCAN_BEGIN(object, dealloc) {
#define Py_TRASHCAN_END }
#endif
