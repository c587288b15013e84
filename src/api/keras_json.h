// The rules of keras.json and of the environment, shared by the reader and the setters.
#pragma once

#include <string_view>

#include "horngate/dtype.h"

namespace horngate::keras_json {

/// [a-z0-9_]+
bool is_engine_name(std::string_view name);
/// "float16", "float32" or "float64"; `where` begins the error and `hint` ends it.
DType floatx_from(std::string_view name, std::string_view where, std::string_view hint = "");

}  // namespace horngate::keras_json
