// Text between Python and C++ when it may be anything: bytes of a file or a path that are not UTF-8, strings with
// lone surrogates. Text for people shows such bytes as \xff.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>

namespace horngate::python {

namespace nb = nanobind;

/// repr(value) in UTF-8; its type if repr fails.
std::string repr_of(nb::handle value);
/// The same for messages: its type if the text is long.
std::string shown_of(nb::handle value);
/// The name of its type, for messages.
std::string type_name_of(nb::handle value);
/// str(value) in UTF-8.
std::string str_of(nb::handle value);
/// Text for people, a new reference; null with an error set if there is no memory.
PyObject* readable(std::string_view text);
/// A path as Python's own functions give it: os.fsencode restores the bytes.
nb::object path_from(const std::string& path);

}  // namespace horngate::python
