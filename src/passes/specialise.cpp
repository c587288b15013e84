// specialise: every dimension becomes a number and shape arithmetic becomes constants; what only existed
// because of None (shape_of, sum_to, shape operands) disappears.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/check.h"
#include "ir/fold_ints.h"
#include "ir/naming.h"
#include "passes/passes.h"
#include "passes/rewriter.h"

namespace horngate {
namespace {

class Specialiser {
 public:
  Specialiser(const Graph& g, const InputInts& ints, bool apart, bool is_body = false)
      : g_(g), input_ints_(ints), apart_(apart), is_body_(is_body) {}

  Specialised run(const std::vector<TensorType>& inputs) {
    r_.reserve(g_);
    now_.assign(g_.values.size(), kNoValue);
    for (size_t i = 0; i < g_.inputs.size(); ++i) {
      now_[g_.inputs[i]] = r_.input(inputs[i]);
      if (const auto it = input_ints_.find(i); it != input_ints_.end())
        ints_[now_[g_.inputs[i]]] = it->second;
    }
    for (const GraphNode& n : g_.nodes) naming_errors(n.name, !n.bodies.empty(), [&] { visit(n); });
    Specialised s;
    s.needed = std::move(needed_);
    if (!s.needed.empty()) {
      std::sort(s.needed.begin(), s.needed.end());
      s.needed.erase(std::unique(s.needed.begin(), s.needed.end()), s.needed.end());
      return s;
    }
    std::vector<ValueId> outputs;
    for (ValueId v : g_.outputs) outputs.push_back(now_[v]);
    now_ = {};
    s.result = remove_dead(r_.finish(std::move(outputs)));
    return s;
  }

 private:
  /// How messages call a loop or a branch.
  static const char* called(const GraphNode& n) {
    return n.name.function ? n.name.function : n.prim == Prim::scan ? "rnn" : "switch";
  }

  void visit(const GraphNode& n) {
    // Whatever depends on a value of still unknown shape waits for the next stage.
    for (ValueId v : n.in)
      if (now_[v] == kNoValue) return;
    if (n.prim == Prim::scan) return visit_scan(n);
    if (n.prim == Prim::cond) return visit_cond(n);
    GraphNode copy{n.prim, {}, {}, n.attrs, {}, n.name};
    for (ValueId v : n.in) copy.in.push_back(now_[v]);
    if (!resolve_operands(n, copy)) return;
    if (fold(n, copy)) return;
    if (n.prim == Prim::sum_to) {
      now_[n.out[0]] = sum_to(copy);
      return;
    }
    const Types types = r_.infer(copy);
    if (n.prim == Prim::assign) {  // infer has checked the shape of the new value
      now_[n.out[0]] = copy.in[1];
      return;
    }
    for (const TensorType& t : types)
      invariant(t.shape.is_static(), primitive(n.prim).name, " has the shape ", t.shape,
                " in a plan");
    if (sums_nothing(copy, types[0])) {
      const Array zero = Array(0.0).cast(types[0].dtype);
      const ValueId v = apart_ ? r_.own_constant(zero) : r_.constant(zero);
      now_[n.out[0]] = r_.emit(attrs::broadcast{.shape = types[0].shape.dims()}, {v});
      return;
    }
    if (n.prim == Prim::slice && !n.as<attrs::slice>().single.empty())  // infer checked it
      copy.attrs = primitive(n.prim).with_ints(copy.attrs.get(), "single", {});
    const SmallVec<ValueId, 1> out = r_.emit(std::move(copy), types);
    for (size_t i = 0; i < n.out.size(); ++i) now_[n.out[i]] = out[i];
    if (n.prim == Prim::constant) note_constant(out[0], n.as<attrs::constant>().value);
  }

  void note_constant(ValueId v, const Array& a) {
    if (a.ndim() > 1 || is_float(a.dtype()) || a.size() > kMaxFoldedInts) return;
    const Array wide = a.cast(DType::int64);
    ints_[v] = Ints(wide.data<int64_t>(), wide.data<int64_t>() + wide.size());
  }

  /// Replaces kFromOperand entries with numbers and drops the operand. False if the numbers are not there
  /// yet.
  bool resolve_operands(const GraphNode& n, GraphNode& copy) {
    const Primitive& p = primitive(n.prim);
    bool all = true;
    const auto resolve = [&](const char* field, size_t operand) {
      const auto it = ints_.find(copy.in[operand]);
      if (it == ints_.end()) {
        needed_.push_back(n.in[operand]);
        all = false;
        return;
      }
      const Ints& values = it->second;
      Ints attr = *p.ints(copy.attrs.get(), field);
      for (size_t i = 0; i < attr.size(); ++i) {
        if (attr[i] != kFromOperand) continue;
        attr[i] = values[values.size() == 1 ? 0 : i];
        // All dimensions are known here, so this is a computed number that happens to equal a marker. Bounds of a slice
        // may be that far away.
        if (n.prim == Prim::slice) attr[i] = std::clamp(attr[i], kFromOperand + 1, kToEnd - 1);
        check(attr[i] != kFromOperand, p.name, "sizes must not be the smallest int64; got ",
              attr[i], ".");
      }
      copy.attrs = p.with_ints(copy.attrs.get(), field, attr);
    };
    const auto open = [&](const char* field) {
      const Ints* attr = p.ints(n.attrs.get(), field);
      return attr && std::find(attr->begin(), attr->end(), kFromOperand) != attr->end();
    };
    if (n.prim == Prim::slice) {
      size_t at = 1;
      for (const char* field : {"starts", "stops"})
        if (open(field)) resolve(field, at++);
      if (all) copy.in.resize(1);
    } else if (open("shape")) {
      const size_t last = copy.in.size() - 1;
      resolve("shape", last);
      if (all) copy.in.resize(last);
    }
    return all;
  }

  /// Shape arithmetic: the result becomes a constant.
  bool fold(const GraphNode& n, const GraphNode& copy) {
    if (n.out.size() != 1 || n.prim == Prim::constant || g_.values[n.out[0]].shape.ndim() > 1)
      return false;
    const bool counts = n.prim == Prim::cast && is_float(n.as<attrs::cast>().dtype);
    if (is_float(g_.values[n.out[0]].dtype) && !counts) return false;
    SmallVec<TensorType, 4> types;
    SmallVec<const Ints*, 4> values;
    for (ValueId v : copy.in) {
      types.push_back(r_.type(v));
      const auto it = ints_.find(v);
      values.push_back(it == ints_.end() ? nullptr : &it->second);
    }
    Ints result;
    if (counts) {  // an element count that becomes a factor
      if (!values[0] || types[0].dtype == DType::uint64) return false;
      result = *values[0];
    } else if (!fold_ints(n.prim, copy.attrs.get(), {types.data(), types.size()},
                          {values.data(), values.size()}, &result)) {
      return false;
    }
    if (std::find(result.begin(), result.end(), kFromOperand) != result.end()) return false;
    const bool is_of_sizes =
        std::any_of(copy.in.begin(), copy.in.end(), [&](ValueId v) { return sizes_.contains(v); });
    if (n.prim == Prim::cast && is_of_sizes && n.as<attrs::cast>().dtype == DType::int32)
      for (const int64_t size : *values[0])  // open sizes are int32 for users
        check(size <= INT32_MAX, called(n), "sizes must fit into int32; got ", size, ".");
    Ints dims;
    if (g_.values[n.out[0]].shape.ndim() == 1) dims.push_back(static_cast<int64_t>(result.size()));
    const Array value =
        Array::of<int64_t>(std::span<const int64_t>(result.data(), result.size()), dims)
            .cast(g_.values[n.out[0]].dtype);
    const ValueId v = apart_ ? r_.own_constant(value) : r_.constant(value);
    now_[n.out[0]] = v;
    if (!counts) ints_[v] = result;
    if (n.prim == Prim::shape_of || (is_of_sizes && n.prim != Prim::cast)) sizes_.insert(v);
    return true;
  }

  /// Whether a convolution, a pool or a gradient of one has an empty operand or result, as where no window fits. Its
  /// result then has only zeros, or nothing; no engine gets to see the node.
  bool sums_nothing(const GraphNode& n, const TensorType& out) const {
    switch (n.prim) {
      case Prim::conv:
      case Prim::conv_input_grad:
      case Prim::conv_filter_grad:
      case Prim::pool:
      case Prim::pool_grad: break;
      default: return false;
    }
    const auto is_empty = [](const TensorType& t) {
      return std::find(t.shape.dims().begin(), t.shape.dims().end(), 0) != t.shape.dims().end();
    };
    return is_empty(out) ||
           std::any_of(n.in.begin(), n.in.end(), [&](ValueId v) { return is_empty(r_.type(v)); });
  }

  /// Sums over the axes that broadcasting repeated.
  ValueId sum_to(const GraphNode& n) {
    const ValueId x = n.in[0];
    const Ints& want = n.as<attrs::sum_to>().shape;
    const Ints have = r_.type(x).shape.dims();
    const size_t lead = have.size() - want.size();
    Ints axes;
    for (size_t i = 0; i < have.size(); ++i)
      if (i < lead || want[i - lead] != have[i]) axes.push_back(static_cast<int64_t>(i));
    ValueId v = x;
    if (!axes.empty()) v = r_.emit(attrs::reduce_sum{.axes = axes, .keepdims = true}, {x});
    return r_.emit(attrs::reshape{.shape = want}, {v});
  }

  GraphRef specialise_body(const GraphNode& n, size_t which, const std::vector<TensorType>& types,
                           const InputInts& ints, std::vector<TensorType>* results) {
    Specialised s = Specialiser(*n.bodies[which], ints, apart_, true).run(types);
    check<NotImplementedError>(
        s.result.has_value(), called(n),
        "a shape inside a step function or branch depends on computed data.");
    for (ValueId v : s.result->outputs) results->push_back(s.result->values[v]);
    return std::make_shared<const Graph>(std::move(*s.result));
  }

  void visit_scan(const GraphNode& n) {
    attrs::scan a = n.as<attrs::scan>();
    const auto n_x = static_cast<size_t>(a.xs), n_c = static_cast<size_t>(a.carries);
    GraphNode copy{n.prim, {}, {}, {}, {}, n.name};
    for (ValueId v : n.in) copy.in.push_back(now_[v]);
    std::vector<TensorType> types;
    InputInts ints;
    for (size_t i = 0; i < copy.in.size(); ++i) {
      TensorType t = r_.type(copy.in[i]);
      if (i < n_x) {
        const int64_t length = t.shape.dim(static_cast<size_t>(a.x_axes[i]));
        check(a.length < 0 || a.length == length, called(n),
              "sequences must have the same length; got ", a.length, " and ", length, ".");
        a.length = length;
        t.shape.dims().erase(t.shape.dims().begin() + a.x_axes[i]);
      } else if (const auto it = ints_.find(copy.in[i]); i >= n_x + n_c && it != ints_.end()) {
        ints[i] = it->second;
      }
      types.push_back(t);
    }
    types.push_back(TensorType(DType::int64, {}));  // step index
    invariant(a.length >= 0, "the length of a scan is not known in a plan");
    // A carry that grows in a step (a state of shape (1, n) that meets a batch) is broadcast before the loop. That may
    // make another one grow. Only axes of size 1 grow, so this ends.
    std::vector<TensorType> results;
    GraphRef body;
    for (bool grown = true; grown;) {
      results.clear();
      body = specialise_body(n, 0, types, ints, &results);
      grown = false;
      for (size_t i = 0; i < n_c; ++i) {
        Shape &now = types[n_x + i].shape, &after = results[i].shape;
        if (now == after) continue;
        bool grows = now.ndim() == after.ndim();
        for (size_t k = 0; grows && k < now.ndim(); ++k)
          grows = now.dim(k) == 1 || now.dim(k) == after.dim(k);
        check(grows, called(n), "a state changes its shape from step to step: ", now, " becomes ",
              after, ".");
        copy.in[n_x + i] = r_.emit(attrs::broadcast{.shape = after.dims()}, {copy.in[n_x + i]});
        now = after;
        grown = true;
      }
    }
    copy.bodies.push_back(body);
    Types out;
    for (size_t i = 0; i < results.size(); ++i) {
      TensorType t = results[i];
      if (i >= n_c) t.shape.dims().insert(t.shape.dims().begin() + a.y_axes[i - n_c], a.length);
      out.push_back(t);
    }
    copy.attrs = AttrRef(new AttrsOf<attrs::scan>(std::move(a)));
    const SmallVec<ValueId, 1> made = r_.emit(std::move(copy), out);
    for (size_t i = 0; i < n.out.size(); ++i) now_[n.out[i]] = made[i];
  }

  /// A branch whose shapes are numbers, with the values that it captures.
  struct Branch {
    GraphRef body;
    std::vector<TensorType> results;
    SmallVec<ValueId, 4> captures;

    /// Whether it computes nothing.
    bool is_trivial() const {
      return std::all_of(body->nodes.begin(), body->nodes.end(), [](const GraphNode& n) {
        return n.prim == Prim::constant || n.prim == Prim::broadcast;
      });
    }
  };

  Branch branch_of(const GraphNode& n, size_t which) {
    Branch b;
    size_t at = which == 0 ? 1 : 1 + n.bodies[0]->inputs.size();
    std::vector<TensorType> types;
    InputInts ints;
    for (size_t i = 0; i < n.bodies[which]->inputs.size(); ++i, ++at) {
      b.captures.push_back(now_[n.in[at]]);
      types.push_back(r_.type(b.captures.back()));
      if (const auto it = ints_.find(b.captures.back()); it != ints_.end()) ints[i] = it->second;
    }
    b.body = specialise_body(n, which, types, ints, &b.results);
    return b;
  }

  /// Puts a branch into the graph around it.
  std::vector<ValueId> inlined(const Branch& b) {
    std::vector<ValueId> now(b.body->values.size(), kNoValue);
    for (size_t i = 0; i < b.captures.size(); ++i) now[b.body->inputs[i]] = b.captures[i];
    for (const GraphNode& n : b.body->nodes) {
      if (n.prim != Prim::constant) {
        r_.copy(*b.body, n, now);
        continue;
      }
      const Array& value = n.as<attrs::constant>().value;
      now[n.out[0]] = apart_ ? r_.own_constant(value) : r_.constant(value);
      note_constant(now[n.out[0]], value);
    }
    std::vector<ValueId> results;
    for (ValueId v : b.body->outputs) results.push_back(now[v]);
    return results;
  }

  void visit_cond(const GraphNode& n) {
    const ValueId condition = now_[n.in[0]];
    if (const auto it = ints_.find(condition); it != ints_.end()) {
      const std::vector<ValueId> made = inlined(branch_of(n, it->second[0] != 0 ? 0 : 1));
      for (size_t i = 0; i < n.out.size(); ++i) now_[n.out[i]] = made[i];
      return;
    }
    const Branch a = branch_of(n, 0), b = branch_of(n, 1);
    if (!(a.results == b.results)) {  // the shapes of all that follows depend on the condition
      for (size_t i = 0; is_body_ && i < a.results.size(); ++i)
        check(a.results[i] == b.results[i], called(n),
              "both branches must give the same shape in a step function or branch; got ",
              a.results[i].shape, " and ", b.results[i].shape, ".");
      needed_.push_back(n.in[0]);
      return;
    }
    const bool is_dense = std::none_of(a.results.begin(), a.results.end(),
                                       [](const TensorType& t) { return t.sparse; });
    if (is_dense && a.is_trivial() && b.is_trivial()) {  // a select fuses with its neighbours
      const std::vector<ValueId> x = inlined(a), y = inlined(b);
      for (size_t i = 0; i < n.out.size(); ++i)
        now_[n.out[i]] =
            r_.emit({Prim::select, {condition, x[i], y[i]}, {}, {}, {}, n.name}, {a.results[i]})[0];
      return;
    }
    GraphNode copy{n.prim, {condition}, {}, n.attrs, {a.body, b.body}, n.name};
    for (const Branch* branch : {&a, &b})
      for (ValueId v : branch->captures) copy.in.push_back(v);
    const SmallVec<ValueId, 1> made =
        r_.emit(std::move(copy), Types(a.results.begin(), a.results.end()));
    for (size_t i = 0; i < n.out.size(); ++i) now_[n.out[i]] = made[i];
  }

  const Graph& g_;
  const InputInts& input_ints_;
  const bool apart_;
  const bool is_body_;  // of a loop or branch: shapes cannot wait for data
  Rewriter r_;
  std::vector<ValueId> now_;
  std::unordered_map<ValueId, Ints> ints_;
  std::unordered_set<ValueId> sizes_;  // those of ints_ computed from tensor sizes in int64
  std::vector<ValueId> needed_;
};

}  // namespace

Specialised specialise(const Graph& graph, const std::vector<TensorType>& inputs,
                       const InputInts& ints, bool apart) {
  return Specialiser(graph, ints, apart).run(inputs);
}

}  // namespace horngate
