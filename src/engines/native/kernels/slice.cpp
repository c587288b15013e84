// slice: a strided read of x, written densely.
#include "engines/native/kernel.h"
#include "engines/native/kernels/strided_copy.h"
#include "ir/dispatch_dtype.h"
#include "ir/fold_ints.h"
#include "prims/rules.h"

namespace horngate::native::kernels {

KernelPtr make_slice(const KernelCall& call) {
  const auto& a = call.as<attrs::slice>();
  const Shape &x = call.in[0].shape, &y = call.out[0].shape;
  CopyAxes axes(x.ndim());
  int64_t src = 1, dst = 1, offset = 0;
  for (size_t i = x.ndim(); i-- > 0;) {
    const int64_t step = a.steps.empty() ? 1 : a.steps[i];
    const SliceRange range = slice_range(x.dim(i), a.starts[i], a.stops[i], step);
    // A step over the whole axis takes one element; the stride is never used then, but must not
    // overflow.
    axes[i] = {range.count, range.count > 1 ? src * step : src, dst};
    if (range.count > 0) offset += range.start * src;
    src *= x.dim(i);
    dst *= y.dim(i);
  }
  const auto bytes = static_cast<int64_t>(size_of(call.in[0].dtype));
  return kernel_of([copy = StridedCopy(axes, call.in[0].dtype), offset = offset * bytes](
                       const void* const* in, void* const* out, RunContext&) {
    copy.run(static_cast<const char*>(in[0]) + offset, out[0]);
  });
}

}  // namespace horngate::native::kernels
