// horngate show, horngate check: what is in a model's file.
#include <horngate/keras.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "commands.h"

namespace horngate::cli {
namespace {

keras::Model loaded(const char* command, const Arguments& arguments, bool compile) {
  if (arguments.size() != 1)
    throw ValueError(std::string("usage: horngate ") + command + " MODEL.h5" +
                     (command == std::string_view("show") ? " [PICTURE.html|svg|png|dot]" : ""));
  set_quiet(true);
  return keras::load_model(arguments[0], {.compile = compile});
}

}  // namespace

int show(const Arguments& given) {
  Arguments arguments = given;
  std::string picture;
  if (arguments.size() == 2) {
    picture = arguments[1];
    arguments.pop_back();
  }
  const keras::Model model = loaded("show", arguments, false);
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
    nlohmann::ordered_json all = {{"file", arguments[0]},
                                  {"class", model.class_name()},
                                  {"name", model.name()},
                                  {"layers", model.layers().size()},
                                  {"parameters", model.count_params()},
                                  {"optimizer", nullptr}};
    if (model.is_compiled()) all["optimizer"] = model.optimizer().class_name();
    std::puts(all.dump(1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    return 0;
  }
  std::printf("%s: whole. %s \"%s\", %zu layers, %lld parameters", arguments[0].c_str(),
              model.class_name().c_str(), model.name().c_str(), model.layers().size(),
              static_cast<long long>(model.count_params()));
  if (!model.is_compiled())
    std::printf("; not compiled.\n");
  else
    std::printf("; compiled with %s, %zu variables of its state.\n",
                model.optimizer().class_name().c_str(), model.optimizer().weights().size());
  return 0;
}

}  // namespace horngate::cli
