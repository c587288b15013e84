// Models for other programs: functions as ONNX files.
#pragma once

#include <string>

#include "horngate/function.h"

namespace horngate {

/// Writes a function as an ONNX model (opset 18) for inference: variables become constants with their current
/// values, the learning phase is 0, and dimensions that are None stay open. Functions with updates, random
/// numbers or sparse inputs cannot be written.
/// Example: K::export_onnx(K::function({x}, {y}), "model.onnx");
HORNGATE_API void export_onnx(const Function& function, const std::string& path);

}  // namespace horngate
