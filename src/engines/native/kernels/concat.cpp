// concat: each operand is a block of columns of the result, seen as (outer, axis and all after it).
#include <vector>

#include "engines/native/kernels/axis.h"
#include "engines/native/kernels/strided_copy.h"

namespace horngate::native::kernels {

KernelPtr make_concat(const KernelCall& call) {
  const int64_t axis = call.as<attrs::concat>().axis;
  const DType dtype = call.out[0].dtype;
  const AxisSplit whole = split_at(call.out[0].shape, axis);
  struct Part {
    StridedCopy copy;
    int64_t offset;  // bytes from the start of the result
  };
  std::vector<Part> parts;
  int64_t column = 0;
  for (const TensorType& t : call.in) {
    const AxisSplit s = split_at(t.shape, axis);
    const int64_t width = s.n * s.inner;
    const CopyAxes axes{{s.outer, width, whole.n * whole.inner}, {width, 1, 1}};
    parts.push_back({StridedCopy(axes, dtype), column * static_cast<int64_t>(size_of(dtype))});
    column += width;
  }
  return kernel_of(
      [parts = std::move(parts)](const void* const* in, void* const* out, RunContext&) {
        for (size_t i = 0; i < parts.size(); ++i)
          parts[i].copy.run(in[i], static_cast<char*>(out[0]) + parts[i].offset);
      });
}

}  // namespace horngate::native::kernels
