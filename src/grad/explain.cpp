// Explanations of gradients: the reverse walk again, noting where it stops.
#include "grad/explain.h"

#include <algorithm>
#include <unordered_set>

#include "grad/known_zero.h"
#include "grad/reasons.h"
#include "grad/reverse.h"
#include "ir/check.h"
#include "ir/node_index.h"
#include "prims/build.h"

namespace horngate {
namespace {

constexpr size_t kNamed = 3;  // names in a list before "and n more"

bool older(const Node* a, const Node* b) { return a->id < b->id; }

/// The nodes that tensors are computed from, oldest first. Nothing below `ends`, nor older than `oldest`.
std::vector<const Node*> history(const Tensors& roots, const std::unordered_set<const Node*>& ends,
                                 uint64_t oldest) {
  std::unordered_set<const Node*> seen;
  std::vector<const Node*> stack, all;
  const auto visit = [&](const Tensor& t) {
    if (t.node()->id >= oldest && seen.insert(t.node()).second) stack.push_back(t.node());
  };
  for (const Tensor& t : roots) visit(t);
  while (!stack.empty()) {
    const Node* n = stack.back();
    stack.pop_back();
    all.push_back(n);
    if (ends.count(n)) continue;
    for (const Tensor& t : n->in) visit(t);
  }
  std::sort(all.begin(), all.end(), older);
  return all;
}

/// Which tensors are computed from a target, differentiably or not.
class Dependents {
 public:
  Dependents(const Tensors& roots, const Tensor& target,
             const std::unordered_set<const Node*>& ends)
      : target_(target) {
    for (const Node* n : history(roots, ends, target.node()->id))
      if (n != target.node() && !ends.count(n) &&
          std::any_of(n->in.begin(), n->in.end(), [&](const Tensor& t) { return has(t); }))
        nodes_.insert(n);
  }
  bool has(const Tensor& t) const { return t.same_as(target_) || nodes_.count(t.node()) > 0; }

 private:
  const Tensor target_;
  std::unordered_set<const Node*> nodes_;
};

/// One walk from roots to one of several targets. With `cut`, as for the body of a loop, paths end at all of them.
class Search {
 public:
  struct Found {
    bool is_none = false, is_zero = false;
    std::vector<const Node*> cuts;      // where paths end; none twice
    std::vector<const Node*> zeros;     // what passes zero on
    std::vector<const Node*> by_value;  // what may pass zero on
    size_t on_the_way = 0;
  };

  Search(const Tensors& roots, const Tensors& targets, size_t which, bool cut)
      : target_(targets[which]), dependents_(roots, target_, cut ? nodes_of(targets) : Nodes{}) {
    Tensors floats, seeds;
    for (const Tensor& r : roots)
      if (is_float(r.dtype())) {
        floats.push_back(r);
        seeds.push_back(prim::full_like(r, 1.0));
      } else if (dependents_.has(r)) {
        look_behind(r);
      }
    const Tensor gradient = reverse_noting(floats, seeds, targets, cut, steps_)[which];
    found_.is_none = !gradient.defined();
    found_.is_zero = zero_(gradient);
    for (const WalkStep& s : steps_)
      if (s.node != target_.node()) look_at(s);
    const auto newest_first = [](const Node* a, const Node* b) {
      // A node that takes only a shape is hardly ever what the user asks about, so it comes last.
      const bool a_shape = a->prim == Prim::shape_of, b_shape = b->prim == Prim::shape_of;
      return a_shape != b_shape ? b_shape : a->id > b->id;
    };
    for (auto* list : {&found_.cuts, &found_.zeros, &found_.by_value}) {
      std::sort(list->begin(), list->end(), newest_first);
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
  }

  Found& found() { return found_; }

 private:
  using Nodes = std::unordered_set<const Node*>;
  static Nodes nodes_of(const Tensors& tensors) {
    Nodes nodes;
    for (const Tensor& t : tensors) nodes.insert(t.node());
    return nodes;
  }

  void look_at(const WalkStep& s) {
    const Node& n = *s.node;
    bool flows_on = false;
    for (size_t i = 0; i < n.in.size(); ++i) {
      if (!dependents_.has(n.in[i])) continue;
      const bool flows = i < s.dx.size() && s.dx[i].defined() && is_float(n.in[i].dtype());
      flows_on |= flows;
      if (!flows)
        add_cut(n, i);
      else if (zero_(s.dx[i]) && !std::all_of(s.dy.begin(), s.dy.end(), [&](const Tensor& dy) {
                 return !dy.defined() || zero_(dy);
               }))
        found_.zeros.push_back(&n);
    }
    found_.on_the_way += flows_on;
    if (flows_on && may_pass_nothing(n.prim)) found_.by_value.push_back(&n);
  }

  void add_cut(const Node& n, size_t operand) {
    if (!is_float(n.in[operand].dtype()))
      look_behind(n.in[operand]);
    else if (n.prim != Prim::scan || !look_inside(n, operand))
      found_.cuts.push_back(&n);
  }

  /// A path of integers: what made them from floats?
  void look_behind(const Tensor& integers) {
    std::vector<const Node*> stack{integers.node()};
    while (!stack.empty()) {
      const Node* n = stack.back();
      stack.pop_back();
      if (!seen_.insert(n).second) continue;
      for (const Tensor& t : n->in) {
        if (!dependents_.has(t)) continue;
        if (is_float(t.dtype()))
          found_.cuts.push_back(n);
        else
          stack.push_back(t.node());
      }
    }
  }

  /// The cut is in the body of a loop. False if it is not found there.
  bool look_inside(const Node& scan, size_t operand) {
    const Body& body = *scan.bodies[0];
    Tensors targets(body.params.begin(), body.params.end() - 1);  // the last is the step's number
    targets.insert(targets.end(), body.captures.begin(), body.captures.end());
    if (operand >= targets.size()) return false;
    Search inner(body.results, targets, operand, true);
    Found& f = inner.found();
    if (!f.is_none || f.cuts.empty()) return false;
    found_.cuts.insert(found_.cuts.end(), f.cuts.begin(), f.cuts.end());
    return true;
  }

  const Tensor target_;
  const Dependents dependents_;
  std::vector<WalkStep> steps_;
  KnownZero zero_;
  Nodes seen_;
  Found found_;
};

const char* kind_of(const Tensor& t) {
  switch (t.node()->prim) {
    case Prim::variable: return "variable";
    case Prim::placeholder: return "placeholder";
    default: return "tensor";
  }
}

std::string called(const Tensor& t) { return text_of(kind_of(t), " \"", t.name(), "\""); }

const char* function_of(const Node& n) {
  return n.name.function ? n.name.function : primitive(n.prim).name;
}

/// `round (node "round_7")`
std::string named(const Node& n) {
  return text_of(function_of(n), " (node \"", display_name(n), "\")");
}

/// "a, b and 4 more"
template <class T, class F>
std::string list_of(const std::vector<T>& items, size_t first, const F& name) {
  std::string out;
  const size_t end = std::min(items.size(), first + kNamed);
  for (size_t i = first; i < end; ++i) {
    if (i > first) out += i + 1 == items.size() ? " and " : ", ";
    out += name(items[i]);
  }
  return items.size() > end ? text_of(out, " and ", items.size() - end, " more") : out;
}

std::string reason_text(const std::vector<const Node*>& nodes, const char* has, const Reason& r,
                        const char* others, const Tensor& target) {
  const Node& n = *nodes[0];
  std::string text =
      text_of(function_of(n), has, " (node \"", display_name(n), "\", between the loss and ",
              called(target), "): ", r.why, ". ", r.remedy, ".");
  if (nodes.size() > 1)
    text +=
        text_of(" ", others, " ", list_of(nodes, 1, [](const Node* o) { return named(*o); }), ".");
  return text;
}

/// A name without the number that made it unique.
std::string stem(const std::string& name) {
  const size_t at = name.find_last_not_of("0123456789");
  return at != std::string::npos && at > 0 && name[at] == '_' ? name.substr(0, at) : name;
}

std::string no_path(const Tensor& loss, const Tensor& target) {
  const auto leaves = [](const Tensor& t) {
    std::vector<Tensor> found;
    for (const Node* n : history({t}, {}, 0))
      if (n->prim == Prim::variable || n->prim == Prim::placeholder)
        found.push_back(Tensor::share(n));
    return found;
  };
  const std::vector<Tensor> read = leaves(loss);
  std::string text = text_of("the loss does not depend on ", called(target), ".");
  const auto twin = std::find_if(read.begin(), read.end(), [&](const Tensor& t) {
    return t.node()->prim == target.node()->prim && stem(t.name()) == stem(target.name());
  });
  const bool is_leaf = target.node()->in.empty();
  if (twin != read.end())
    text += text_of(" It reads ", called(*twin), ": is that one meant?");
  else if (!read.empty())
    text += text_of(" It reads ", list_of(read, 0, called), ".");
  if (!is_leaf)
    for (const Tensor& t : leaves(target))
      if (std::any_of(read.begin(), read.end(), [&](const Tensor& r) { return r.same_as(t); })) {
        text +=
            text_of(" Both are computed from ", called(t),
                    ", but the loss not by way of this tensor: use the very tensor that the loss "
                    "is made of, not one that is computed again.");
        return text;
      }
  if (target.node()->id > loss.node()->id) text += " It was made after the loss.";
  return text +
         " Compute the loss from it; what went through eval, get_value or NumPy is a constant.";
}

}  // namespace

GradientReport explain_gradient_of(const Tensor& loss, const Tensor& target) {
  using Kind = GradientReport::Kind;
  if (!Dependents({loss}, target, {}).has(loss)) return {Kind::none, no_path(loss, target)};
  if (!is_float(target.dtype()))
    return {Kind::none, text_of(called(target), " is ", target.dtype(),
                                ", and only floats have a derivative. Make it float32.")};
  Search search({loss}, {target}, 0, false);
  const Search::Found& f = search.found();
  if (f.is_none) {
    invariant(!f.cuts.empty(), "a gradient is None, and no node cut it");
    return {Kind::none, reason_text(f.cuts, " has no gradient", reason_for_none(*f.cuts[0]),
                                    "Other paths end at", target)};
  }
  if (f.is_zero && !f.zeros.empty())
    return {Kind::zero, reason_text(f.zeros, " passes on zero", reason_for_zero(*f.zeros[0]),
                                    "Other paths also pass", target)};
  const size_t n = f.on_the_way;
  std::string text = text_of("it flows from the loss to ", called(target), " through ", n,
                             n == 1 ? " node." : " nodes.");
  const auto list = [](const std::vector<const Node*>& nodes) {
    return list_of(nodes, 0, [](const Node* node) { return named(*node); });
  };
  if (!f.cuts.empty()) text += text_of(" Other paths end at ", list(f.cuts), ".");
  if (!f.zeros.empty()) text += text_of(" Zero comes from ", list(f.zeros), ".");
  if (!f.by_value.empty())
    text += text_of(" Where its values are zero, look at ", list(f.by_value), ".");
  return {Kind::flows, text};
}

}  // namespace horngate
