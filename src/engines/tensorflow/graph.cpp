// Graph: a TensorFlow graph under construction, and the operations that lowerings are made of.
#include "graph.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "../common/long_sums.h"

namespace horngate::tf {

Dims broadcast_dims(const Dims& a, const Dims& b) {
  Dims r(std::max(a.size(), b.size()), 1);
  const auto put = [&](const Dims& d) {
    for (size_t i = 0; i < d.size(); ++i) {
      int64_t& to = r[r.size() - d.size() + i];
      if (d[i] != 1) to = d[i];
    }
  };
  put(a);
  put(b);
  return r;
}

std::string fresh_name(const char* what) {
  static std::atomic<uint64_t> next{0};
  return std::string("horngate_") + what + "_" + std::to_string(next++);
}

Graph::Graph() : graph_(api().NewGraph()) {}
Graph::~Graph() { api().DeleteGraph(graph_); }

Graph::Op::Op(Graph& graph, const char* type, const std::string& name)
    : graph_(graph), description_(api().NewOperation(graph.graph_, type, name.c_str())), op_(type) {
  if (graph.waits_) after(graph.checks_.back());
}
Graph::Op& Graph::Op::in(const Value& v) {
  api().AddInput(description_, v.out);
  return *this;
}
Graph::Op& Graph::Op::list(const Values& vs) {
  std::vector<COutput> outs;
  for (const Value& v : vs) outs.push_back(v.out);
  api().AddInputList(description_, outs.data(), static_cast<int>(outs.size()));
  return *this;
}
Graph::Op& Graph::Op::type(const char* key, Type v) {
  api().SetAttrType(description_, key, v);
  return *this;
}
Graph::Op& Graph::Op::types(const char* key, const Values& vs) {
  std::vector<Type> types;
  for (const Value& v : vs) types.push_back(v.type);
  api().SetAttrTypeList(description_, key, types.data(), static_cast<int>(types.size()));
  return *this;
}
Graph::Op& Graph::Op::shape(const char* key, const Dims& v) {
  api().SetAttrShape(description_, key, v.data(), static_cast<int>(v.size()));
  return *this;
}
Graph::Op& Graph::Op::number(const char* key, int64_t v) {
  api().SetAttrInt(description_, key, v);
  return *this;
}
Graph::Op& Graph::Op::numbers(const char* key, const Dims& v) {
  api().SetAttrIntList(description_, key, v.data(), static_cast<int>(v.size()));
  return *this;
}
Graph::Op& Graph::Op::flag(const char* key, bool v) {
  api().SetAttrBool(description_, key, v);
  return *this;
}
Graph::Op& Graph::Op::real(const char* key, double v) {
  api().SetAttrFloat(description_, key, static_cast<float>(v));
  return *this;
}
Graph::Op& Graph::Op::text(const char* key, const std::string& v) {
  api().SetAttrString(description_, key, v.data(), v.size());
  return *this;
}
Graph::Op& Graph::Op::function(const char* key, const std::string& name) {
  api().SetAttrFuncName(description_, key, name.data(), name.size());
  return *this;
}
Graph::Op& Graph::Op::after(COperation* op) {
  api().AddControlInput(description_, op);
  return *this;
}
COperation* Graph::Op::finish() {
  Status status;
  COperation* made = api().FinishOperation(description_, status);
  status.check(op_);
  return made;
}
Value Graph::Op::value(Type type, Dims dims) { return {{finish(), 0}, type, std::move(dims)}; }

Graph::Op Graph::op(const char* type) {
  return Op(*this, type, type + ("_" + std::to_string(next_++)));
}

Graph::Op Graph::op_at(const char* type, Site site) {
  const std::string name = fresh_name("site");
  sites_[name] = std::move(site);
  return Op(*this, type, name);
}

const Site* Graph::site_in(const std::string& message) const {
  const size_t at = message.find("horngate_site_");
  if (at == std::string::npos) return nullptr;
  const size_t end = message.find_first_not_of("0123456789", at + std::strlen("horngate_site_"));
  const auto it = sites_.find(message.substr(at, end - at));
  return it == sites_.end() ? nullptr : &it->second;
}

Value Graph::placeholder(Type type, const Dims& dims) {
  return op("Placeholder").type("dtype", type).shape("shape", dims).value(type, dims);
}

Value Graph::constant(Type type, const Dims& dims, const void* data) {
  const size_t bytes = static_cast<size_t>(count(dims)) * size_of(type);
  std::string key;
  if (bytes <= 256) {  // sizes and axes occur again and again
    key = std::to_string(type);
    for (int64_t d : dims) key += "," + std::to_string(d);
    key += ":" + std::string(static_cast<const char*>(data), bytes);
    if (const auto it = small_constants_.find(key); it != small_constants_.end()) return it->second;
  }
  CTensor* tensor = api().AllocateTensor(type, dims.data(), static_cast<int>(dims.size()), bytes);
  if (!tensor) throw Error(HG_RUNTIME_ERROR, "engine tensorflow: out of memory.");
  if (bytes) std::memcpy(api().TensorData(tensor), data, bytes);
  constant_bytes_ += bytes;
  Op o = op("Const");
  Status status;
  api().SetAttrTensor(o.description_, "value", tensor, status);
  api().DeleteTensor(tensor);
  status.check("Const");
  const Value v = o.type("dtype", type).value(type, dims);
  if (!key.empty()) small_constants_.emplace(std::move(key), v);
  return v;
}

Value Graph::zeros(Type type, const Dims& dims) {
  const size_t bytes = static_cast<size_t>(count(dims)) * size_of(type);
  if (bytes <= 4096) return constant(type, dims, std::vector<char>(bytes + 1, 0).data());
  return broadcast(scalar(type, 0), dims);
}

Value Graph::scalar(Type type, double v) {
  switch (type) {
    case kDouble: return constant(type, {}, &v);
    case kFloat: {
      const auto f = static_cast<float>(v);
      return constant(type, {}, &f);
    }
    case kInt64: {
      const int64_t i = v >= 0x1p63 ? INT64_MAX : static_cast<int64_t>(v);
      return constant(type, {}, &i);
    }
    case kInt32: {
      const auto i = static_cast<int32_t>(v);
      return constant(type, {}, &i);
    }
    case kUint64: {
      const uint64_t i = v >= 0x1p64 ? UINT64_MAX : static_cast<uint64_t>(v);
      return constant(type, {}, &i);
    }
    case kBool: {
      const bool b = v != 0;
      return constant(type, {}, &b);
    }
    default: return cast(scalar(is_float(type) ? kFloat : kInt64, v), type);
  }
}

Value Graph::ints(const Dims& v, Type type) {
  const Dims dims{static_cast<int64_t>(v.size())};
  if (type == kInt64) return constant(type, dims, v.data());
  const std::vector<int32_t> narrow(v.begin(), v.end());
  return constant(kInt32, dims, narrow.data());
}

Value Graph::integer(int64_t v, Type type) {
  if (type == kInt64) return constant(type, {}, &v);
  const auto narrow = static_cast<int32_t>(v);
  return constant(kInt32, {}, &narrow);
}

Value Graph::sizes(const Dims& v, const Value& like) {
  if (v[0] >= 0) return ints(v);
  const Value all = op("Shape")
                        .in(like)
                        .type("T", like.type)
                        .type("out_type", kInt32)
                        .value(kInt32, {static_cast<int64_t>(like.rank())});
  return concat({slice(all, {0}, {1}, {1}), ints(Dims(v.begin() + 1, v.end()))}, 0);
}

Value Graph::identity(const Value& x) {
  return op("Identity").in(x).type("T", x.type).value(x.type, x.dims);
}

Value Graph::cast(const Value& x, Type type) {
  if (x.type == type) return x;
  return op("Cast").in(x).type("SrcT", x.type).type("DstT", type).value(type, x.dims);
}

Value Graph::unary(const char* name, const Value& x) {
  const Type t = kernel_type(name, x.type);
  return cast(op(name).in(cast(x, t)).type("T", t).value(t, x.dims), x.type);
}

Value Graph::binary(const char* name, const Value& a, const Value& b) {
  const Type t = kernel_type(name, a.type);
  const Dims dims = broadcast_dims(a.dims, b.dims);
  return cast(op(name).in(cast(a, t)).in(cast(b, t)).type("T", t).value(t, dims), a.type);
}

Value Graph::compare(const char* name, const Value& a, const Value& b) {
  const Type t = kernel_type(name, a.type);
  const Dims dims = broadcast_dims(a.dims, b.dims);
  return op(name).in(cast(a, t)).in(cast(b, t)).type("T", t).value(kBool, dims);
}

Value Graph::select(const Value& condition, const Value& a, const Value& b) {
  return op("SelectV2")
      .in(condition)
      .in(a)
      .in(b)
      .type("T", a.type)
      .value(a.type, broadcast_dims(condition.dims, broadcast_dims(a.dims, b.dims)));
}

Value Graph::reduce(const char* name, const Value& x, const Dims& axes, bool keepdims) {
  const bool is_logical = x.type == kBool;  // Any and All have no type attribute
  const Type t = is_logical ? kBool : kernel_type(name, wide_type(x.type));
  Dims dims;
  for (size_t i = 0; i < x.rank(); ++i) {
    const bool gone = std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) != axes.end();
    if (!gone || keepdims) dims.push_back(gone ? 1 : x.dims[i]);
  }
  Op o = op(name).in(cast(x, t)).in(ints(axes)).type("Tidx", kInt32).flag("keep_dims", keepdims);
  if (!is_logical) o.type("T", t);
  return cast(o.value(t, dims), x.type);
}

/// Along one axis, which is kept with size 1: sums of about sqrt(n) elements, then the sum of those.
Value Graph::long_sum(const Value& x, size_t axis) {
  const int64_t n = x.dims[axis], at = static_cast<int64_t>(axis);
  const int64_t part = engines::part_of_sum(n), left = n % part;
  const Dims ones(x.rank(), 1);
  Dims starts(x.rank(), 0), counts = x.dims, apart = x.dims;
  counts[axis] = n - left;
  apart[axis] = n / part;
  apart.insert(apart.begin() + at + 1, part);
  const Value whole = reshape(slice(x, starts, counts, ones), apart);
  const Value sum = reduce("Sum", reduce("Sum", whole, {at + 1}, false), {at}, true);
  if (left == 0) return sum;
  starts[axis] = counts[axis];
  counts[axis] = left;
  return binary("AddV2", sum, reduce("Sum", slice(x, starts, counts, ones), {at}, true));
}

bool is_long_sum(const Dims& dims, const Dims& axes) {
  constexpr int64_t kUsual = 64;  // assumed for open sizes
  int64_t n = 1;
  size_t several = 0;
  bool has_open = false;
  for (int64_t a : axes) {
    const int64_t size = dims[static_cast<size_t>(a)];
    n *= size < 0 ? kUsual : size;
    several += size != 1;
    has_open |= size < 0;
  }
  // A single axis cannot be cut if its size is open.
  return n >= engines::kLongSum && (several > 1 || !has_open);
}

Value Graph::sum(const Value& x, const Dims& axes, bool keepdims) {
  if (!is_float(x.type) || count(x.dims) == 0 || !is_long_sum(x.dims, axes))
    return reduce("Sum", x, axes, keepdims);
  const bool can_reshape = std::count(x.dims.begin(), x.dims.end(), -1) <= 1;
  // The last axis first, which leaves the least; each separately, so that they are sums of sums.
  Value v = cast(x, wide_type(x.type));
  for (auto a = axes.rbegin(); a != axes.rend(); ++a) {
    const int64_t size = v.dims[static_cast<size_t>(*a)];
    if (size >= engines::kLongSum && can_reshape)
      v = long_sum(v, static_cast<size_t>(*a));
    else if (size != 1)
      v = reduce("Sum", v, {*a}, true);
  }
  v = cast(v, x.type);
  if (keepdims) return v;
  if (!can_reshape) return reduce("Sum", v, axes, false);
  Dims left;
  for (size_t i = 0; i < v.rank(); ++i)
    if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) == axes.end())
      left.push_back(v.dims[i]);
  return reshape(v, left);
}

Value Graph::reshape(const Value& x, const Dims& dims) {
  if (x.dims == dims) return x;
  return op("Reshape")
      .in(x)
      .in(ints(dims, kInt64))
      .type("T", x.type)
      .type("Tshape", kInt64)
      .value(x.type, dims);
}

Value Graph::reshape(const Value& x, const Value& shape, const Dims& dims) {
  return op("Reshape").in(x).in(shape).type("T", x.type).type("Tshape", kInt64).value(x.type, dims);
}

/// By way of an operation that handles every pattern of axes.
Value Graph::broadcast(const Value& x, const Value& shape, const Dims& dims) {
  const bool yes = true;
  const Value all = op("Fill")
                        .in(shape)
                        .in(constant(kBool, {}, &yes))
                        .type("T", kBool)
                        .type("index_type", kInt64)
                        .value(kBool, dims);
  return select(all, x, x);
}

/// TensorFlow can repeat at most two axes with others between them.
Value Graph::broadcast(const Value& x, const Dims& dims) {
  if (x.dims == dims) return x;
  // Merge neighbouring axes that are all repeated, or all not.
  Dims from, to;
  for (size_t i = 0; i < dims.size(); ++i) {
    const bool is_new = i + x.rank() < dims.size();
    const int64_t n = is_new ? 1 : x.dims[i + x.rank() - dims.size()];
    const bool repeats = n != dims[i];
    if (dims[i] == 1) continue;
    if (!from.empty() && (from.back() != to.back()) == repeats) {
      from.back() *= n;
      to.back() *= dims[i];
    } else {
      from.push_back(n);
      to.push_back(dims[i]);
    }
  }
  Value v = reshape(x, from);
  for (size_t i = from.size(); v.dims != to;) {
    Dims now = v.dims;
    for (int repeated = 0; i > 0 && repeated < 2; --i) {
      repeated += now[i - 1] != to[i - 1];
      now[i - 1] = to[i - 1];
    }
    v = op("BroadcastTo")
            .in(v)
            .in(ints(now, kInt64))
            .type("T", v.type)
            .type("Tidx", kInt64)
            .value(v.type, now);
  }
  return reshape(v, dims);
}

Value Graph::transpose(const Value& x, const Dims& perm) {
  Dims dims;
  bool is_same = true;
  for (size_t i = 0; i < perm.size(); ++i) {
    dims.push_back(x.dims[static_cast<size_t>(perm[i])]);
    is_same &= perm[i] == static_cast<int64_t>(i);
  }
  if (is_same) return x;
  return op("Transpose")
      .in(x)
      .in(ints(perm))
      .type("T", x.type)
      .type("Tperm", kInt32)
      .value(x.type, dims);
}

Value Graph::concat(const Values& parts, int64_t axis) {
  if (parts.size() == 1) return parts[0];
  Dims dims = parts[0].dims;
  int64_t& sum = dims[static_cast<size_t>(axis)];
  for (size_t i = 1; i < parts.size(); ++i) {
    const int64_t more = parts[i].dims[static_cast<size_t>(axis)];
    sum = sum < 0 || more < 0 ? -1 : sum + more;
  }
  const Type t = parts[0].type;
  return op("ConcatV2")
      .list(parts)
      .in(integer(axis))
      .number("N", static_cast<int64_t>(parts.size()))
      .type("T", t)
      .type("Tidx", kInt32)
      .value(t, dims);
}

Value Graph::slice(const Value& x, const Dims& starts, const Dims& counts, const Dims& steps) {
  Dims stops;
  int64_t to_end = 0;
  bool is_whole = true;
  for (size_t i = 0; i < x.rank(); ++i) {
    stops.push_back(counts[i] < 0 ? -1 : starts[i] + counts[i] * steps[i]);
    if (stops.back() < 0) {  // to the end, or going down past the first element
      to_end |= int64_t{1} << i;
      stops.back() = 0;
    }
    is_whole &= starts[i] == 0 && counts[i] == x.dims[i] && steps[i] == 1;
  }
  if (is_whole) return x;
  return op("StridedSlice")
      .in(x)
      .in(ints(starts, kInt64))
      .in(ints(stops, kInt64))
      .in(ints(steps, kInt64))
      .type("T", x.type)
      .type("Index", kInt64)
      .number("end_mask", to_end)
      .value(x.type, counts);
}

Value Graph::pad(const Value& x, const Dims& low, const Dims& high, const Value& value) {
  Dims dims = x.dims, margins;
  bool some = false;
  for (size_t i = 0; i < x.rank(); ++i) {
    if (dims[i] >= 0) dims[i] += low[i] + high[i];
    some |= low[i] != 0 || high[i] != 0;
    margins.push_back(low[i]);
    margins.push_back(high[i]);
  }
  if (!some) return x;
  const Value at = constant(kInt64, {static_cast<int64_t>(x.rank()), 2}, margins.data());
  return op("PadV2")
      .in(x)
      .in(at)
      .in(value)
      .type("T", x.type)
      .type("Tpaddings", kInt64)
      .value(x.type, dims);
}

Value Graph::entry(const Value& x, const Value& index) {
  return op("GatherV2")
      .in(x)
      .in(index)
      .in(integer(0))
      .type("Tparams", x.type)
      .type("Tindices", index.type)
      .type("Taxis", kInt32)
      .value(x.type, Dims(x.dims.begin() + 1, x.dims.end()));
}

Value Graph::one_unless_stopped() {
  // Any other index than 0 is an error.
  return entry(ints({1}, kInt64), stop_);
}

void Graph::begin_work(double cost) { waits_ = cost > kMuchWork / 100 && !checks_.empty(); }

void Graph::end_work(double cost, const Value& result) {
  waits_ = false;
  cost_ += cost;
  if (!has_stop() || cost_ < kMuchWork) return;
  cost_ = 0;
  checks_.push_back(op("GatherV2")
                        .in(ints({1}, kInt64))
                        .in(stop_)
                        .in(integer(0))
                        .type("Tparams", kInt64)
                        .type("Tindices", kInt32)
                        .type("Taxis", kInt32)
                        .after(result.out.op)
                        .finish());
}

CFunction* Graph::to_function(const std::string& name, const Values& in, const Values& out) const {
  std::vector<COutput> ins, outs;
  for (const Value& v : in) ins.push_back(v.out);
  for (const Value& v : out) outs.push_back(v.out);
  Status status;
  CFunction* f = api().GraphToFunction(
      graph_, name.c_str(), 0, -1, nullptr, static_cast<int>(ins.size()), ins.data(),
      static_cast<int>(outs.size()), outs.data(), nullptr, nullptr, nullptr, status);
  status.check("function");
  return f;
}

void Graph::add_function(CFunction* function, const Graph& body) {
  const auto add = [&](std::shared_ptr<CFunction> f) {
    Status status;
    api().GraphCopyFunction(graph_, f.get(), nullptr, status);
    functions_.push_back(std::move(f));
    status.check("function");
  };
  std::shared_ptr<CFunction> own(function, api().DeleteFunction);
  for (const auto& f : body.functions_) add(f);
  add(std::move(own));
  sites_.insert(body.sites_.begin(), body.sites_.end());
}

}  // namespace horngate::tf
