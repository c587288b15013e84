// dot_general: both operands become (batch, m, k) and (batch, k, n).
#include <algorithm>

#include "cntk/lower.h"

namespace horngate::cntk {
namespace {

Dims rest_of(const Dims& dims, const Dims& batch, const Dims& contract) {
  Dims out;
  for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i)
    if (std::find(batch.begin(), batch.end(), i) == batch.end() &&
        std::find(contract.begin(), contract.end(), i) == contract.end())
      out.push_back(i);
  return out;
}

int64_t size_of(const Val& x, const Dims& axes) {
  int64_t n = 1;
  for (int64_t a : axes) n *= x.dims[static_cast<size_t>(a)];
  return n;
}

Dims joined(Dims a, const Dims& b, const Dims& c) {
  a.insert(a.end(), b.begin(), b.end());
  a.insert(a.end(), c.begin(), c.end());
  return a;
}

bool in_order(const Dims& perm) { return std::is_sorted(perm.begin(), perm.end()); }

Val dot_general(const LowerCall& c) {
  Build& b = c.b;
  Val x = c.in(0), y = b.cast(c.in(1), c.in(0).type);
  if (bits_of(c.dtype()) == 8) {  // sums of products of bytes exceed what a float holds
    x = b.cast(x, DataType::kDouble);
    y = b.cast(y, DataType::kDouble);
  }
  const Dims batch_a = c.attrs.ints("batch_a"), batch_b = c.attrs.ints("batch_b");
  const Dims over_a = c.attrs.ints("contract_a"), over_b = c.attrs.ints("contract_b");
  const Dims free_a = rest_of(x.dims, batch_a, over_a), free_b = rest_of(y.dims, batch_b, over_b);
  const int64_t batch = size_of(x, batch_a), m = size_of(x, free_a), n = size_of(y, free_b),
                k = size_of(x, over_a);
  const auto real = [](int64_t v) { return static_cast<double>(v); };
  c.to.work = std::max(c.to.work, real(m) * real(n) * real(k));
  const Val left = b.transpose(x, joined(batch_a, free_a, over_a));
  Val out;
  if (batch == 1) {
    const Dims plain = joined(batch_b, over_b, free_b), turned = joined(batch_b, free_b, over_b);
    const bool turn = !in_order(plain) && in_order(turned);
    const Val right =
        b.reshape(b.transpose(y, turn ? turned : plain), turn ? Dims{n, k} : Dims{k, n});
    out = b.product(b.reshape(left, {m, k}), right, turn);
  } else {
    const Val right = b.transpose(y, joined(batch_b, over_b, free_b));
    out = b.batch_product(b.reshape(left, {batch, m, k}), b.reshape(right, {batch, k, n}));
  }
  out = b.reshape(b.cast(wrapped(b, out, c.out_dtype()), carrier(c.out_dtype())), c.out_dims());
  if (x.low >= 0 && y.low >= 0) out.low = 0;
  return out;
}

}  // namespace

void add_products(Table& t) { t["dot_general"] = {dot_general, {}, {}}; }

}  // namespace horngate::cntk
