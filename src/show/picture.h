// Picture: a graph as people look at it, made once and drawn as DOT or as a page.
#pragma once

#include <string>
#include <vector>

#include "ir/to_graph.h"

namespace horngate {

struct PictureNode {
  enum Kind : uint8_t { input, variable, constant, operation, output } kind = operation;
  std::string label;  // the primitive, or the name of an input
  std::string function, name, attributes;
  std::string scope;           // "block_1/conv/", where it belongs when layers are folded
  std::string type;            // of its results
  size_t bytes = 0;            // of its results; 0 if that is not known
  int32_t group = -1;          // the step that it runs in
  std::vector<uint32_t> from;  // nodes whose results it reads
};

struct Picture {
  std::string title, note;
  std::vector<PictureNode> nodes;   // operands before users
  std::vector<std::string> groups;  // "fused(add, mul)" for groups of several nodes, else empty
};

/// A function's graph with the names of its inputs.
struct NamedGraph {
  const Graph* graph;
  std::vector<std::string> inputs;
  std::vector<PictureNode::Kind> kinds;  // of the inputs
  size_t n_outputs;                      // the others are new values of `updated`
  std::vector<std::string> updated;
};

/// `step_of`: number of the step of each node; `steps`: their names. Empty if that is not known.
Picture make_picture(const NamedGraph& named, std::string title,
                     const std::vector<int32_t>& step_of = {}, std::vector<std::string> steps = {});

/// For Graphviz; groups are clusters.
std::string picture_dot(const Picture& picture);
/// A page with one tab per picture, which needs no network.
std::string pictures_page(const std::string& title, const std::vector<Picture>& pictures);

}  // namespace horngate
