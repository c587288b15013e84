// Channels-last data inside a graph that a user wrote channels_first. Convolutions and pools make
// channels-last values; whatever can work on such a value directly does so, and whatever cannot gets
// a transposed copy. So values may have two forms: `first`, as in the graph, and `last`, with axis 1
// moved to the end.
#include "engines/native/layout.h"

#include <algorithm>

#include "passes/passes.h"
#include "passes/rewriter.h"

namespace horngate::native {
namespace {

// Copies made here go through memory; those inside kernels stay in the cache.
constexpr int64_t kCopyCost = 4;

bool is_channels_first(const GraphNode& n) {
  switch (n.prim) {
    case Prim::conv: return n.as<attrs::conv>().channels_first;
    case Prim::conv_input_grad: return n.as<attrs::conv_input_grad>().channels_first;
    case Prim::conv_filter_grad: return n.as<attrs::conv_filter_grad>().channels_first;
    case Prim::pool: return n.as<attrs::pool>().channels_first;
    case Prim::pool_grad: return n.as<attrs::pool_grad>().channels_first;
    default: return false;
  }
}

/// Axis i of the last form is axis to_last(rank)[i] of the first; to_first is the inverse.
Ints to_last(size_t rank) {
  Ints perm{0};
  for (size_t i = 2; i < rank; ++i) perm.push_back(static_cast<int64_t>(i));
  perm.push_back(1);
  return perm;
}
Ints to_first(size_t rank) {
  Ints perm{0, static_cast<int64_t>(rank) - 1};
  for (size_t i = 2; i < rank; ++i) perm.push_back(static_cast<int64_t>(i) - 1);
  return perm;
}
int64_t last_axis_of(int64_t axis, size_t rank) {
  return to_first(rank)[static_cast<size_t>(axis)];
}

Ints permuted(const Ints& dims, const Ints& perm) {
  Ints r;
  for (int64_t axis : perm) r.push_back(dims[static_cast<size_t>(axis)]);
  return r;
}

/// Whether permuting the axes leaves the elements in place.
bool keeps_order(const Ints& dims, const Ints& perm) {
  int64_t before = -1;
  for (int64_t axis : perm) {
    if (dims[static_cast<size_t>(axis)] == 1) continue;
    if (axis < before) return false;
    before = axis;
  }
  return true;
}

template <class A>
AttrRef without_channels_first(const GraphNode& n) {
  A a = n.as<A>();
  a.channels_first = false;
  if constexpr (A::kPrim == Prim::conv_input_grad)
    a.shape = permuted(a.shape, to_last(a.shape.size()));
  return AttrRef(new AttrsOf<A>(std::move(a)));
}

class Layout {
 public:
  explicit Layout(const Graph& g)
      : g_(g),
        first_(g.values.size(), kNoValue),
        last_(g.values.size(), kNoValue),
        is_last_(g.values.size(), 0),
        maker_(g.values.size(), -1) {}

  std::optional<Graph> run() {
    to_.reserve(g_);
    for (ValueId v : g_.inputs) first_[v] = to_.input(g_.values[v]);
    for (size_t i = 0; i < g_.nodes.size(); ++i) {
      for (ValueId v : g_.nodes[i].out) maker_[v] = static_cast<int32_t>(i);
      visit(g_.nodes[i]);
    }
    std::vector<ValueId> outputs;
    for (ValueId v : g_.outputs) outputs.push_back(first(v));
    if (kCopyCost * copied_ >= copied_before_) return std::nullopt;
    Graph made = remove_dead(to_.finish(std::move(outputs)));
    made.in_place = g_.in_place;
    made.stable = g_.stable;
    return made;
  }

 private:
  const Ints& dims(ValueId v) const { return g_.values[v].shape.dims(); }
  size_t rank(ValueId v) const { return g_.values[v].shape.ndim(); }

  /// v of the new graph with its axes permuted.
  ValueId move(ValueId v, const Ints& perm) {
    const Ints before = to_.type(v).shape.dims();
    if (keeps_order(before, perm))
      return to_.emit(attrs::reshape{.shape = permuted(before, perm)}, {v});
    copied_ += count_of(before);
    return to_.emit(attrs::transpose{.perm = perm}, {v});
  }

  ValueId first(ValueId v) {
    if (first_[v] == kNoValue) first_[v] = move(last_[v], to_first(rank(v)));
    return first_[v];
  }

  ValueId last(ValueId v) {
    if (last_[v] != kNoValue) return last_[v];
    const GraphNode* from = maker_[v] < 0 ? nullptr : &g_.nodes[static_cast<size_t>(maker_[v])];
    if (from && from->prim == Prim::broadcast)
      last_[v] = to_.emit(attrs::broadcast{.shape = permuted(dims(v), to_last(rank(v)))},
                          {spread(from->in[0], rank(v))});
    else
      last_[v] = move(first_[v], to_last(rank(v)));
    return last_[v];
  }

  /// v as an operand of an element-wise node that makes the last form of a value of that rank.
  ValueId spread(ValueId v, size_t to_rank) {
    if (rank(v) == to_rank) return last(v);
    const ValueId x = first(v);
    if (count_of(dims(v)) == 1) return x;
    Ints padded(to_rank - rank(v), 1);
    for (int64_t d : dims(v)) padded.push_back(d);
    return move(to_.emit(attrs::reshape{.shape = padded}, {x}), to_last(to_rank));
  }

  static int64_t count_of(const Ints& dims) {
    int64_t n = 1;
    for (int64_t d : dims) n *= d;
    return n;
  }

  enum class Form : uint8_t { first, last };

  /// Emits `n` with other operands; `forms` are those of its results.
  void emit(const GraphNode& n, SmallVec<ValueId, 4> in, AttrRef attrs,
            std::initializer_list<Form> forms) {
    GraphNode made = n;
    made.in = std::move(in);
    made.attrs = std::move(attrs);
    Types types;
    size_t i = 0;
    for (Form form : forms) {
      TensorType type = g_.values[n.out[i++]];
      if (form == Form::last)
        type.shape = Shape(permuted(type.shape.dims(), to_last(type.shape.ndim())));
      types.push_back(std::move(type));
    }
    const SmallVec<ValueId, 1> out = to_.emit(std::move(made), types);
    i = 0;
    for (Form form : forms) {
      (form == Form::last ? last_ : first_)[n.out[i]] = out[i];
      is_last_[n.out[i]] = form == Form::last;
      ++i;
    }
  }

  void visit(const GraphNode& n) {
    if (is_channels_first(n)) return visit_images(n);
    switch (n.prim) {
      case Prim::batch_norm:
        if (is_last_[n.in[0]] && keeps_kept(n.in[0], n.as<attrs::batch_norm>().axes))
          return emit(n, {last(n.in[0]), first(n.in[1]), first(n.in[2])}, with_axes(n, "axes"),
                      {Form::last, Form::first, Form::first});
        break;
      case Prim::batch_norm_grad:
        if ((is_last_[n.in[0]] || is_last_[n.in[4]]) &&
            keeps_kept(n.in[0], n.as<attrs::batch_norm_grad>().axes))
          return emit(
              n, {last(n.in[0]), first(n.in[1]), first(n.in[2]), first(n.in[3]), last(n.in[4])},
              with_axes(n, "axes"), {Form::last, Form::first, Form::first});
        break;
      case Prim::pad:
        if (is_last_[n.in[0]]) return visit_pad(n);
        break;
      case Prim::slice:
        if (is_last_[n.in[0]] && n.in.size() == 1) return visit_slice(n);
        break;
      case Prim::concat:
        if (any_last(n, rank(n.out[0]))) return visit_concat(n);
        break;
      case Prim::stop_gradient:
        if (is_last_[n.in[0]]) return emit(n, {last(n.in[0])}, n.attrs, {Form::last});
        break;
      default:
        if (primitive(n.prim).how == How::reduction && visit_reduction(n)) return;
        if (primitive(n.prim).how == How::elementwise && any_last(n, rank(n.out[0])))
          return visit_elementwise(n);
    }
    GraphNode made = n;
    for (ValueId& v : made.in) v = first(v);
    Types types;
    for (ValueId v : n.out) types.push_back(g_.values[v]);
    const SmallVec<ValueId, 1> out = to_.emit(std::move(made), types);
    for (size_t i = 0; i < out.size(); ++i) first_[n.out[i]] = out[i];
  }

  bool any_last(const GraphNode& n, size_t with_rank) const {
    return std::any_of(n.in.begin(), n.in.end(),
                       [&](ValueId v) { return is_last_[v] && rank(v) == with_rank; });
  }

  /// Counts what the kernel would copy in the original graph.
  void count_copies(std::initializer_list<ValueId> images) {
    for (ValueId v : images)
      if (!keeps_order(dims(v), to_last(rank(v)))) copied_before_ += count_of(dims(v));
  }

  void visit_images(const GraphNode& n) {
    const ValueId y = n.out[0];
    switch (n.prim) {
      case Prim::conv:
        count_copies({n.in[0], y});
        return emit(n, {last(n.in[0]), first(n.in[1])}, without_channels_first<attrs::conv>(n),
                    {Form::last});
      case Prim::conv_input_grad:
        count_copies({n.in[0], y});
        return emit(n, {last(n.in[0]), first(n.in[1])},
                    without_channels_first<attrs::conv_input_grad>(n), {Form::last});
      case Prim::conv_filter_grad:
        count_copies({n.in[0], n.in[1]});
        return emit(n, {last(n.in[0]), last(n.in[1])},
                    without_channels_first<attrs::conv_filter_grad>(n), {Form::first});
      case Prim::pool:
        count_copies({n.in[0], y});
        return emit(n, {last(n.in[0])}, without_channels_first<attrs::pool>(n), {Form::last});
      default:
        count_copies({n.in[0], n.in[1], n.in[2], y});
        return emit(n, {last(n.in[0]), last(n.in[1]), last(n.in[2])},
                    without_channels_first<attrs::pool_grad>(n), {Form::last});
    }
  }

  void visit_elementwise(const GraphNode& n) {
    SmallVec<ValueId, 4> in;
    for (ValueId v : n.in) in.push_back(spread(v, rank(n.out[0])));
    AttrRef attrs = n.attrs;
    if (n.prim == Prim::broadcast)
      attrs = primitive(n.prim).with_ints(n.attrs.get(), "shape",
                                          permuted(dims(n.out[0]), to_last(rank(n.out[0]))));
    emit(n, std::move(in), std::move(attrs), {Form::last});
  }

  /// Whether the remaining axes have the same order in both forms.
  bool keeps_kept(ValueId v, const Ints& axes) const {
    const auto is_kept = [&](int64_t axis) {
      return std::find(axes.begin(), axes.end(), axis) == axes.end();
    };
    if (!is_kept(1)) return true;
    for (int64_t axis = 2; axis < static_cast<int64_t>(rank(v)); ++axis)
      if (is_kept(axis)) return false;
    return true;
  }

  /// The attributes with the axes numbered as in the last form of the first operand.
  AttrRef with_axes(const GraphNode& n, const char* name) const {
    Ints axes;
    for (int64_t axis : *primitive(n.prim).ints(n.attrs.get(), name))
      axes.push_back(last_axis_of(axis, rank(n.in[0])));
    std::sort(axes.begin(), axes.end());
    return primitive(n.prim).with_ints(n.attrs.get(), name, axes);
  }

  bool visit_reduction(const GraphNode& n) {
    if (!is_last_[n.in[0]]) return false;
    const bool keepdims = rank(n.out[0]) == rank(n.in[0]);
    if (!keepdims && !keeps_kept(n.in[0], *primitive(n.prim).ints(n.attrs.get(), "axes")))
      return false;
    emit(n, {last(n.in[0])}, with_axes(n, "axes"), {keepdims ? Form::last : Form::first});
    return true;
  }

  void visit_pad(const GraphNode& n) {
    attrs::pad a = n.as<attrs::pad>();
    const Ints perm = to_last(rank(n.in[0]));
    a.low = permuted(a.low, perm);
    a.high = permuted(a.high, perm);
    emit(n, {last(n.in[0])}, AttrRef(new AttrsOf<attrs::pad>(std::move(a))), {Form::last});
  }

  void visit_slice(const GraphNode& n) {
    attrs::slice a = n.as<attrs::slice>();
    const Ints perm = to_last(rank(n.in[0]));
    for (Ints* part : {&a.starts, &a.stops, &a.steps})
      if (!part->empty()) *part = permuted(*part, perm);
    for (int64_t& axis : a.single) axis = last_axis_of(axis, rank(n.in[0]));
    emit(n, {last(n.in[0])}, AttrRef(new AttrsOf<attrs::slice>(std::move(a))), {Form::last});
  }

  void visit_concat(const GraphNode& n) {
    SmallVec<ValueId, 4> in;
    for (ValueId v : n.in) in.push_back(last(v));
    const int64_t axis = last_axis_of(n.as<attrs::concat>().axis, rank(n.out[0]));
    emit(n, std::move(in), AttrRef(new AttrsOf<attrs::concat>({.axis = axis})), {Form::last});
  }

  const Graph& g_;
  Rewriter to_;
  std::vector<ValueId> first_, last_;
  std::vector<uint8_t> is_last_;  // per value: made in its last form
  std::vector<int32_t> maker_;
  int64_t copied_ = 0, copied_before_ = 0;  // elements
};

}  // namespace

std::optional<Graph> channels_last(const Graph& graph) {
  if (std::none_of(graph.nodes.begin(), graph.nodes.end(), is_channels_first)) return std::nullopt;
  return Layout(graph).run();
}

}  // namespace horngate::native
