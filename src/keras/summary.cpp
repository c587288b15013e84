// The table of a model's layers.
#include <algorithm>
#include <unordered_map>

#include "horngate/keras/model.h"
#include "keras/network.h"

namespace horngate::keras {
namespace {

std::string with_commas(int64_t n) {
  std::string text = std::to_string(n);
  for (size_t i = text.size(); i > 3;) text.insert(i -= 3, 1, ',');
  return text;
}

/// Of all its calls; "multiple" if they differ.
std::string output_shape(const Network& network, const Body& layer) {
  std::string found;
  for (const auto& node : network.nodes_of(layer)) {
    std::string text;
    for (const Tensor& t : node->outputs) text += (text.empty() ? "" : ", ") + t.shape().str();
    if (node->outputs.size() > 1) text = "[" + text + "]";
    if (!found.empty() && found != text) return "multiple";
    found = text;
  }
  return found;
}

class Table {
 public:
  Table(int64_t width, const std::vector<double>& columns) : width_(width) {
    for (const double c : columns)
      ends_.push_back(static_cast<size_t>(c <= 1 ? c * static_cast<double>(width) : c));
  }
  void rule(char c) { text_ += std::string(static_cast<size_t>(width_), c) + "\n"; }
  void row(const std::vector<std::string>& cells) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) line.back() = ' ';
      line += cells[i];
      line.resize(ends_[i], ' ');
    }
    text_ += line + "\n";
  }
  void line(const std::string& text) { text_ += text + "\n"; }
  std::string take() { return std::move(text_); }

 private:
  int64_t width_;
  std::vector<size_t> ends_;
  std::string text_;
};

int64_t count(const std::vector<Weight>& weights) {
  std::unordered_map<const Node*, int64_t> sizes;  // shared ones once
  for (const Weight& w : weights) sizes[w.variable.node()] = w.variable.shape().size();
  int64_t sum = 0;
  for (const auto& [ignored, size] : sizes) sum += size;
  return sum;
}

bool is_a_row(const Network& network) {
  if (network.is_sequential()) return true;
  std::unordered_map<const Body*, int> calls;
  size_t inputs = 0;
  for (const auto& node : network.nodes()) {
    if (node->inputs.size() > 1 || ++calls[node->layer.get()] > 1) return false;
    inputs += node->inputs.empty();
  }
  std::unordered_map<const CallNode*, int> readers;
  for (const auto& node : network.nodes())
    for (const Value& v : node->inputs)
      if (++readers[v.node().get()] > 1) return false;
  return inputs == 1;  // what is in the middle may be an output too
}

}  // namespace

std::string Model::summary(const SummaryOptions& options) const {
  const Network& net = network();
  if (!net.has_graph())
    throw ValueError("summary: model " + name() +
                     " has no shapes yet; give the first layer an input_shape, or data.");
  const bool row = is_a_row(net);
  const int64_t width = options.line_length ? options.line_length : row ? 65 : 98;
  const std::vector<double> columns = !options.positions.empty() ? options.positions
                                      : row ? std::vector<double>{.45, .85, 1.}
                                            : std::vector<double>{.33, .55, .67, 1.};
  Table table(width, columns);
  std::vector<std::string> header{"Layer (type)", "Output Shape", "Param #"};
  if (!row) header.emplace_back("Connected to");
  table.line("Model: \"" + name() + "\"");
  table.rule('_');
  table.row(header);
  table.rule('=');
  const auto number_of = net.call_numbers();
  const auto& layers = net.layers();
  for (size_t i = 0; i < layers.size(); ++i) {
    const Body& layer = *layers[i];
    std::vector<std::string> cells{layer.name() + " (" + layer.class_name() + ")",
                                   output_shape(net, layer),
                                   std::to_string(Layer(layers[i]).count_params())};
    if (!row) {
      std::vector<std::string> from;
      for (const auto& node : net.nodes_of(layer))
        for (const Value& v : node->inputs)
          from.push_back(v.node()->layer->name() + "[" +
                         std::to_string(number_of.at(v.node().get())) + "][" +
                         std::to_string(v.index()) + "]");
      cells.push_back(from.empty() ? "" : from[0]);
      table.row(cells);
      for (size_t k = 1; k < from.size(); ++k) table.row({"", "", "", from[k]});
    } else {
      table.row(cells);
    }
    table.rule(i + 1 == layers.size() ? '=' : '_');
  }
  const int64_t trained = count(net.trainable_weights()),
                others = count(net.non_trainable_weights());
  table.line("Total params: " + with_commas(trained + others));
  table.line("Trainable params: " + with_commas(trained));
  table.line("Non-trainable params: " + with_commas(others));
  table.rule('_');
  return table.take();
}

}  // namespace horngate::keras
