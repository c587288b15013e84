// export_onnx: the graph of a function, as for inference, through the rules of the onnx engine.
#include "horngate/export_onnx.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <system_error>
#include <unordered_map>

#include "engines/onnx/lower.h"
#include "ir/abi.h"
#include "ir/check.h"
#include "ir/primitive.h"
#include "plan/function_impl.h"

namespace horngate {
namespace {

constexpr const char* kName = "export_onnx";
constexpr size_t kLargest = (size_t{1} << 31) - 1;  // of a protobuf message

/// Values of variables, all at the same moment.
Arrays snapshot(const std::vector<VariableRef>& variables) {
  std::vector<VariableState*> states;
  for (const VariableRef& v : variables) states.push_back(v.get());
  const std::vector<VariableState*> sorted = in_id_order(states);
  Arrays values;
  const ReadLocks locks(sorted);
  for (VariableState* v : states) values.push_back(v->value);
  return values;
}

class Exporter {
 public:
  explicit Exporter(FunctionImpl& function)
      : function_(function),
        program_(function.program()),
        graph_(function.inference_graph()),
        c_graph_(graph_) {}

  std::string run() {
    find_used();
    add_inputs();
    add_variables();
    add_draws();
    onnx::Lowering lowering(b_, onnx::Aim::exchange);
    std::vector<onnx::Value> results;
    try {
      results = lowering.graph(*c_graph_.get(), values_);
    } catch (const onnx::Unsupported& e) {
      fail<NotImplementedError>(kName, "this cannot be written as ONNX: ", e.what(), ".");
    }
    return onnx::make_model(b_.graph("horngate", inputs_, outputs(results)), HORNGATE_VERSION)
        .data();
  }

 private:
  const hg_type& type(size_t input) const {
    return *c_graph_.get()->value[c_graph_.get()->in[input]];
  }

  void find_used() {
    used_.assign(graph_.values.size(), 0);
    for (const GraphNode& n : graph_.nodes)
      for (ValueId v : n.in) used_[v] = 1;
    for (size_t i = 0; i < program_.n_outputs; ++i) used_[graph_.outputs[i]] = 1;
  }

  /// Fed values. Unknown dimensions get names, different ones for each input: their sizes need not agree.
  void add_inputs() {
    for (size_t i = 0; i < program_.n_fed; ++i) n_taken_ += function_.takes_value(i);
    for (size_t i = 0; i < program_.n_fed; ++i) {
      const TensorType& t = graph_.values[graph_.inputs[i]];
      if (!function_.takes_value(i)) {
        values_.emplace_back();
        continue;
      }
      check<TypeError>(!t.sparse, kName, "input ", i, " \"", function_.input_name(i),
                       "\" is sparse, which ONNX does not support.");
      const std::string wish = function_.input_name(i);
      values_.push_back(onnx::value_of(b_.unique(wish.empty() ? "input" : wish), type(i)));
      const std::string& name = values_.back().name;
      std::vector<std::string> dims;
      for (size_t k = 0; k < t.shape.ndim(); ++k)
        dims.push_back(k > 0 ? name + "_dim" + std::to_string(k)
                             : (n_taken_ == 1 ? "batch" : name + "_batch"));
      const Ints& sizes = t.shape.dims();
      inputs_.push_back(
          onnx::make_value_info(name, type(i).dtype, onnx::Ints(sizes.begin(), sizes.end()), dims));
    }
  }

  void add_variables() {
    const Arrays held = snapshot(program_.variables);
    for (size_t i = 0; i < held.size(); ++i) {
      const size_t input = program_.n_fed + i;
      const std::string& name = program_.variables[i]->name;
      if (!used_[graph_.inputs[input]]) {
        values_.emplace_back();
        continue;
      }
      check<TypeError>(!held[i].is_sparse(), kName, "variable \"", name,
                       "\" is sparse, which ONNX does not support.");
      const Ints& dims = held[i].dims();
      values_.push_back(b_.constant(type(input).dtype, onnx::Ints(dims.begin(), dims.end()),
                                    held[i].raw(), b_.unique(name.empty() ? "variable" : name)));
    }
  }

  void add_draws() {
    for (size_t i = values_.size(); i < graph_.inputs.size(); ++i)
      values_.push_back(onnx::value_of("draw", type(i)));
  }

  /// An output is named after the node that makes it.
  std::vector<onnx::Message> outputs(const std::vector<onnx::Value>& results) {
    std::unordered_map<ValueId, std::string> names;
    for (const GraphNode& n : graph_.nodes)
      if (n.name) names[n.out[0]] = *n.name;
    std::vector<onnx::Message> infos;
    for (size_t i = 0; i < program_.n_outputs; ++i) {
      const ValueId v = graph_.outputs[i];
      const auto it = names.find(v);
      const std::string name =
          b_.unique(it != names.end() ? it->second : "output_" + std::to_string(i));
      b_.rename(results[i], name);
      const Ints& dims = graph_.values[v].shape.dims();
      infos.push_back(
          onnx::make_value_info(name, results[i].dtype, onnx::Ints(dims.begin(), dims.end())));
    }
    return infos;
  }

  FunctionImpl& function_;
  const FunctionGraph& program_;
  const Graph& graph_;
  const CGraph c_graph_;
  onnx::Builder b_;
  std::vector<uint8_t> used_;
  size_t n_taken_ = 0;
  std::vector<onnx::Value> values_;
  std::vector<onnx::Message> inputs_;
};

/// All or nothing: an existing file stays if writing fails.
void write_file(const std::string& path, const std::string& bytes) {
  const std::string part = path + ".part";
  std::ofstream file(part, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (file && std::rename(part.c_str(), path.c_str()) == 0) return;
  const std::string why = std::generic_category().message(errno);
  std::remove(part.c_str());
  fail<RuntimeError>(kName, "cannot write \"", path, "\": ", why, ".");
}

}  // namespace

void export_onnx(const Function& function, const std::string& path) {
  check(function.impl() != nullptr, kName, "the function is empty.");
  check(!path.empty(), kName, "path must be the name of a file; got \"\".");
  FunctionImpl& impl = *function.impl();
  const size_t updates = impl.program().updated.size();
  check(updates == 0, kName,
        "the function must not have updates, because a model has no state; got ", updates, ".");
  const std::string bytes = Exporter(impl).run();
  check(bytes.size() <= kLargest, kName, "the model has ", bytes.size(),
        " bytes; an ONNX file holds at most ", kLargest, ".");
  write_file(path, bytes);
}

}  // namespace horngate
