// What users give for names in files that are not Keras's own.
#pragma once

#include <optional>
#include <string>

#include "horngate/error.h"
#include "horngate/keras/saving.h"
#include "keras/named.h"

namespace horngate::keras {

/// While it lives, on this thread, configurations are read with these options: as Keras's CustomObjectScope it reaches
/// everything inside of a model, also what classes of users read for themselves.
class CustomScope {
 public:
  explicit CustomScope(const LoadOptions& options);
  ~CustomScope();
  CustomScope(const CustomScope&) = delete;

  /// Null if nothing is loaded on this thread.
  static const LoadOptions* active();

 private:
  const LoadOptions* before_;
};

/// What the user gave for a name, made from the options that stand beside it.
template <class T>
std::optional<T> custom_object(CustomObjects<T> LoadOptions::* table, const NamedConfig& given) {
  const LoadOptions* options = CustomScope::active();
  if (!options) return {};
  const CustomObjects<T>& all = options->*table;
  auto found = all.find(given.full_name);
  if (found == all.end()) found = all.find(given.name);
  if (found == all.end()) return {};
  // Python's functions have no options, and classes need not have any.
  return found->second(given.config.is_null() ? Json(Json::Object()) : given.config);
}

/// The same for functions with a name. A callable gets the one that the file has, so that it is saved again as it was.
template <class T>
std::optional<T> custom_named(CustomObjects<T> LoadOptions::* table, const Json& j,
                              const NamedConfig& given) {
  std::optional<T> own = custom_object(table, given);
  if (own && own->is_nameless()) return T(j, typename T::Call(*own));
  return own;
}

/// For errors about names that are unknown: where to give what is one's own, while something is loaded.
std::string custom_hint(const char* option);

/// What files have for a callable of this name; ValueError if it is empty, or if Keras means something else by it.
Json own_name(const char* class_name, const std::string& name, bool is_of_keras);

/// Whether what makes Keras's objects knows a name.
template <class T>
bool is_of_keras(T (*make)(const NamedConfig& given, const std::string& where),
                 const std::string& name) {
  try {
    (void)make({name, ""}, "");
    return true;
  } catch (const ValueError&) {
    return false;
  }
}

}  // namespace horngate::keras
