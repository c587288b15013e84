// Operations of all ranks on arrays.
#include "horngate/distributed.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "comm/communicator.h"
#include "ir/check.h"
#include "ir/checked.h"

namespace horngate::distributed {
namespace {

using comm::Kind;

/// As operations take it.
Array operand(const char* function, const Array& x) {
  check(x.defined(), function, "x is an empty array.");
  check<TypeError>(!x.is_sparse(), function, "x must be dense; got a sparse array.");
  return x.contiguous();
}

comm::Reduction reduction_of(Reduce op) {
  switch (op) {
    case Reduce::min: return comm::Reduction::min;
    case Reduce::max: return comm::Reduction::max;
    case Reduce::prod: return comm::Reduction::prod;
    default: return comm::Reduction::sum;
  }
}

/// What an operation is to its caller: ranks that differ in it do different things.
std::string form_of(const char* what, const Array& x) {
  return text_of(what, *what ? " of " : "", x.dtype(), " ", x.shape());
}

const char* name_of(Reduce op) {
  constexpr const char* kNames[] = {"sum", "average", "min", "max", "prod"};
  return kNames[static_cast<int>(op)];
}

/// An operation from one array into another; both live as long as a library may touch them.
comm::Operation from_to(Kind kind, const Array& in, const Array& out, int64_t count,
                        const std::string& name = {}) {
  comm::Operation op;
  op.kind = kind;
  op.in = in.raw();
  op.out = out.raw();
  op.count = static_cast<size_t>(count);
  op.dtype = in.dtype();
  op.keep = std::make_shared<const std::pair<Array, Array>>(in, out);
  op.name = name;
  return op;
}

/// Divides in place.
template <class T>
void divide(const Array& a, int by) {
  std::for_each_n(a.data<T>(), a.size(), [&](T& v) { v /= static_cast<T>(by); });
}

/// The dimensions with another first one; for a scalar, that one alone.
Ints with_first(Ints dims, int64_t first) {
  if (dims.empty()) return {first};
  dims[0] = first;
  return dims;
}

/// The length of a rank's part of the first axis.
int64_t part_of(const char* function, const Array& x, int ranks) {
  check(x.ndim() > 0 && x.dims()[0] % ranks == 0, function,
        "the first axis of x must be divisible by the number of ranks, ", ranks, "; got shape ",
        x.shape(), ".");
  return x.dims()[0] / ranks;
}

Array reduce(const char* function, Kind kind, const Array& x, const ReduceOptions& options) {
  const bool is_mean = options.op == Reduce::average;
  check<TypeError>(!is_mean || is_float(x.dtype()), function, "the average needs floats; got ",
                   x.dtype(), ".");
  const auto c = comm::world();
  Array in = operand(function, x);
  // The sum of halves may be infinite where their mean is not.
  if (is_mean && in.dtype() != DType::float64) in = in.cast(DType::float32);
  const Ints dims = kind == Kind::reduce_scatter
                        ? with_first(in.dims(), part_of(function, in, c->ranks()))
                        : in.dims();
  const Array out(in.dtype(), dims);
  comm::Operation op = from_to(kind, in, out, out.size(), options.name);
  op.reduction = reduction_of(options.op);
  op.form = form_of(name_of(options.op), x);
  op.order = options.order;
  c->run(std::move(op));
  if (!is_mean) return out;
  if (out.dtype() == DType::float64)
    divide<double>(out, c->ranks());
  else
    divide<float>(out, c->ranks());
  return out.cast(x.dtype());
}

/// What ranks say about their arrays before they are gathered.
constexpr size_t kMostDims = 14;
struct Head {
  int64_t dtype = 0, ndim = 0;
  int64_t dims[kMostDims] = {};
};

std::string text_of_head(const Head& head) {
  const size_t n = static_cast<size_t>(head.ndim);
  return text_of(static_cast<DType>(head.dtype), " ", Shape(Ints(head.dims, head.dims + n)));
}

/// Those of all ranks, which differ in the first dimension at most.
std::vector<Head> heads_of_all(comm::Communicator& c, const Array& x, const std::string& name) {
  check(x.ndim() <= kMostDims, "all_gather", "x must have at most ", kMostDims, " dimensions; got ",
        x.ndim(), ".");
  Head own{static_cast<int64_t>(x.dtype()), static_cast<int64_t>(x.ndim())};
  std::copy(x.dims().begin(), x.dims().end(), own.dims);
  const auto ranks = static_cast<int64_t>(c.ranks());
  constexpr int64_t kWords = sizeof(Head) / sizeof(int64_t);
  const Array in(DType::int64, {kWords}), out(DType::int64, {ranks, kWords});
  std::memcpy(in.raw(), &own, sizeof own);
  c.run(from_to(Kind::all_gather, in, out, kWords, name));
  std::vector<Head> heads(static_cast<size_t>(ranks));
  std::memcpy(heads.data(), out.raw(), out.nbytes());
  for (size_t r = 1; r < heads.size(); ++r) {
    const Head &a = heads[0], &b = heads[r];
    const bool is_same = a.dtype == b.dtype && a.ndim == b.ndim &&
                         std::equal(a.dims + 1, a.dims + kMostDims, b.dims + 1);
    check(is_same, "all_gather", "arrays may differ only in their first dimension; ", c.name_of(0),
          " has ", text_of_head(a), ", ", c.name_of(static_cast<int>(r)), " has ", text_of_head(b),
          ".");
  }
  return heads;
}

}  // namespace

void init() { comm::world(); }
bool is_initialized() { return comm::has_world(); }
void shutdown() { comm::close_world(); }

int rank() { return comm::world()->rank(); }
int size() { return comm::world()->ranks(); }
int local_rank() { return comm::world()->local_rank(); }
int local_size() { return comm::world()->local_ranks(); }

std::string host(int rank) {
  const auto c = comm::world();
  check(rank >= 0 && rank < c->ranks(), "host", "rank must be in [0, ", c->ranks(), "); got ", rank,
        ".");
  return c->host(rank);
}

Array all_reduce(const Array& x, const ReduceOptions& options) {
  return reduce("all_reduce", Kind::all_reduce, x, options);
}

Array reduce_scatter(const Array& x, const ReduceOptions& options) {
  return reduce("reduce_scatter", Kind::reduce_scatter, x, options);
}

Array all_gather(const Array& x, const std::string& name) {
  const auto c = comm::world();
  Array in = operand("all_gather", x);
  const std::vector<Head> heads = heads_of_all(*c, in, name);
  if (in.ndim() == 0) in = in.reshape({1});
  const auto length = [&](const Head& head) { return head.ndim ? head.dims[0] : int64_t{1}; };
  int64_t total = 0, longest = 0;
  for (const Head& head : heads) {
    total = checked_add("all_gather", total, length(head));
    longest = std::max(longest, length(head));
  }
  // Parts travel with one length: shorter ones are filled up.
  const Array part = [&] {
    if (in.dims()[0] == longest) return in;
    const Array filled = Array::zeros(in.dtype(), with_first(in.dims(), longest));
    std::memcpy(filled.raw(), in.raw(), in.nbytes());
    return filled;
  }();
  const Ints dims = with_first(in.dims(), checked_mul("all_gather", longest, c->ranks()));
  const Array all(in.dtype(), dims);
  c->run(from_to(Kind::all_gather, part, all, part.size(), name));
  if (total == dims[0]) return all;
  const Array out(in.dtype(), with_first(dims, total));
  const size_t row = longest ? part.nbytes() / static_cast<size_t>(longest) : 0;
  char* to = static_cast<char*>(out.raw());
  for (size_t r = 0; r < heads.size(); ++r) {
    const size_t bytes = row * static_cast<size_t>(length(heads[r]));
    std::memcpy(to, static_cast<const char*>(all.raw()) + r * part.nbytes(), bytes);
    to += bytes;
  }
  return out;
}

Array all_to_all(const Array& x, const std::string& name) {
  const auto c = comm::world();
  const Array in = operand("all_to_all", x);
  part_of("all_to_all", in, c->ranks());
  const Array out(in.dtype(), in.dims());
  comm::Operation op = from_to(Kind::all_to_all, in, out, in.size() / c->ranks(), name);
  op.form = form_of("", in);
  c->run(std::move(op));
  return out;
}

Array broadcast(const Array& x, int root, const std::string& name) {
  const auto c = comm::world();
  const Array in = operand("broadcast", x), out = in.copy();
  comm::Operation op = from_to(Kind::broadcast, in, out, out.size(), name);
  op.root = root;
  op.form = form_of("", in);
  c->run(std::move(op));
  return out;
}

void broadcast_variables(const std::vector<Variable>& variables, int root) {
  const auto c = comm::world();
  std::vector<std::pair<Variable, Array>> set;
  std::vector<comm::Communicator::Ticket> under_way;
  const Arrays values = batch_get_value(variables);
  for (size_t i = 0; i < variables.size(); ++i) {
    set.emplace_back(variables[i], operand("broadcast_variables", values[i]).copy());
    comm::Operation op = from_to(Kind::broadcast, set[i].second, set[i].second, values[i].size());
    op.root = root;
    op.name = variables[i].name();
    under_way.push_back(c->start(std::move(op)));
  }
  for (const auto& ticket : under_way) c->wait(ticket);
  batch_set_value(set);
}

void barrier() { comm::world()->run(comm::Operation()); }

void give_up(const std::string& why) { comm::world()->give_up(why); }

void shrink() {
  const auto c = comm::world();
  check<RuntimeError>(c->is_broken(), "shrink", "no rank was lost, so there is nothing to shrink.");
  comm::set_world(c->shrink());
}

}  // namespace horngate::distributed
