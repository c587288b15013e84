// Pictures for Graphviz.
#include <map>

#include "ir/check.h"
#include "show/picture.h"

namespace horngate {
namespace {

std::string quoted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string size_text(size_t bytes) {
  const char* const units[] = {" B", " KiB", " MiB", " GiB"};
  double size = static_cast<double>(bytes);
  size_t unit = 0;
  for (; size >= 1024 && unit < 3; ++unit) size /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", size);
  return text + std::string(units[unit]);
}

std::string shortened(const std::string& text, size_t most) {
  return text.size() <= most ? text : text.substr(0, most) + "..";
}

std::string label_of(const PictureNode& n) {
  std::string text = n.label;
  if (!n.function.empty()) text += " (" + n.function + ")";
  text = quoted(text);
  if (!n.attributes.empty()) text += "\\n" + quoted(shortened(n.attributes, 60));
  text += "\\n" + quoted(shortened(n.type, 80));
  if (n.bytes >= 1024) text += ", " + size_text(n.bytes);
  return text;
}

const char* look_of(PictureNode::Kind kind) {
  switch (kind) {
    case PictureNode::input: return "style=\"filled,rounded\", fillcolor=\"#cfe8ff\"";
    case PictureNode::variable: return "style=\"filled,rounded\", fillcolor=\"#fde7b0\"";
    case PictureNode::constant: return "style=\"filled\", fillcolor=\"#eeeeee\"";
    case PictureNode::output: return "style=\"filled,rounded\", fillcolor=\"#d4f2d2\"";
    default: return "style=\"filled\", fillcolor=\"#ffffff\"";
  }
}

}  // namespace

std::string picture_dot(const Picture& p) {
  std::string out =
      text_of("digraph horngate {\n  label=\"", quoted(p.title), ": ", quoted(p.note),
              "\";\n  labelloc=t;\n  fontname=\"sans-serif\";\n"
              "  node [shape=box, fontname=\"sans-serif\", fontsize=11, color=\"#777777\"];\n"
              "  edge [color=\"#777777\", arrowsize=0.7];\n");
  std::map<int32_t, std::string> clusters;
  for (size_t i = 0; i < p.nodes.size(); ++i) {
    const PictureNode& n = p.nodes[i];
    const std::string line =
        text_of("  n", i, " [label=\"", label_of(n), "\", ", look_of(n.kind), "];\n");
    const bool grouped = n.group >= 0 && !p.groups[static_cast<size_t>(n.group)].empty();
    (grouped ? clusters[n.group] : out) += line;
  }
  for (const auto& [group, lines] : clusters)
    out += text_of(
        "  subgraph cluster_", group, " {\n  label=\"step ", group, ": ",
        quoted(shortened(p.groups[static_cast<size_t>(group)], 60)),
        "\"; fontsize=10; style=\"filled,rounded\"; color=\"#b9a6e0\"; fillcolor=\"#f1ecfb\";\n",
        lines, "  }\n");
  for (size_t i = 0; i < p.nodes.size(); ++i)
    for (const uint32_t from : p.nodes[i].from) out += text_of("  n", from, " -> n", i, ";\n");
  return out + "}\n";
}

}  // namespace horngate
