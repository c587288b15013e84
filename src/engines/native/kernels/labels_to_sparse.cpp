// labels_to_sparse: the beginnings of the rows of a dense matrix as a sparse one.
#include <algorithm>
#include <cstring>

#include "engines/native/sparse.h"

namespace horngate::native::kernels {
namespace {

template <class I>
KernelPtr make(int64_t rows, int64_t width, size_t item) {
  return kernel_of([=](const void* const* in, void* const* out, RunContext&) {
    const auto* labels = static_cast<const char*>(in[0]);
    const auto* lengths = static_cast<const I*>(in[1]);
    const auto taken = [&](int64_t i) { return std::clamp<int64_t>(lengths[i], 0, width); };
    int64_t count = 0, at = 0;
    for (int64_t i = 0; i < rows; ++i) count += taken(i);
    SparseBuffer& y = SparseBuffer::at(out[0]);
    y.resize(rows, count, item);
    auto* values = static_cast<char*>(y.data());
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t n = taken(i);
      for (int64_t k = 0; k < n; ++k) y.columns()[at + k] = k;
      if (n > 0)
        std::memcpy(values + static_cast<size_t>(at) * item,
                    labels + static_cast<size_t>(i * width) * item, static_cast<size_t>(n) * item);
      y.row_starts()[i + 1] = at += n;
    }
  });
}

}  // namespace

KernelPtr make_labels_to_sparse(const KernelCall& call) {
  const int64_t rows = call.in[0].shape.dim(0), width = call.in[0].shape.dim(1);
  const size_t item = size_of(call.in[0].dtype);
  if (call.in[1].dtype == DType::int32) return make<int32_t>(rows, width, item);
  return make<int64_t>(rows, width, item);
}

}  // namespace horngate::native::kernels
