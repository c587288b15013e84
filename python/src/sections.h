// One binder per section of the API for what must be bound by hand; bind_regular, made by `make
// generate`, has the others.
#pragma once

#include <nanobind/nanobind.h>

namespace horngate::python {

void bind_config(nanobind::module_& m);
void bind_function(nanobind::module_& m);
void bind_variables(nanobind::module_& m);
void bind_values(nanobind::module_& m);
void bind_linalg(nanobind::module_& m);
void bind_shape(nanobind::module_& m);
void bind_control(nanobind::module_& m);
void bind_functional(nanobind::module_& m);
void bind_nn(nanobind::module_& m);
void bind_conv(nanobind::module_& m);
void bind_random(nanobind::module_& m);
void bind_ctc(nanobind::module_& m);
void bind_distributed(nanobind::module_& m);
void bind_regular(nanobind::module_& m);

}  // namespace horngate::python
