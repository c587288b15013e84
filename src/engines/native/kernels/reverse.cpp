// reverse: a read of x with negative strides.
#include "engines/native/kernel.h"
#include "engines/native/kernels/strided_copy.h"

namespace horngate::native::kernels {

KernelPtr make_reverse(const KernelCall& call) {
  const Shape& x = call.in[0].shape;
  const auto rank = static_cast<int64_t>(x.ndim());
  CopyAxes axes(x.ndim());
  int64_t stride = 1;
  for (size_t i = x.ndim(); i-- > 0;) {
    axes[i] = {x.dim(i), stride, stride};
    stride *= x.dim(i);
  }
  int64_t offset = 0;
  for (int64_t axis : call.as<attrs::reverse>().axes) {
    CopyAxis& a = axes[static_cast<size_t>(axis < 0 ? axis + rank : axis)];
    if (a.n > 0) offset += (a.n - 1) * a.src;
    a.src = -a.src;
  }
  const auto bytes = static_cast<int64_t>(size_of(call.in[0].dtype));
  return kernel_of([copy = StridedCopy(axes, call.in[0].dtype), offset = offset * bytes](
                       const void* const* in, void* const* out, RunContext&) {
    copy.run(static_cast<const char*>(in[0]) + offset, out[0]);
  });
}

}  // namespace horngate::native::kernels
