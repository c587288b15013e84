#include "keras/layers/input.h"

#include "horngate/config.h"
#include "horngate/ops/variables.h"
#include "keras/node.h"

namespace horngate::keras {

Json InputBody::full_config() const {
  Json config;
  config.set("batch_input_shape", to_json(a_.batch_input_shape));
  config.set("dtype", to_json(a_.dtype));
  config.set("sparse", a_.sparse);
  config.set("name", name());
  return config;
}

Value make_input(InputArguments arguments, const std::string& name) {
  const auto layer = std::make_shared<InputBody>(arguments);
  layer->set_options({.name = name.empty() ? "input_" + std::to_string(get_uid("input")) : name,
                      .dtype = arguments.dtype});
  layer->ensure_built({arguments.batch_input_shape});
  const Tensor x = placeholder({.shape = arguments.batch_input_shape,
                                .dtype = arguments.dtype,
                                .sparse = arguments.sparse,
                                .name = layer->name()});
  Call call;
  return keep_call(layer, {}, call, {x}, {Tensor()})[0];
}

Value Input(const InputOptions& o) {
  if (!o.shape && !o.batch_shape)
    throw ValueError("Input: shape or batch_shape must be given; got neither.");
  Ints dims;
  if (o.batch_shape) {
    dims = o.batch_shape->dims();
  } else {
    dims.push_back(Shape::kUnknown);
    for (const int64_t d : o.shape->dims()) dims.push_back(d);
  }
  return make_input({Shape(dims), o.dtype.value_or(floatx()), o.sparse}, o.name);
}

// A function cannot be written. Python's Keras reads this, and asks for the function by this name.
Json LambdaBody::config() const {
  Json config;
  config.set("function", name());
  config.set("function_type", "function");
  config.set("output_shape", nullptr);
  config.set("output_shape_type", "raw");
  config.set("arguments", Json::Object());
  return config;
}

Layer Lambda(const std::string& name, const LambdaCall& function, const PlainOptions& options) {
  auto body = std::make_shared<LambdaBody>(function);
  LayerOptions common = common_options(options);
  if (!name.empty()) common.name = name;
  body->set_options(std::move(common));
  return Layer(std::move(body));
}

}  // namespace horngate::keras
