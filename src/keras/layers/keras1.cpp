#include "keras/layers/keras1.h"

#include <map>
#include <string>

namespace horngate::keras {
namespace {

// None of the old names means anything else in the new layers, so one table serves all of them.
const std::map<std::string, std::string>& new_names() {
  static const std::map<std::string, std::string> kNames = {
      {"U_regularizer", "recurrent_regularizer"},
      {"W_constraint", "kernel_constraint"},
      {"W_regularizer", "kernel_regularizer"},
      {"atrous_rate", "dilation_rate"},
      {"b_constraint", "bias_constraint"},
      {"b_regularizer", "bias_regularizer"},
      {"bias", "use_bias"},
      {"border_mode", "padding"},
      {"dim_ordering", "data_format"},
      {"dropout_U", "recurrent_dropout"},
      {"dropout_W", "dropout"},
      {"filter_length", "kernel_size"},
      {"inner_activation", "recurrent_activation"},
      {"inner_init", "recurrent_initializer"},
      {"length", "size"},
      {"nb_filter", "filters"},
      {"p", "rate"},
      {"pool_length", "pool_size"},
      {"sigma", "stddev"},
      {"stride", "strides"},
      {"subsample", "strides"},
      {"subsample_length", "strides"},
  };
  return kNames;
}

/// The values of these names as one list, if all are there.
void gather(Json& to, const Json& from, std::initializer_list<const char*> names) {
  Json::List sizes;
  for (const char* name : names)
    if (const Json* size = from.find(name)) sizes.push_back(*size);
  if (sizes.size() == names.size()) to.set("kernel_size", sizes);
}

Json new_format(const Json& ordering) {
  if (ordering == Json("tf")) return "channels_last";
  if (ordering == Json("th")) return "channels_first";
  return ordering;  // "default" is read as none
}

bool is_old(const std::string& name) {
  return new_names().contains(name) || name == "init" || name == "forget_bias_init";
}

}  // namespace

Json of_keras_1(const std::string& class_name, const Json& config) {
  if (!config.is_object()) return config;
  if (class_name == "MaxoutDense" || class_name == "Highway") return config;  // no newer names
  bool found = config.find("output_dim") && class_name != "Embedding";
  for (const auto& [name, value] : config.as_object("layer")) found = found || is_old(name);
  if (!found) return config;
  Json result = with_new_names(config);
  if (const Json* units = config.find("output_dim"); units && class_name != "Embedding")
    result.set("units", *units);
  if (class_name == "Embedding")
    for (const char* name : {"regularizer", "constraint"})
      if (const Json* of_weights = config.find(std::string("W_") + name))
        result.set(std::string("embeddings_") + name, *of_weights);
  return result;
}

Json with_new_names(const Json& config) {
  Json result = Json::Object();
  for (const auto& [name, value] : config.as_object("layer")) {
    const auto found = new_names().find(name);
    if (found != new_names().end()) {
      result.set(found->second, name == "dim_ordering" ? new_format(value) : value);
    } else if (name == "init") {
      for (const char* kernel : {"kernel", "depthwise", "pointwise", "embeddings", "alpha"})
        result.set(std::string(kernel) + "_initializer", value);
    } else if (name == "forget_bias_init") {
      result.set("unit_forget_bias", value == Json("one"));
    } else {
      result.set(name, value);
    }
  }
  gather(result, config, {"nb_row", "nb_col"});
  gather(result, config, {"kernel_dim1", "kernel_dim2", "kernel_dim3"});
  return result;
}

}  // namespace horngate::keras
