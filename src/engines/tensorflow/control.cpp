// Loops and branches: scan is a While, cond an If. Bodies are functions, which TensorFlow inlines into the graph
// before it runs.
#include "lower.h"

namespace horngate::tf {
namespace {

constexpr const char* kInline = "_lower_using_switch_merge";

/// Makes a function from the graph that `fill` builds, with these parameters; returns its name.
template <class F>
std::string add_function(Graph& outer, const char* what, const Values& like, F&& fill) {
  Graph body;
  Values parameters;
  for (const Value& v : like) parameters.push_back(body.placeholder(v.type, v.dims));
  const Values results = fill(body, parameters);
  const std::string name = fresh_name(what);
  outer.add_function(body.to_function(name, parameters, results), body);
  return name;
}

/// The permutation that moves `axis` to the front, or back from there.
Dims to_front(size_t rank, int64_t axis) {
  Dims perm{axis};
  for (int64_t i = 0; i < static_cast<int64_t>(rank); ++i)
    if (i != axis) perm.push_back(i);
  return perm;
}
Dims from_front(size_t rank, int64_t axis) {
  Dims perm;
  for (int64_t i = 0; i < static_cast<int64_t>(rank); ++i)
    perm.push_back(i < axis ? i + 1 : i == axis ? 0 : i);
  return perm;
}

struct Scan {
  size_t n_x, n_c, n_y, n_captures;
  int64_t length;
  Dims x_axes, x_reversed, y_axes, y_reversed;

  explicit Scan(const Node& n)
      : n_x(static_cast<size_t>(n.number("xs"))),
        n_c(static_cast<size_t>(n.number("carries"))),
        n_y(static_cast<size_t>(n.number("ys"))),
        n_captures(n.n_in() - n_x - n_c),
        length(n.number("length")),
        x_axes(n.ints("x_axes")),
        x_reversed(n.ints("x_reversed")),
        y_axes(n.ints("y_axes")),
        y_reversed(n.ints("y_reversed")) {}

  Value position(Graph& g, const Value& step, bool reversed) const {
    if (!reversed) return step;
    return g.binary("Sub", g.integer(length - 1, kInt64), step);
  }
};

/// One step on the loop's variables: the step number, xs, carries, captures, lists of ys, and the stop if the
/// loop may take long.
Values step(Graph& g, const Scan& s, const hg_graph& body, const Values& now) {
  Values in;
  for (size_t i = 0; i < s.n_x; ++i)
    in.push_back(g.entry(now[1 + i], s.position(g, now[0], s.x_reversed[i])));
  const size_t carries = 1 + s.n_x, captures = carries + s.n_c, lists = captures + s.n_captures;
  in.insert(in.end(), now.begin() + static_cast<int64_t>(carries),
            now.begin() + static_cast<int64_t>(lists));
  in.push_back(now[0]);
  const Values made = lower_graph(g, body, in);
  Values next = now;
  const bool may_stop = now.size() > lists + s.n_y;
  if (may_stop) g.use_stop(now.back());
  next[0] = g.binary("AddV2", now[0], may_stop ? g.one_unless_stopped() : g.integer(1, kInt64));
  for (size_t i = 0; i < s.n_c; ++i) next[carries + i] = made[i];
  for (size_t i = 0; i < s.n_y; ++i) {
    const Value& y = made[s.n_c + i];
    next[lists + i] = g.op("TensorListSetItem")
                          .in(now[lists + i])
                          .in(g.cast(s.position(g, now[0], s.y_reversed[i]), kInt32))
                          .in(y)
                          .type("element_dtype", y.type)
                          .value(kVariant, {});
  }
  return next;
}

void scan(LowerCall& c) {
  Graph& g = c.graph;
  const Scan s(c.node);
  const hg_graph& body = c.node.body(0);
  if (s.length == 0) {
    for (size_t i = 0; i < s.n_c; ++i) c.give(c.in[s.n_x + i]);
    for (uint32_t i = 0; i < s.n_y; ++i) {
      const auto k = static_cast<uint32_t>(s.n_c) + i;
      c.give(g.zeros(c.out_type(k), c.node.out_dims(k)));
    }
    return;
  }
  Values now{g.integer(0, kInt64)};
  for (size_t i = 0; i < s.n_x; ++i)
    now.push_back(g.transpose(c.in[i], to_front(c.in[i].rank(), s.x_axes[i])));
  now.insert(now.end(), c.in.begin() + static_cast<int64_t>(s.n_x), c.in.end());
  const size_t lists = now.size();
  for (size_t i = 0; i < s.n_y; ++i) {
    const hg_type& t = *body.value[body.out[s.n_c + i]];
    now.push_back(g.op("TensorListReserve")
                      .in(g.ints(Node::dims_of(t), kInt64))
                      .in(g.integer(s.length))
                      .type("element_dtype", type_of(t.dtype))
                      .type("shape_type", kInt64)
                      .value(kVariant, {}));
  }
  if (g.has_stop() && cost_of(body) * static_cast<double>(s.length) > kMuchWork)
    now.push_back(g.stop());
  const std::string more = add_function(g, "more", now, [&](Graph& f, const Values& v) {
    return Values{f.compare("Less", v[0], f.integer(s.length, kInt64))};
  });
  const std::string once =
      add_function(g, "step", now, [&](Graph& f, const Values& v) { return step(f, s, body, v); });
  COperation* loop = g.op("StatelessWhile")
                         .list(now)
                         .types("T", now)
                         .function("cond", more)
                         .function("body", once)
                         .flag(kInline, true)
                         .finish();
  for (size_t i = 0; i < s.n_c; ++i) {
    const size_t at = 1 + s.n_x + i;
    c.give({{loop, static_cast<int>(at)}, now[at].type, now[at].dims});
  }
  for (size_t i = 0; i < s.n_y; ++i) {
    const auto k = static_cast<uint32_t>(s.n_c + i);
    const Dims dims = c.node.out_dims(k), front = to_front(dims.size(), s.y_axes[i]);
    Dims stacked;
    for (int64_t a : front) stacked.push_back(dims[static_cast<size_t>(a)]);
    const Value all = g.op("TensorListStack")
                          .in({{loop, static_cast<int>(lists + i)}, kVariant, {}})
                          .in(g.ints(Dims(stacked.begin() + 1, stacked.end())))
                          .type("element_dtype", c.out_type(k))
                          .number("num_elements", s.length)
                          .value(c.out_type(k), stacked);
    c.give(g.transpose(all, from_front(dims.size(), s.y_axes[i])));
  }
}

void cond(LowerCall& c) {
  Graph& g = c.graph;
  const hg_graph &then_body = c.node.body(0), &else_body = c.node.body(1);
  const Values captures(c.in.begin() + 1, c.in.end());
  // Both branches get the captures of both.
  const auto branch = [&](const char* what, const hg_graph& body, size_t first) {
    return add_function(g, what, captures, [&](Graph& f, const Values& v) {
      const auto begin = v.begin() + static_cast<int64_t>(first);
      return lower_graph(f, body, Values(begin, begin + body.n_in));
    });
  };
  const std::string then_name = branch("then", then_body, 0);
  const std::string else_name = branch("else", else_body, then_body.n_in);
  Values results;
  for (uint32_t i = 0; i < c.node.n_out(); ++i)
    results.push_back({{}, c.out_type(i), c.node.out_dims(i)});
  COperation* made = g.op("StatelessIf")
                         .in(c.in[0])
                         .list(captures)
                         .type("Tcond", kBool)
                         .types("Tin", captures)
                         .types("Tout", results)
                         .function("then_branch", then_name)
                         .function("else_branch", else_name)
                         .flag(kInline, true)
                         .finish();
  for (size_t i = 0; i < results.size(); ++i) {
    results[i].out = {made, static_cast<int>(i)};
    c.give(results[i]);
  }
}

}  // namespace

Lowerings control_lowerings() {
  static constexpr Lowering kTable[] = {{"scan", scan}, {"cond", cond}};
  return kTable;
}

}  // namespace horngate::tf
