// cumprod: running products.
#include "engines/native/kernels/cumulate.h"

namespace horngate::native::kernels {
namespace {

struct Multiply {
  template <class W>
  using Total = W;
  template <class W>
  static W neutral(bool) {
    return W(1);
  }
  template <class W>
  W operator()(W a, W b) const {
    if constexpr (std::is_integral_v<W>)  // wraps around
      return static_cast<W>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else
      return a * b;
  }
};

}  // namespace

KernelPtr make_cumprod(const KernelCall& call) {
  return make_cumulate<Multiply>(call, call.as<attrs::cumprod>());
}

}  // namespace horngate::native::kernels
