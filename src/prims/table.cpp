// The table of primitives, in the order of prims.def.
#include <unordered_map>

#include "ir/primitive.h"

namespace horngate {

namespace prim_defs {
#define PRIM(name, how, attributes) extern const Primitive name##_primitive;
#include "ir/prims.def"
}  // namespace prim_defs

static const Primitive* const kTable[] = {
#define PRIM(name, how, attributes) &prim_defs::name##_primitive,
#include "ir/prims.def"
};

const Primitive& primitive(Prim prim) { return *kTable[static_cast<int>(prim)]; }

std::optional<Prim> find_primitive(std::string_view name) {
  static const auto* const kByName = [] {
    auto* map = new std::unordered_map<std::string_view, Prim>;
    for (int i = 0; i < kPrimCount; ++i) map->emplace(kTable[i]->name, static_cast<Prim>(i));
    return map;
  }();
  const auto it = kByName->find(name);
  return it == kByName->end() ? std::nullopt : std::optional(it->second);
}

}  // namespace horngate
