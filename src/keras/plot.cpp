// A model's graph for Graphviz, and the picture that Graphviz makes of it.
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <unordered_map>

#include "files/atomic_file.h"
#include "horngate/keras/model.h"
#include "keras/network.h"

extern char** environ;

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

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw RuntimeError("plot_model: " + path + ": " + what);
}

/// An open file that is closed at the end.
struct File {
  explicit File(int fd) : fd(fd) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { close(); }
  void close() {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
  int fd;
};

/// What `dot -Tformat` writes when it is given the graph.
std::string drawn(const std::string& path, const std::string& dot, const std::string& format) {
  const File in(::memfd_create("model.dot", MFD_CLOEXEC));
  if (in.fd < 0 || ::pwrite(in.fd, dot.data(), dot.size(), 0) != static_cast<ssize_t>(dot.size()))
    fail(path, std::string("no memory for the graph (") + std::strerror(errno) + ").");
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail(path, std::strerror(errno));
  File from(ends[0]), to(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.fd, 0);
  posix_spawn_file_actions_adddup2(&actions, to.fd, 1);
  std::string program = "dot", option = "-T" + format;
  const std::array<char*, 3> words = {program.data(), option.data(), nullptr};
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, "dot", &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error)
    fail(path, "pictures are drawn by Graphviz, and its program \"dot\" cannot be run (" +
                   std::string(std::strerror(error)) + "). Write a .dot file instead.");
  to.close();
  std::string picture;
  std::array<char, 65536> piece;
  for (ssize_t n; (n = ::read(from.fd, piece.data(), piece.size())) != 0;) {
    if (n > 0) picture.append(piece.data(), static_cast<size_t>(n));
    if (n < 0 && errno != EINTR) break;
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || picture.empty())
    fail(path, "\"dot -T" + format + "\" failed.");
  return picture;
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
  const std::string text = format == "dot" ? graph : drawn(path, graph, format);
  files::AtomicFile file(path);
  file.write(std::as_bytes(std::span(text)));
  file.finish();
}

}  // namespace horngate::keras
