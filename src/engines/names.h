// The engines that Horngate knows by name, from engines.def. Other plug-ins are found by their files.
#pragma once

#include <string>
#include <string_view>

namespace horngate {

enum class EngineKind { built_in, driver, testing };

struct KnownEngine {
  std::string_view name;
  std::string_view line;  // what Keras prints when it is chosen
  EngineKind kind;
};

inline constexpr KnownEngine kKnownEngines[] = {
#define ENGINE(name, line, kind) {#name, line, EngineKind::kind},
#include "engines/engines.def"
#undef ENGINE
};

/// Null for a name not in the list.
constexpr const KnownEngine* known_engine(std::string_view name) {
  for (const KnownEngine& e : kKnownEngines)
    if (e.name == name) return &e;
  return nullptr;
}

/// Whether `horngate engines install` can get the library it drives.
constexpr bool is_installable(std::string_view name) {
  const KnownEngine* e = known_engine(name);
  return e && e->kind == EngineKind::driver;
}

/// "native, tensorflow, ..": those for users.
inline std::string names_for_users() {
  std::string names;
  for (const KnownEngine& e : kKnownEngines)
    if (e.kind != EngineKind::testing) (names += names.empty() ? "" : ", ") += e.name;
  return names;
}

}  // namespace horngate
