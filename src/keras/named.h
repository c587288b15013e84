// Finding an object by its Keras name or configuration.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

#include "horngate/error.h"
#include "horngate/keras/json.h"

namespace horngate::keras {

/// Class and options of "name", {"class_name": .., "config": ..} or null. tf.keras calls its optimizers "Custom>Adam".
struct NamedConfig {
  std::string name;
  Json config;
  std::string full_name;  // with "Custom>"

  NamedConfig(const Json& j, const std::string& where) {
    if (j.is_string()) {
      name = full_name = j.as_string(where);
    } else if (!j.find("class_name") && j.find("name")) {
      // Keras 1: {"name": "MaxNorm", "m": 2, "axis": 0}
      name = full_name = j.at("name", where).as_string(where);
      config = j;
    } else {
      name = full_name = j.at("class_name", where).as_string(where);
      if (name.starts_with("Custom>")) name = name.substr(7);
      if (const Json* found = j.find("config")) config = *found;
    }
  }
  /// Whether it is called one of these.
  bool is(std::initializer_list<std::string_view> names) const {
    return std::find(names.begin(), names.end(), name) != names.end();
  }
};

[[noreturn]] inline void unknown_name(const std::string& where, const char* kind,
                                      const std::string& name, const std::string& known,
                                      const std::string& hint = "") {
  throw ValueError(where + ": " + kind + " must be one of " + known + "; got \"" + name + "\"." +
                   hint);
}

}  // namespace horngate::keras
