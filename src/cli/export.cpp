// horngate export: a model that Keras saved becomes an ONNX file.
#include <horngate/keras.h>

#include "commands.h"

namespace horngate::cli {

int export_model(const Arguments& arguments) {
  if (arguments.size() != 2) throw ValueError(usage("export"));
  set_quiet(true);
  const keras::Model model = keras::load_model(arguments[0], {.compile = false});
  const keras::Values inputs = model.inputs(), outputs = model.outputs();
  export_onnx(
      function(Tensors(inputs.begin(), inputs.end()), Tensors(outputs.begin(), outputs.end())),
      arguments[1]);
  return 0;
}

}  // namespace horngate::cli
