// Lookup; the products are in bind_regular.cpp.
#include "horngate/ops/linalg.h"

#include "call.h"
#include "sections.h"

namespace horngate::python {

void bind_linalg(nb::module_& m) {
  m.def("gather", [](Any reference, Any indices) {
    Call call("gather");
    const Tensor table = call.tensor(reference);
    return call.result(gather(table, call.tensor(indices)));
  });
}

}  // namespace horngate::python
