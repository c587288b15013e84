// Configurations of Keras 1: other names for the same options.
#pragma once

#include <initializer_list>
#include <utility>

#include "keras/layers/body_of.h"

namespace horngate::keras {

/// The configuration with new names for old ones.
inline Json renamed(const Json& config,
                    std::initializer_list<std::pair<const char*, const char*>> names) {
  Json result = Json::Object();
  for (const auto& [name, value] : config.as_object("layer")) {
    const char* now = name.c_str();
    for (const auto& [before, after] : names)
      if (name == before) now = after;
    result.set(now, value);
  }
  return result;
}

/// An option of another edition: only the value that means what is done here.
inline void must_be(const Json& config, const char* class_name, const char* name,
                    std::initializer_list<Json> values) {
  const Json* found = config.find(name);
  if (!found) return;
  for (const Json& value : values)
    if (*found == value) return;
  throw ValueError(std::string(class_name) + ": " + name + " must be " + values.begin()->dump() +
                   "; got " + found->dump() + ".");
}

}  // namespace horngate::keras
