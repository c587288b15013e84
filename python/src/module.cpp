// The extension module _horngate: the C++ API for the package's Python functions, which have the
// names, signatures and documentation. Here arguments are positional.
#include <nanobind/nanobind.h>

#include "array.h"
#include "errors.h"
#include "function.h"
#include "sections.h"
#include "tensor.h"

NB_MODULE(_horngate, m) {
  using namespace horngate::python;
  init_errors();
  init_array(m);
  init_tensor(m);
  init_function(m);
  bind_config(m);
  bind_function(m);
  bind_plot(m);
  bind_variables(m);
  bind_values(m);
  bind_linalg(m);
  bind_shape(m);
  bind_control(m);
  bind_functional(m);
  bind_nn(m);
  bind_conv(m);
  bind_random(m);
  bind_ctc(m);
  bind_distributed(m);
  bind_regular(m);
}
