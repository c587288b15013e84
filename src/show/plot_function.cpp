// plot_function: the graph as it was built, and what the native engine makes of it.
#include "horngate/plot.h"

#include <algorithm>

#include "engines/native/fuse.h"
#include "engines/native/layout.h"
#include "engines/registry.h"
#include "files/atomic_file.h"
#include "files/graphviz.h"
#include "ir/check.h"
#include "ir/primitive.h"
#include "passes/passes.h"
#include "plan/function_impl.h"
#include "show/picture.h"

namespace horngate {
namespace {

constexpr const char* kName = "plot_function";
constexpr int64_t kUnknownSize = 32;

class Drawing {
 public:
  Drawing(const FunctionGraph& program, std::vector<std::string> fed, const PlotFunctionOptions& o)
      : program_(program), options_(o) {
    check(o.stage == "plan" || o.stage == "program", kName,
          "stage must be \"plan\" or \"program\"; got \"", o.stage, "\".");
    check(o.shapes.empty() || o.shapes.size() == program.n_fed, kName,
          "shapes must have an entry for each of the ", program.n_fed, " inputs; got ",
          o.shapes.size(), ".");
    names_ = std::move(fed);
    names_.resize(program.n_fed);
    kinds_.assign(program.n_fed, PictureNode::input);
    for (const VariableRef& v : program.variables) {
      names_.push_back(v->name);
      kinds_.push_back(PictureNode::variable);
    }
    names_.resize(program.graph.inputs.size(), "random draw");
    kinds_.resize(program.graph.inputs.size(), PictureNode::input);
  }

  std::string text(const std::string& format) const {
    if (format == "html") return pictures_page("Horngate function", {plan(), program()});
    return picture_dot(options_.stage == "plan" ? plan() : program());
  }

 private:
  NamedGraph named(const Graph& g) const {
    NamedGraph n{&g, names_, kinds_, program_.n_outputs, {}};
    for (const uint32_t u : program_.updated) n.updated.push_back(program_.variables[u]->name);
    return n;
  }

  Picture program() const { return make_picture(named(program_.graph), "Graph as it was built"); }

  Picture plan() const {
    Graph g = prepare(program_.graph, options_.training, evaluate);
    std::string sizes;
    const std::vector<TensorType> types = input_types(g, &sizes);
    Specialised special;
    try {
      special = specialise(g, types, {});
    } catch (const Error& e) {
      check(options_.shapes.empty(), kName, e.what());
      return make_picture(named(g), "After the passes (open sizes; give shapes to see what runs)");
    }
    if (!special.result)
      return make_picture(named(g),
                          "After the passes (sizes depend on data, so there are several plans)");

    g = improve_loops(std::move(*special.result));
    const std::vector<ValueId> outputs = g.outputs;
    g = extract(std::move(g), outputs);
    if (std::optional<Graph> turned = native::channels_last(g)) g = std::move(*turned);
    std::vector<int32_t> step_of(g.nodes.size(), -1);
    std::vector<std::string> steps;
    for (const native::StepNodes& s : native::fuse(g)) {
      const bool several = s.nodes.size() > 1;
      std::string name;
      for (const uint32_t n : s.nodes) {
        step_of[n] = static_cast<int32_t>(steps.size());
        name += text_of(name.empty() ? "" : ", ", primitive(g.nodes[n].prim).name);
      }
      steps.push_back(several ? "fused(" + name + ")" : "");
    }
    const size_t n_steps = steps.size();
    Picture picture = make_picture(named(g), "What runs" + sizes, step_of, std::move(steps));
    picture.note += text_of(" in ", n_steps, n_steps == 1 ? " step" : " steps");
    return picture;
  }

  /// The size of the axis in an element-wise node that reads v, or -1: Keras' targets do not tell their sizes.
  static int64_t size_beside(const Graph& g, ValueId v, size_t axis) {
    for (const GraphNode& n : g.nodes) {
      if (primitive(n.prim).how != How::elementwise ||
          std::find(n.in.begin(), n.in.end(), v) == n.in.end())
        continue;
      const Shape& out = g.values[n.out[0]].shape;
      if (out.ndim() != g.values[v].shape.ndim()) continue;
      if (out.dim(axis) >= 0) return out.dim(axis);
      if (n.prim == Prim::cast) return size_beside(g, n.out[0], axis);
    }
    return -1;
  }

  /// Every size a number: from the options, else from size_beside, else kUnknownSize.

  std::vector<TensorType> input_types(const Graph& g, std::string* told) const {
    std::vector<TensorType> types;
    bool guessed = false;
    for (size_t i = 0; i < g.inputs.size(); ++i) {
      TensorType t = g.values[g.inputs[i]];
      if (i < options_.shapes.size() && options_.shapes[i].ndim() == t.shape.ndim())
        for (size_t k = 0; k < t.shape.ndim(); ++k)
          if (t.shape.dim(k) < 0) t.shape.dims()[k] = options_.shapes[i].dim(k);
      for (size_t k = 0; k < t.shape.ndim(); ++k)
        if (int64_t& d = t.shape.dims()[k]; d < 0) {
          d = size_beside(g, g.inputs[i], k);
          guessed |= d < 0;
          if (d < 0) d = kUnknownSize;
        }

      types.push_back(std::move(t));
    }
    if (guessed) *told = text_of(", None as ", kUnknownSize);
    return types;
  }

  const FunctionGraph& program_;
  const PlotFunctionOptions& options_;
  std::vector<std::string> names_;
  std::vector<PictureNode::Kind> kinds_;
};

FunctionGraph graph_of(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
                       const std::vector<Update>& updates, std::vector<std::string>* names) {
  Tensors fed, ops;
  for (const Tensor& t : inputs) {
    const bool is_value = t.defined() && t.node()->prim != Prim::learning_phase;
    fed.push_back(is_value ? t : Tensor());
    names->push_back(t.defined() ? t.name() : "nothing");
  }
  for (const Tensor& t : outputs)
    check(t.defined(), kName, "an output is empty; perhaps it is a gradient that is None.");
  for (const Update& u : updates)
    if (u.op().defined()) ops.push_back(u.op());
  return to_function_graph(fed, outputs, ops);
}

std::string finished(const Drawing& drawing, const std::string& format) {
  const std::string text = drawing.text(format);
  return format == "dot" || format == "html" ? text : files::drawn_by_graphviz(kName, text, format);
}

void write(const Drawing& drawing, const std::string& path) {
  const size_t dot = path.rfind('.');
  const std::string format = dot == std::string::npos ? "" : path.substr(dot + 1);
  constexpr std::string_view kFormats[] = {"dot", "svg", "png", "pdf", "html"};
  check(std::find(std::begin(kFormats), std::end(kFormats), format) != std::end(kFormats), kName,
        "the file must end in .html, .svg, .png, .pdf or .dot; got \"", path, "\".");
  const std::string text = finished(drawing, format);
  files::AtomicFile file(path);
  file.write(std::as_bytes(std::span(text)));
  file.finish();
}

}  // namespace

void plot_function(const Function& function, const std::string& path,
                   const PlotFunctionOptions& options) {
  check(function.impl() != nullptr, kName, "the function is empty.");
  const FunctionImpl& impl = *function.impl();
  std::vector<std::string> names;
  for (size_t i = 0; i < impl.n_inputs(); ++i) names.push_back(impl.input_name(i));
  write(Drawing(impl.program(), std::move(names), options), path);
}

void plot_function(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
                   const std::vector<Update>& updates, const std::string& path,
                   const PlotFunctionOptions& options) {
  std::vector<std::string> names;
  const FunctionGraph program = graph_of(inputs, outputs, updates, &names);
  write(Drawing(program, std::move(names), options), path);
}

std::string function_picture(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
                             const std::vector<Update>& updates, const std::string& format,
                             const PlotFunctionOptions& options) {
  check(format == "dot" || format == "svg" || format == "html", kName,
        "format must be \"dot\", \"svg\" or \"html\"; got \"", format, "\".");
  std::vector<std::string> names;
  const FunctionGraph program = graph_of(inputs, outputs, updates, &names);
  return finished(Drawing(program, std::move(names), options), format);
}

}  // namespace horngate
