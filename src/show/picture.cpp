// From graphs to pictures: labels, sizes, and the layer that each node belongs to.
#include "show/picture.h"

#include "ir/attrs_text.h"
#include "ir/primitive.h"

namespace horngate {
namespace {

size_t bytes_of(const TensorType& t) { return t.shape.is_static() && !t.sparse ? t.nbytes() : 0; }

std::string scope_of(const std::string& name) { return name.substr(0, name.rfind('/') + 1); }

class Maker {
 public:
  Maker(const NamedGraph& named, Picture& picture)
      : named_(named), g_(*named.graph), picture_(picture), maker_(g_.values.size(), 0) {}

  void run(const std::vector<int32_t>& step_of) {
    find_numbers();
    for (size_t i = 0; i < g_.inputs.size(); ++i) add_input(i);
    for (size_t i = 0; i < g_.nodes.size(); ++i)
      if (g_.nodes[i].prim != Prim::constant || numbers_[g_.nodes[i].out[0]].empty())
        add_node(g_.nodes[i], step_of.empty() ? -1 : step_of[i]);
    for (size_t i = 0; i < g_.outputs.size(); ++i) add_output(i);
  }

 private:
  /// Constants of one element are shown where they are read: as nodes they would be tied to half of the graph.
  void find_numbers() {
    numbers_.resize(g_.values.size());
    for (const GraphNode& n : g_.nodes)
      if (n.prim == Prim::constant)
        if (const Array& value = n.as<attrs::constant>().value;
            !value.is_sparse() && value.size() == 1)
          numbers_[n.out[0]] = value.str();
    for (ValueId v : g_.outputs) numbers_[v].clear();
  }

  /// Without lists that are empty.
  static std::string shown_attributes(const GraphNode& node) {
    std::string text = attrs_text(node);
    for (size_t end; (end = text.find("=()")) != std::string::npos;) {
      size_t begin = text.rfind(' ', end);
      begin = begin == std::string::npos ? 0 : begin + 1;
      end += 3;
      if (text.compare(end, 2, ", ") == 0)
        end += 2;
      else if (begin >= 2)
        begin -= 2;
      text.erase(begin, end - begin);
    }
    return text;
  }

  void set_type(PictureNode& n, ValueId v) {
    n.type += (n.type.empty() ? "" : ", ") + g_.values[v].str();
    n.bytes += bytes_of(g_.values[v]);
  }

  void add_input(size_t i) {
    PictureNode n;
    n.kind = named_.kinds[i];
    n.label = n.name = named_.inputs[i];
    n.scope = scope_of(n.name);
    set_type(n, g_.inputs[i]);
    maker_[g_.inputs[i]] = put(std::move(n));
  }

  void add_node(const GraphNode& node, int32_t step) {
    PictureNode n;
    n.label = primitive(node.prim).name;
    if (node.prim == Prim::constant) n.kind = PictureNode::constant;
    if (node.name.function && n.label != node.name.function) n.function = node.name.function;
    n.attributes = shown_attributes(node);
    for (size_t i = 0; i < node.in.size(); ++i)
      if (const std::string& number = numbers_[node.in[i]]; !number.empty())
        n.attributes += text_of(n.attributes.empty() ? "" : ", ",
                                i == 0   ? "first"
                                : i == 1 ? "second"
                                         : "third",
                                "=", number);
    for (const GraphRef& body : node.bodies)
      n.attributes +=
          text_of(n.attributes.empty() ? "" : ", ", body->nodes.size(), " nodes inside");
    for (ValueId v : node.in)
      if (numbers_[v].empty()) n.from.push_back(maker_[v]);
    for (ValueId v : node.out) set_type(n, v);
    n.group = step;
    if (node.name) n.name = *node.name;
    n.scope = scope_of(n.name);
    // Keras builds all gradients in a scope of this name.
    if (n.scope.empty() || n.scope.rfind("training/", 0) == 0) n.scope += borrowed_scope(n);

    const uint32_t at = put(std::move(n));
    for (ValueId v : node.out) maker_[v] = at;
  }

  void add_output(size_t i) {
    PictureNode n;
    n.kind = PictureNode::output;
    n.label = text_of("output ", i);
    if (i >= named_.n_outputs) {
      const std::string& variable = named_.updated[i - named_.n_outputs];
      n.label = "new " + variable;
      n.scope = scope_of(variable);
    }

    n.from = {maker_[g_.outputs[i]]};
    set_type(n, g_.outputs[i]);
    put(std::move(n));
  }

  /// Gradient nodes carry no layer's name: one that reads a layer's values belongs to its gradient.
  std::string borrowed_scope(const PictureNode& n) const {
    constexpr const char* kGradients = "gradients/";
    std::string found;
    for (const uint32_t at : n.from) {
      const std::string& scope = picture_.nodes[at].scope;
      if (const size_t inner = scope.rfind(kGradients); inner != std::string::npos)
        found = found.empty() ? scope.substr(inner) : found;
      else if (!scope.empty() && scope.rfind("training/", 0) != 0)
        return kGradients + scope;
    }
    return found;
  }

  uint32_t put(PictureNode n) {
    picture_.nodes.push_back(std::move(n));
    return static_cast<uint32_t>(picture_.nodes.size() - 1);
  }

  const NamedGraph& named_;
  const Graph& g_;
  Picture& picture_;
  std::vector<std::string> numbers_;  // of constants with one element
  std::vector<uint32_t> maker_;       // the picture's node that makes each value
};

}  // namespace

Picture make_picture(const NamedGraph& named, std::string title,
                     const std::vector<int32_t>& step_of, std::vector<std::string> steps) {
  Picture picture;
  picture.title = std::move(title);
  picture.groups = std::move(steps);
  Maker(named, picture).run(step_of);
  size_t operations = 0;
  for (const PictureNode& n : picture.nodes) operations += n.kind == PictureNode::operation;
  picture.note = text_of(operations, operations == 1 ? " operation" : " operations");
  return picture;
}

}  // namespace horngate
