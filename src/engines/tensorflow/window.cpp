// Windows over space: what convolutions and pools share.
#include "window.h"

#include <algorithm>

namespace horngate::tf {

Dims Layout::to_last() const {
  Dims perm{0};
  for (size_t i = 0; i < axes; ++i) perm.push_back(static_cast<int64_t>(i + 2));
  perm.push_back(1);
  return perm;
}

Dims Layout::to_first() const {
  Dims perm{0, static_cast<int64_t>(axes + 1)};
  for (size_t i = 0; i < axes; ++i) perm.push_back(static_cast<int64_t>(i + 1));
  return perm;
}

Dims Layout::widen(const Dims& v, int64_t missing) const {
  Dims r = v;
  if (axes == 1) r.insert(r.begin(), missing);
  return r;
}

Dims Layout::dims(const Dims& of_node) const {
  Dims r = of_node;
  if (channels_first) {
    const Dims perm = to_last();
    for (size_t i = 0; i < perm.size(); ++i) r[i] = of_node[static_cast<size_t>(perm[i])];
  }
  if (axes == 1) r.insert(r.begin() + 1, 1);
  return r;
}

Value Layout::data(Graph& g, const Value& x) const {
  const Value last = channels_first ? g.transpose(x, to_last()) : x;
  return g.reshape(last, dims(x.dims));
}

Value Layout::back(Graph& g, const Value& y, const Dims& of_node) const {
  Value v = y;
  if (axes == 1) {
    Dims d = y.dims;
    d.erase(d.begin() + 1);
    v = g.reshape(y, d);
  }
  v = channels_first ? g.transpose(v, to_first()) : v;
  v.dims = of_node;
  return v;
}

Margin margin_of(const Dims& n, const Dims& span, const Dims& strides, const Dims& low,
                 const Dims& high) {
  bool none = true, same = true;
  for (size_t i = 0; i < n.size(); ++i) {
    none &= low[i] == 0 && high[i] == 0;
    const int64_t windows = (n[i] + strides[i] - 1) / strides[i];
    const int64_t total = std::max<int64_t>((windows - 1) * strides[i] + span[i] - n[i], 0);
    same &= low[i] == total / 2 && high[i] == total - total / 2;
  }
  return none ? Margin::kNone : same ? Margin::kSame : Margin::kOther;
}

Dims framed(const Dims& v, int64_t with) {
  Dims r{with};
  r.insert(r.end(), v.begin(), v.end());
  r.push_back(with);
  return r;
}

}  // namespace horngate::tf
