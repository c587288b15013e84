// print: the operand unchanged, and one line of text.
#include <cstring>
#include <string>

#include "engines/native/kernels/axis.h"
#include "horngate/array.h"

namespace horngate::native::kernels {

KernelPtr make_print(const KernelCall& call) {
  const TensorType type = call.in[0];
  const size_t bytes = static_cast<size_t>(type.shape.size()) * size_of(type.dtype);
  const auto run = [type, bytes, message = call.as<attrs::print>().message](
                       const void* const* in, void* const* out, RunContext& context) {
    if (context.log) {
      const Array x = Array::view(const_cast<void*>(in[0]), type.dtype, type.shape.dims());
      context.log(context.host, 0, (message + x.str()).c_str());
    }
    if (bytes > 0 && out[0] != in[0]) std::memcpy(out[0], in[0], bytes);
  };
  return in_place_kernel_of(run);
}

}  // namespace horngate::native::kernels
