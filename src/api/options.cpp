// Conversion of options to strings and back.
#include "horngate/options.h"

#include <algorithm>
#include <string>

#include "ir/check.h"

namespace horngate {

const char* name_of(DataFormat v) {
  return v == DataFormat::channels_first ? "channels_first" : "channels_last";
}

const char* name_of(Padding v) {
  switch (v) {
    case Padding::valid: return "valid";
    case Padding::same: return "same";
    case Padding::causal: return "causal";
    case Padding::full: break;
  }
  return "full";
}

const char* name_of(PoolMode v) { return v == PoolMode::avg ? "avg" : "max"; }

const char* name_of(Interpolation v) {
  return v == Interpolation::bilinear ? "bilinear" : "nearest";
}

namespace {

// "a", "b" or "c"
template <class E>
std::string list_of(std::initializer_list<E> values) {
  std::string out;
  for (const E* v = values.begin(); v != values.end(); ++v) {
    if (v != values.begin()) out += v + 1 == values.end() ? " or " : ", ";
    out += text_of('"', name_of(*v), '"');
  }
  return out;
}

template <class E>
E parse(std::string_view text, std::string_view function, std::string_view argument,
        std::initializer_list<E> allowed) {
  for (const E v : allowed)
    if (text == name_of(v)) return v;
  fail(function, argument, " must be ", list_of(allowed), "; got \"", text, "\".");
}

}  // namespace

DataFormat data_format_from(std::string_view text, std::string_view function) {
  return parse(text, function, "data_format",
               {DataFormat::channels_last, DataFormat::channels_first});
}

Padding padding_from(std::string_view text, std::string_view function,
                     std::initializer_list<Padding> allowed) {
  return parse(text, function, "padding", allowed);
}

PoolMode pool_mode_from(std::string_view text, std::string_view function) {
  return parse(text, function, "pool_mode", {PoolMode::max, PoolMode::avg});
}

Interpolation interpolation_from(std::string_view text, std::string_view function) {
  return parse(text, function, "interpolation", {Interpolation::nearest, Interpolation::bilinear});
}

Padding choice_from(std::string_view name, Padding) {
  return padding_from(name, "options",
                      {Padding::valid, Padding::same, Padding::causal, Padding::full});
}
PoolMode choice_from(std::string_view name, PoolMode) { return pool_mode_from(name, "options"); }
Interpolation choice_from(std::string_view name, Interpolation) {
  return interpolation_from(name, "options");
}
DataFormat choice_from(std::string_view name, DataFormat) {
  return data_format_from(name, "options");
}

void check_padding(Padding padding, std::string_view function,
                   std::initializer_list<Padding> allowed) {
  if (std::find(allowed.begin(), allowed.end(), padding) != allowed.end()) return;
  fail(function, "padding must be ", list_of(allowed), "; got \"", name_of(padding), "\".");
}

}  // namespace horngate
