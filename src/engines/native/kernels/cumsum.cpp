// cumsum: running sums.
#include "engines/native/kernels/cumulate.h"

namespace horngate::native::kernels {
namespace {

struct Add {
  // One number after the other: in float, 900 equal ones lose two digits.
  template <class W>
  using Total = std::conditional_t<std::is_same_v<W, float>, double, W>;
  // Starting with -0 keeps a -0; an exclusive sum starts with 0.
  template <class W>
  static W neutral(bool exclusive) {
    return exclusive ? W(0) : W(-0.0);
  }
  template <class W>
  W operator()(W a, W b) const {
    if constexpr (std::is_integral_v<W>)  // wraps around
      return static_cast<W>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    else
      return a + b;
  }
};

}  // namespace

KernelPtr make_cumsum(const KernelCall& call) {
  return make_cumulate<Add>(call, call.as<attrs::cumsum>());
}

}  // namespace horngate::native::kernels
