// Pooling over windows.
#include <limits>

#include "api/windows.h"
#include "horngate/ops/conv.h"

namespace horngate {
namespace {

Tensor pool_windows(const Windows& w, const Padded& p, PoolMode mode) {
  return emit(attrs::pool{.mode = name_of(mode),
                          .window = w.size,
                          .strides = w.strides,
                          .pad_low = p.low,
                          .pad_high = p.high,
                          .channels_first = w.channels_first},
              {p.x});
}

template <size_t N, class Options>
Tensor pool(std::string_view function, const Tensor& x, const std::array<int64_t, N>& pool_size,
            const Options& o) {
  const Tensor in = float_operand(function, x);
  check_padding(o.padding, function);
  const Windows w{function,
                  Ints(pool_size.begin(), pool_size.end()),
                  Ints(o.strides.begin(), o.strides.end()),
                  Ints(N, 1),
                  o.padding,
                  is_channels_first(o.data_format)};
  for (int64_t n : w.size)
    check(n >= 1, function, "pool_size must be at least 1; got ", w.size, ".");
  check_windows(w, in);
  if (o.pool_mode == PoolMode::max)
    return pool_windows(w, pad_windows(w, in, -std::numeric_limits<double>::infinity()),
                        PoolMode::max);
  const Padded p = pad_windows(w, in);
  const Tensor y = pool_windows(w, p, PoolMode::avg);
  if (!p.cut) return y;
  // The mean counted the zeros that pad_windows put into x: divide by the share of real elements.
  SymDims dims = dims_of(in);
  dims[0] = dims[w.channel_axis()] = 1;
  const Padded ones = pad_windows(w, prim::full(shape_of_dims(dims), 1.0, in.dtype()));
  return prim::div(y, pool_windows(w, ones, PoolMode::avg));
}

}  // namespace

Tensor pool2d(const Tensor& x, const std::array<int64_t, 2>& pool_size,
              const Pool2dOptions& options) {
  const CalledAs called(__func__);
  return pool("pool2d", x, pool_size, options);
}

Tensor pool3d(const Tensor& x, const std::array<int64_t, 3>& pool_size,
              const Pool3dOptions& options) {
  const CalledAs called(__func__);
  return pool("pool3d", x, pool_size, options);
}

}  // namespace horngate
