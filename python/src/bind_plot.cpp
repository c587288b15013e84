// Pictures of functions.
#include "horngate/plot.h"

#include <nanobind/stl/string.h>

#include "call.h"
#include "function.h"
#include "text.h"

namespace horngate::python {
namespace {

/// Shapes: a list with a list of sizes per input, or None; the size of a dimension may be None.
PlotFunctionOptions options_of(const std::string& stage, Any shapes, Any training) {
  Call call("plot_function");
  PlotFunctionOptions options{.stage = stage, .training = call.truth(training)};
  if (shapes.is_none()) return options;
  for (handle shape : nb::borrow<nb::sequence>(shapes)) {
    Ints dims;
    for (handle d : nb::borrow<nb::sequence>(shape))
      dims.push_back(d.is_none() ? Shape::kUnknown : nb::cast<int64_t>(d));
    options.shapes.emplace_back(std::move(dims));
  }
  return options;
}

}  // namespace

void bind_plot(nb::module_& m) {
  m.def("plot_function",
        [](Any function, nb::bytes path, const std::string& stage, Any shapes, Any training) {
          const FunctionParts parts = parts_of(function, "plot_function");
          const PlotFunctionOptions options = options_of(stage, shapes, training);
          const std::string file(path.c_str(), path.size());
          const Unlocked unlocked;
          plot_function(parts.inputs, parts.outputs, parts.updates, file, options);
        });
  m.def("function_picture", [](Any function, const std::string& format) {
    const FunctionParts parts = parts_of(function, "plot_function");
    return nb::steal(
        readable(function_picture(parts.inputs, parts.outputs, parts.updates, format)));
  });
}

}  // namespace horngate::python
