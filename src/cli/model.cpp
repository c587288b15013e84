// horngate show, horngate check: what is in a model's file.
#include <horngate/keras.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "commands.h"

namespace horngate::cli {
namespace {

using Json = nlohmann::ordered_json;

keras::Model loaded(const char* command, const Arguments& arguments, bool compile) {
  if (arguments.size() != 1) throw ValueError(usage(command));
  set_quiet(true);
  return keras::load_model(arguments[0], {.compile = compile});
}

void print(const Json& all) {
  std::puts(all.dump(1, ' ', false, Json::error_handler_t::replace).c_str());
}

/// None is null.
Json shape_of(const Tensor& x) {
  Json dims = Json::array();
  for (const int64_t n : x.shape().dims()) dims.push_back(n < 0 ? Json() : Json(n));
  return dims;
}

Json values_of(const std::vector<std::string>& names, const keras::Values& values) {
  Json all = Json::array();
  for (size_t i = 0; i < values.size(); ++i)
    all.push_back({{"name", i < names.size() ? names[i] : values[i].name()},
                   {"shape", shape_of(values[i])},
                   {"dtype", name_of(values[i].dtype())}});
  return all;
}

/// The calls of layers that lead to the outputs, by layer, first calls first.
std::map<const keras::Body*, std::vector<const keras::CallNode*>> calls_of(
    const keras::Model& model) {
  std::set<const keras::CallNode*> seen;
  std::vector<const keras::CallNode*> open, found;
  const auto meet = [&](const keras::Values& values) {
    for (const keras::Value& v : values)
      if (v.node() && seen.insert(v.node().get()).second) open.push_back(v.node().get());
  };
  meet(model.outputs());
  while (!open.empty()) {
    const keras::CallNode* node = open.back();
    open.pop_back();
    found.push_back(node);
    meet(node->inputs);
  }
  std::sort(found.begin(), found.end(), [](auto* a, auto* b) { return a->order < b->order; });
  std::map<const keras::Body*, std::vector<const keras::CallNode*>> calls;
  for (const keras::CallNode* node : found) calls[node->layer.get()].push_back(node);
  return calls;
}

int64_t count(const std::vector<keras::Weight>& weights) {
  std::map<const void*, int64_t> sizes;  // shared ones count once
  for (const keras::Weight& w : weights) sizes[w.variable.node()] = w.variable.shape().size();
  int64_t sum = 0;
  for (const auto& [ignored, size] : sizes) sum += size;
  return sum;
}

/// What summary() says, for programs.
Json described(const std::string& file, const keras::Model& model) {
  const auto calls = calls_of(model);
  Json layers = Json::array();
  for (const keras::Layer& layer : model.layers()) {
    Json shapes = Json::array(), from = Json::array();
    if (const auto at = calls.find(&layer.body()); at != calls.end()) {
      for (const Tensor& t : at->second[0]->outputs) shapes.push_back(shape_of(t));
      for (const keras::CallNode* call : at->second)
        for (const keras::Value& v : call->inputs) from.push_back(v.node()->layer->name());
    }
    layers.push_back({{"name", layer.name()},
                      {"class", layer.class_name()},
                      {"output_shapes", shapes},
                      {"parameters", layer.count_params()},
                      {"trainable", layer.trainable()},
                      {"inputs", from}});
  }
  return {{"file", file},
          {"class", model.class_name()},
          {"name", model.name()},
          {"inputs", values_of(model.input_names(), model.inputs())},
          {"outputs", values_of(model.output_names(), model.outputs())},
          {"layers", layers},
          {"parameters", model.count_params()},
          {"trainable_parameters", count(model.trainable_weights())}};
}

}  // namespace

int show(const Arguments& given) {
  Arguments arguments = given;
  const bool json = std::erase(arguments, "--json") > 0;
  std::string picture;
  if (arguments.size() == 2 && !json) {
    picture = arguments[1];
    arguments.pop_back();
  }
  const keras::Model model = loaded("show", arguments, false);
  if (json) {
    print(described(arguments[0], model));
    return 0;
  }
  if (picture.empty()) {
    std::fputs(model.summary().c_str(), stdout);
    return 0;
  }
  const keras::Values inputs = model.inputs(), outputs = model.outputs();
  plot_function(Tensors(inputs.begin(), inputs.end()), Tensors(outputs.begin(), outputs.end()), {},
                picture);
  return 0;
}

int check(const Arguments& given) {
  Arguments arguments = given;
  const bool json = std::erase(arguments, "--json") > 0;
  const keras::Model model = loaded("check", arguments, true);
  if (json) {
    Json all = {{"file", arguments[0]},
                {"class", model.class_name()},
                {"name", model.name()},
                {"layers", model.layers().size()},
                {"parameters", model.count_params()},
                {"optimizer", nullptr}};
    if (model.is_compiled()) all["optimizer"] = model.optimizer().class_name();
    print(all);
    return 0;
  }
  std::printf("%s: complete. %s \"%s\", %zu layers, %lld parameters", arguments[0].c_str(),
              model.class_name().c_str(), model.name().c_str(), model.layers().size(),
              static_cast<long long>(model.count_params()));
  if (!model.is_compiled())
    std::printf("; not compiled.\n");
  else
    std::printf("; compiled with %s (%zu state variables).\n",
                model.optimizer().class_name().c_str(), model.optimizer().weights().size());
  return 0;
}

}  // namespace horngate::cli
