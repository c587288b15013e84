#include "keras/layers/keras1.h"

#include <map>
#include <string>

namespace horngate::keras {
namespace {

// None of the old names means anything else in the new layers, so one table serves all of them.
const std::map<std::string, std::string>& new_names() {
  static const std::map<std::string, std::string> kNames = {
      {"W_constraint", "kernel_constraint"},
      {"W_regularizer", "kernel_regularizer"},
      {"atrous_rate", "dilation_rate"},
      {"b_constraint", "bias_constraint"},
      {"b_regularizer", "bias_regularizer"},
      {"bias", "use_bias"},
      {"border_mode", "padding"},
      {"dim_ordering", "data_format"},
      {"filter_length", "kernel_size"},
      {"length", "size"},
      {"nb_filter", "filters"},
      {"pool_length", "pool_size"},
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

}  // namespace

Json with_new_names(const Json& config) {
  Json result = Json::Object();
  for (const auto& [name, value] : config.as_object("layer")) {
    const auto found = new_names().find(name);
    if (found != new_names().end()) {
      result.set(found->second, name == "dim_ordering" ? new_format(value) : value);
    } else if (name == "init") {
      for (const char* kernel : {"kernel", "depthwise", "pointwise"})
        result.set(std::string(kernel) + "_initializer", value);
    } else {
      result.set(name, value);
    }
  }
  gather(result, config, {"nb_row", "nb_col"});
  gather(result, config, {"kernel_dim1", "kernel_dim2", "kernel_dim3"});
  return result;
}

}  // namespace horngate::keras
