// The table of kernels, made from prims.def: every primitive marked `kernel` has make_<name>.
#include "engines/native/kernel.h"
#include "ir/interrupt.h"

namespace horngate::native {

namespace kernels {
#define HORNGATE_DECLARE_kernel(name) KernelPtr make_##name(const KernelCall&);
#define HORNGATE_DECLARE_elementwise(name)
#define HORNGATE_DECLARE_reduction(name)
#define HORNGATE_DECLARE_alias(name)
#define HORNGATE_DECLARE_core(name)
#define PRIM(name, how, attributes) HORNGATE_DECLARE_##how(name)
#include "ir/prims.def"
}  // namespace kernels

static const KernelFactory kFactories[] = {
#define HORNGATE_FACTORY_kernel(name) kernels::make_##name,
#define HORNGATE_FACTORY_elementwise(name) nullptr,
#define HORNGATE_FACTORY_reduction(name) nullptr,
#define HORNGATE_FACTORY_alias(name) nullptr,
#define HORNGATE_FACTORY_core(name) nullptr,
#define PRIM(name, how, attributes) HORNGATE_FACTORY_##how(name)
#include "ir/prims.def"
};

KernelFactory find_kernel(Prim prim) {
  stop_if_asked();
  return kFactories[static_cast<int>(prim)];
}

}  // namespace horngate::native
