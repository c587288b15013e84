// Building CNTK graphs.
#include "cntk/build.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace horngate::cntk {
namespace {

const std::wstring kNoName;

/// Runs a constructor of the library on our memory and takes over the result.
template <class T, class F>
T construct(F&& constructor) {
  alignas(T) unsigned char bytes[sizeof(T)];
  constructor(static_cast<void*>(bytes));
  T* made = reinterpret_cast<T*>(bytes);
  T copy = *made;
  made->~T();
  return copy;
}

}  // namespace

std::shared_ptr<unsigned char[]> aligned(size_t bytes) {
  auto* p = static_cast<unsigned char*>(::operator new(bytes ? bytes : 1, std::align_val_t{64}));
  return {p, [](unsigned char* q) { ::operator delete(q, std::align_val_t{64}); }};
}

int64_t count(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

NDShape reversed(const Dims& dims) { return {std::vector<size_t>(dims.rbegin(), dims.rend())}; }

Dims broadcast_dims(const Dims& a, const Dims& b) {
  Dims out(std::max(a.size(), b.size()), 1);
  const auto put = [&](const Dims& d) {
    for (size_t i = 0; i < d.size(); ++i)
      if (d[d.size() - 1 - i] != 1) out[out.size() - 1 - i] = d[d.size() - 1 - i];
  };
  put(a);
  put(b);
  return out;
}

std::vector<Dims> merge_axes(const Dims& out, std::vector<Dims> operands) {
  if (out.size() <= kMostAxes) return operands;
  std::vector<Dims> merged(operands.size());
  std::vector<bool> last;
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] == 1) continue;
    const auto at = [&](size_t k) {
      const size_t missing = out.size() - operands[k].size();
      return i < missing ? 1 : operands[k][i - missing];
    };
    std::vector<bool> repeats;
    for (size_t k = 0; k < operands.size(); ++k) repeats.push_back(at(k) == 1);
    const bool joins = repeats == last;
    for (size_t k = 0; k < operands.size(); ++k) {
      if (joins)
        merged[k].back() *= at(k);
      else
        merged[k].push_back(at(k));
    }
    last = repeats;
  }
  return merged;
}

ViewPtr make_view(const Library& l, DataType type, const NDShape& shape, void* data, size_t bytes,
                  bool read_only) {
  void* memory = ::operator new(sizeof(NDArrayView));
  try {
    l.make_view(memory, type, shape, data, bytes, Device{}, read_only);
  } catch (...) {
    ::operator delete(memory);
    throw;
  }
  return ViewPtr(static_cast<NDArrayView*>(memory), [drop = l.drop_view](NDArrayView* p) {
    drop(p);
    ::operator delete(p);
  });
}

ValuePtr make_value(const Library& l, const ViewPtr& view) {
  void* memory = ::operator new(sizeof(Value));
  try {
    l.make_value(memory, view);
  } catch (...) {
    ::operator delete(memory);
    throw;
  }
  return ValuePtr(static_cast<Value*>(memory), [drop = l.drop_value](Value* p) {
    drop(p);
    ::operator delete(p);
  });
}

Val Build::made(const FunctionPtr& function, DataType type, Dims dims) {
  ++size_;
  bytes_ += static_cast<size_t>(count(dims)) * size_of(type);
  return {construct<Variable>([&](void* at) { l_.variable_of(at, function); }), type,
          std::move(dims)};
}

Axis Build::axis(const Val& x, size_t row_major) const {
  const int index = static_cast<int>(x.rank() - 1 - row_major);
  return construct<Axis>([&](void* at) { l_.make_axis(at, index); });
}

Variable Build::variable(VariableKind kind, DataType type, const Dims& dims, const ViewPtr& data) {
  return construct<Variable>([&](void* at) {
    l_.make_variable(at, reversed(dims), kind, type, data, false, {}, false, kNoName,
                     l_.make_uid(kind));
  });
}

Val Build::input(DataType type, const Dims& dims, std::shared_ptr<unsigned char[]>& memory) {
  const size_t bytes = static_cast<size_t>(count(dims)) * size_of(type);
  memory = aligned(bytes);
  bytes_ += bytes;
  const ViewPtr view = make_view(l_, type, reversed(dims), memory.get(), bytes, false);
  Val out{variable(VariableKind::kParameter, type, dims, view), type, dims};
  out.is_leaf = true;
  return out;
}

Val Build::argument(DataType type, const Dims& dims) {
  return {variable(VariableKind::kInput, type, dims, nullptr), type, dims};
}

Val Build::constant(DataType type, const Dims& dims, const std::vector<double>& data) {
  const size_t bytes = data.size() * size_of(type);
  memory_.push_back(aligned(bytes));
  bytes_ += bytes;
  unsigned char* p = memory_.back().get();
  if (type == DataType::kFloat)
    std::copy(data.begin(), data.end(), reinterpret_cast<float*>(p));
  else
    std::copy(data.begin(), data.end(), reinterpret_cast<double*>(p));
  const ViewPtr view = make_view(l_, type, reversed(dims), p, bytes, true);
  Val out{variable(VariableKind::kConstant, type, dims, view), type, dims};
  out.is_constant = std::none_of(data.begin(), data.end(), [](double v) { return v != v; });
  if (out.is_constant) out.low = *std::min_element(data.begin(), data.end());
  out.is_leaf = true;
  out.never_zero = std::all_of(data.begin(), data.end(), [](double v) { return v != 0; });
  return out;
}

Val Build::scalar(DataType type, double value) {
  const auto key = std::make_pair(type, std::bit_cast<uint64_t>(value));
  const auto it = scalars_.find(key);
  return it != scalars_.end() ? it->second : scalars_[key] = constant(type, {}, {value});
}

Val Build::un(Un op, const Val& x) {
  return made(l_.unary[static_cast<int>(op)](x.v, kNoName), x.type, x.dims);
}

Val Build::bin(Bin op, const Val& a, const Val& b) {
  const Dims out = broadcast_dims(a.dims, b.dims);
  const auto d = merge_axes(out, {a.dims, b.dims});
  const Val x = reshape(a, d[0]), y = reshape(b, d[1]);
  return reshape(
      made(l_.binary[static_cast<int>(op)](x.v, y.v, kNoName), a.type, broadcast_dims(d[0], d[1])),
      out);
}

Val Build::select(const Val& condition, const Val& a, const Val& b) {
  const Dims out = broadcast_dims(condition.dims, broadcast_dims(a.dims, b.dims));
  const auto d = merge_axes(out, {condition.dims, a.dims, b.dims});
  const Val c = reshape(cast(condition, a.type), d[0]), x = reshape(a, d[1]), y = reshape(b, d[2]);
  return reshape(made(l_.select(c.v, x.v, y.v, kNoName), a.type,
                      broadcast_dims(d[0], broadcast_dims(d[1], d[2]))),
                 out);
}

Val Build::cast(const Val& x, DataType type) {
  return x.type == type ? x : made(l_.cast(x.v, type, kNoName), type, x.dims);
}

Val Build::reshape(const Val& x, const Dims& dims) {
  return x.dims == dims ? x : made(l_.reshape(x.v, reversed(dims), kNoName), x.type, dims);
}

Val Build::transpose(const Val& x, const std::vector<int64_t>& perm) {
  Dims dims;
  for (int64_t p : perm) dims.push_back(x.dims[static_cast<size_t>(p)]);
  // Drop axes of size 1, and merge axes that stay neighbours: the library takes few axes at a time.
  std::vector<std::vector<int64_t>> groups;
  for (int64_t p : perm) {
    if (x.dims[static_cast<size_t>(p)] == 1) continue;
    if (!groups.empty()) {
      int64_t next = groups.back().back() + 1;
      while (next < p && x.dims[static_cast<size_t>(next)] == 1) ++next;
      if (next == p) {
        groups.back().push_back(p);
        continue;
      }
    }
    groups.push_back({p});
  }
  if (groups.size() < 2) return reshape(x, dims);
  std::vector<size_t> order(groups.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return groups[a][0] < groups[b][0]; });
  Dims merged;
  std::vector<size_t> place(groups.size());
  for (size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    int64_t n = 1;
    for (int64_t p : groups[order[i]]) n *= x.dims[static_cast<size_t>(p)];
    merged.push_back(n);
  }
  const Val m = reshape(x, merged);
  std::vector<Axis> axes;  // in the library's order: fastest first
  Dims out;
  for (size_t i = groups.size(); i-- > 0;) axes.push_back(axis(m, place[i]));
  for (size_t i = 0; i < groups.size(); ++i) out.push_back(merged[place[i]]);
  return reshape(made(l_.transpose(m.v, axes, kNoName), x.type, out), dims);
}

Val Build::broadcast(const Val& x, const Dims& dims) {
  if (x.dims == dims) return x;
  if (count(x.dims) == count(dims)) return reshape(x, dims);
  return mul(x, constant(x.type, dims, std::vector<double>(static_cast<size_t>(count(dims)), 1)));
}

Val Build::slice(const Val& x, size_t at, int64_t start, int64_t stop, int64_t step) {
  Dims starts(x.rank(), 0), stops = x.dims, steps(x.rank(), 1);
  starts[at] = start;
  stops[at] = stop;
  steps[at] = step;
  return slices(x, starts, stops, steps);
}

Val Build::slices(const Val& x, const Dims& starts, const Dims& stops, const Dims& steps) {
  std::vector<Axis> axes;
  std::vector<int> from, to, by;
  Dims dims = x.dims;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (starts[i] == 0 && stops[i] == x.dims[i] && steps[i] == 1) continue;
    dims[i] = (stops[i] - starts[i] + steps[i] - 1) / steps[i];
    const bool one = dims[i] == 1;  // the library wants steps that fit into what is taken
    axes.push_back(axis(x, i));
    from.push_back(static_cast<int>(starts[i]));
    to.push_back(static_cast<int>(one ? starts[i] + 1 : stops[i]));
    by.push_back(one ? 1 : static_cast<int>(steps[i]));
  }
  return axes.empty() ? x : made(l_.slice(x.v, axes, from, to, by, kNoName), x.type, dims);
}

Val Build::reverse(const Val& x, size_t at) {
  if (x.dims[at] == 1) return x;
  return made(l_.slice(x.v, {axis(x, at)}, {0}, {static_cast<int>(x.dims[at])}, {-1}, kNoName),
              x.type, x.dims);
}

Val Build::concat(const std::vector<Val>& parts, size_t at) {
  if (parts.size() == 1) return parts[0];
  std::vector<Variable> all;
  Dims dims = parts[0].dims;
  dims[at] = 0;
  for (const Val& p : parts) {
    all.push_back(p.v);
    dims[at] += p.dims[at];
  }
  return made(l_.splice(all, axis(parts[0], at), kNoName), parts[0].type, dims);
}

Val Build::pad(const Val& x, const Dims& low, const Dims& high, double value) {
  Dims dims = x.dims;
  bool any = false;
  for (size_t i = 0; i < dims.size(); ++i) {
    dims[i] += low[i] + high[i];
    any |= low[i] || high[i];
  }
  if (!any) return x;
  return made(l_.pad(x.v, 0, std::vector<size_t>(low.rbegin(), low.rend()),
                     std::vector<size_t>(high.rbegin(), high.rend()), value, kNoName),
              x.type, dims);
}

Val Build::reduce(const wchar_t* op, const Val& x, const std::vector<int64_t>& axes) {
  Dims out = x.dims;
  for (int64_t a : axes) out[static_cast<size_t>(a)] = 1;
  if (out == x.dims) return x;
  // Merge neighbours that are all reduced or all kept, since the library reduces only two such axes at a time.
  Dims merged;
  std::vector<int64_t> gone;
  bool before = false;
  for (size_t i = 0; i < out.size(); ++i) {
    if (x.dims[i] == 1) continue;
    const bool reduced = out[i] == 1;
    if (!merged.empty() && reduced == before) {
      merged.back() *= x.dims[i];
    } else {
      if (reduced) gone.push_back(static_cast<int64_t>(merged.size()));
      merged.push_back(x.dims[i]);
    }
    before = reduced;
  }
  Val y = reshape(x, merged);
  while (!gone.empty()) {
    std::vector<Axis> two;
    Dims dims = y.dims;
    for (int i = 0; i < 2 && !gone.empty(); ++i, gone.pop_back()) {
      two.push_back(axis(y, static_cast<size_t>(gone.back())));
      dims[static_cast<size_t>(gone.back())] = 1;
    }
    y = made(l_.reduce(y.v, op, two, true, kNoName), x.type, dims);
  }
  return reshape(y, out);
}

Val Build::arg(bool largest, const Val& x, size_t at) {
  Dims dims = x.dims;
  dims[at] = 1;
  return made((largest ? l_.argmax : l_.argmin)(x.v, axis(x, at), kNoName), x.type, dims);
}

Val Build::gather(const Val& indices, const Val& x) {
  Dims dims = indices.dims;
  dims.insert(dims.end(), x.dims.begin() + 1, x.dims.end());
  return made(l_.gather(indices.v, x.v, axis(x, 0), kNoName), x.type, dims);
}

Val Build::one_hot(const Val& indices, int64_t n) {
  Dims dims = indices.dims;
  dims.push_back(n);
  Axis first = construct<Axis>([&](void* at) { l_.make_axis(at, 0); });
  return made(l_.one_hot(indices.v, static_cast<size_t>(n), false, first, kNoName), indices.type,
              dims);
}

Val Build::product(const Val& a, const Val& b, bool b_transposed) {
  const int64_t n = b.dims[b_transposed ? 0 : 1];
  // Column-major: the row-major product a b is the library's b a.
  return made(
      b_transposed ? l_.transpose_times(b.v, a.v, 1, kNoName) : l_.times(b.v, a.v, 1, -1, kNoName),
      a.type, {a.dims[0], n});
}

Val Build::batch_product(const Val& a, const Val& b) {
  // With a batch axis on both sides the library multiplies sample by sample; its own MatMul is 100 times slower.
  Val x = un(Un::kToBatch, a), y = un(Un::kToBatch, b);
  x.dims.erase(x.dims.begin());
  y.dims.erase(y.dims.begin());
  return reshape(un(Un::kUnpackBatch, product(x, y, false)), {a.dims[0], a.dims[1], b.dims[2]});
}

Val Build::conv(const Val& x, const Val& w, const Window& by, int64_t groups) {
  const size_t spatial = by.strides.size();
  Dims out{x.dims[0], w.dims[0]}, strides{x.dims[1]}, low{0}, high{0};
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t room = x.dims[2 + i] + by.low[i] + by.high[i] - w.dims[2 + i];
    out.push_back(room / by.strides[i] + 1);
    strides.push_back(by.strides[i]);
    low.push_back(by.low[i]);
    high.push_back(by.high[i]);
  }
  const Val batch = un(Un::kToBatch, x);
  const Val y = made(l_.convolution(w.v, batch.v, reversed(strides), {true}, reversed(low).dims,
                                    reversed(high).dims, {{1}}, false, {{0}},
                                    static_cast<size_t>(groups), 0, kNoName),
                     x.type, {});
  // UnpackBatch leaves the first dimension open; the new shape closes it.
  return reshape(un(Un::kUnpackBatch, y), out);
}

Val Build::pool(bool is_max, const Val& x, const Dims& window, const Window& by, const Dims& out) {
  const Val batch = un(Un::kToBatch, x);
  const Val y =
      made(l_.pooling(batch.v, is_max ? 0 : 1, reversed(window), reversed(by.strides),
                      reversed(by.low).dims, reversed(by.high).dims, false, false, kNoName),
           x.type, {});
  return reshape(un(Un::kUnpackBatch, y), out);
}

Val Build::unpool(const Val& dy, const Val& x, const Dims& window) {
  const Val a = un(Un::kToBatch, dy), b = un(Un::kToBatch, x);
  const Val y = made(l_.unpooling(a.v, b.v, 0, reversed(window), reversed(window),
                                  std::vector<bool>(window.size(), false), kNoName),
                     x.type, {});
  return reshape(un(Un::kUnpackBatch, y), x.dims);
}

FunctionPtr Build::combine(const std::vector<Val>& outputs) {
  std::vector<Variable> all;
  for (const Val& o : outputs) all.push_back(o.v);
  return l_.combine(all, kNoName);
}

}  // namespace horngate::cntk
