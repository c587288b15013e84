// A model's graph for Graphviz, and the picture that Graphviz makes of it.
#include <cstring>
#include <unordered_map>

#include "files/atomic_file.h"
#include "files/graphviz.h"
#include "horngate/keras/model.h"
#include "keras/network.h"

namespace horngate::keras {
namespace {

/// Text in a record: the characters that mean something there are escaped.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::strchr("\"\\{}|<>", c)) out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string shapes_of(const Tensors& tensors) {
  std::string text;
  for (const Tensor& t : tensors) text += (text.empty() ? "" : ", ") + t.shape().str();
  return tensors.size() == 1 ? text : "[" + text + "]";
}

/// "multiple" if calls differ, as summary() says it.
template <class ShapesOfCall>
std::string same_shapes(const Network& network, const Body& layer, ShapesOfCall&& of) {
  std::string found;
  for (const auto& node : network.nodes_of(layer)) {
    const std::string text = shapes_of(of(*node));
    if (!found.empty() && found != text) return "multiple";
    found = text;
  }
  return found;
}

std::string label_of(const Network& network, const Body& layer, const PlotOptions& options) {
  const std::string type = escaped(layer.class_name());
  const std::string label = options.show_layer_names ? escaped(layer.name()) + ": " + type : type;
  if (!options.show_shapes) return label;
  const auto outputs = [](const CallNode& node) { return node.outputs; };
  const auto inputs = [](const CallNode& node) {
    if (node.inputs.empty()) return node.outputs;  // an Input
    Tensors tensors;
    for (const Value& v : node.inputs) tensors.push_back(v);
    return tensors;
  };
  return label + "|{input:|output:}|{{" + same_shapes(network, layer, inputs) + "}|{" +
         same_shapes(network, layer, outputs) + "}}";
}

}  // namespace

std::string Model::to_dot(const PlotOptions& options) const {
  const Network& net = network();
  std::string text =
      "digraph model {\n  rankdir=\"" + escaped(options.rankdir) + "\";\n  node [shape=record];\n";
  std::unordered_map<const Body*, std::string> names;
  for (const auto& layer : net.layers()) {
    const std::string name = "n" + std::to_string(names.size());
    names[layer.get()] = name;
    text += "  " + name + " [label=\"" + label_of(net, *layer, options) + "\"];\n";
  }
  for (const auto& node : net.nodes())
    for (const Value& v : node->inputs)
      if (const auto from = names.find(v.node()->layer.get()); from != names.end())
        text += "  " + from->second + " -> " + names.at(node->layer.get()) + ";\n";
  return text + "}\n";
}

void plot_model(const Model& model, const std::string& path, const PlotOptions& options) {
  const size_t dot = path.rfind('.');
  const std::string format = dot == std::string::npos ? "" : path.substr(dot + 1);
  if (format != "dot" && format != "svg" && format != "png" && format != "pdf")
    throw ValueError("plot_model: the file must end in .dot, .svg, .png or .pdf; got \"" + path +
                     "\".");
  const std::string graph = model.to_dot(options);
  const std::string text =
      format == "dot" ? graph : files::drawn_by_graphviz("plot_model: " + path, graph, format);
  files::AtomicFile file(path);
  file.write(std::as_bytes(std::span(text)));
  file.finish();
}

}  // namespace horngate::keras
