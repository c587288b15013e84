// JSON as Keras writes it, that is as Python's json does: NaN, Infinity and -Infinity are numbers.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace horngate::files {

/// Keeps the order of keys, as Python does.
using Json = nlohmann::ordered_json;

/// What a text may ask for: a value takes far more memory than its text.
struct JsonLimits {
  size_t bytes = 32 << 20;
  size_t values = 200'000;
  size_t depth = 512;
};

/// Strict: UTF-8, no comments, no key twice, nothing after the value, integers that fit 64 bits.
/// `name` says what is read, for errors: "net.h5: model_config: at byte 17 (line 1, column 18): ..."
[[nodiscard]] Json read_json(std::string_view text, std::string_view name,
                             const JsonLimits& limits = {});

/// As json.dumps(value) of Python writes it: ", " and ": " between, all ASCII, floats that read back the
/// same and look like floats. With sort_keys as json.dumps(value, sort_keys=True).
[[nodiscard]] std::string write_json(const Json& value, bool sort_keys = false);

/// repr(x) of Python: 0.1, 1.0, 1e-05, 1e+16, NaN as json writes it.
[[nodiscard]] std::string float_text(double x);

}  // namespace horngate::files
