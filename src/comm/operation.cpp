// Names of operations.
#include "comm/operation.h"

#include "ir/check.h"

namespace horngate::comm {

const char* name_of(Kind kind) {
  constexpr const char* kNames[kKinds] = {"all_reduce", "reduce_scatter", "all_gather",
                                          "all_to_all", "broadcast",      "barrier"};
  return kNames[static_cast<int>(kind)];
}

const char* name_of(Reduction reduction) {
  constexpr const char* kNames[] = {"sum", "prod", "min", "max"};
  return kNames[static_cast<int>(reduction)];
}

std::string signature_of(const Operation& op) {
  std::string out = name_of(op.kind);
  if (op.kind != Kind::barrier) out += text_of(' ', op.dtype, " x ", op.count);
  if (op.kind == Kind::all_reduce || op.kind == Kind::reduce_scatter) {
    constexpr const char* kOrders[] = {"", ", ordered", ", in the library's order"};
    out += text_of(", ", name_of(op.reduction), kOrders[static_cast<int>(op.order)]);
  }
  if (op.kind == Kind::broadcast) out += text_of(" from ", op.root);
  if (!op.form.empty()) out += text_of(", ", op.form);
  if (!op.name.empty()) out += text_of(", \"", op.name, "\"");
  return out;
}

}  // namespace horngate::comm
