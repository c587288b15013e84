// Pictures of functions: their graphs before and after the passes, and what runs together.
#pragma once

#include <string>
#include <vector>

#include "horngate/function.h"

namespace horngate {

struct PlotFunctionOptions {
  std::string stage =
      "plan";  // "program": the graph as it was built; "plan": what runs. A page has both
  std::vector<Shape> shapes = {};  // of the inputs, for the plan; unset or None: 32
  bool training = false;           // the learning phase
};

/// Draws a function into a file that ends in .svg, .png, .pdf (drawn by Graphviz), .dot, or .html: a page that needs
/// no network, zooms, and folds layers and groups of large nets. Nodes have shapes and bytes; groups are what the
/// native engine runs as one step.
/// Example: K::plot_function(f, "f.html");
HORNGATE_API void plot_function(const Function& function, const std::string& path,
                                const PlotFunctionOptions& options = {});
/// The same for function(inputs, outputs, updates), with the graph as it was built in full.
/// Example: K::plot_function({x}, {y}, {}, "y.svg", {.stage = "program"});
HORNGATE_API void plot_function(const std::vector<Tensor>& inputs,
                                const std::vector<Tensor>& outputs,
                                const std::vector<Update>& updates, const std::string& path,
                                const PlotFunctionOptions& options = {});

/// The text of such a file: format is "dot", "svg" or "html".
/// Example: std::cout << K::function_picture({x}, {y}, {}, "dot");
[[nodiscard]] HORNGATE_API std::string function_picture(const std::vector<Tensor>& inputs,
                                                        const std::vector<Tensor>& outputs,
                                                        const std::vector<Update>& updates,
                                                        const std::string& format,
                                                        const PlotFunctionOptions& options = {});

}  // namespace horngate
