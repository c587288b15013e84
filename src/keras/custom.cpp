#include "keras/custom.h"

#include <utility>

#include "horngate/keras/objects.h"
#include "keras/nameless.h"

namespace horngate::keras {
namespace {

constinit thread_local const LoadOptions* options_of_load = nullptr;
constinit thread_local int nameless_allowed = 0;

}  // namespace

CustomScope::CustomScope(const LoadOptions& options)
    : before_(std::exchange(options_of_load, &options)) {}
CustomScope::~CustomScope() { options_of_load = before_; }
const LoadOptions* CustomScope::active() { return options_of_load; }

NamelessAllowed::NamelessAllowed() { ++nameless_allowed; }
NamelessAllowed::~NamelessAllowed() { --nameless_allowed; }

std::string custom_hint(const char* option) {
  if (!CustomScope::active()) return {};
  return " Give what is your own in " + std::string(option) + ".";
}

Json own_name(const char* class_name, const std::string& name, bool is_of_keras) {
  if (name.empty())
    throw ValueError(std::string(class_name) +
                     ": name must not be empty; without one a callable cannot be saved.");
  if (is_of_keras)
    throw ValueError(std::string(class_name) +
                     ": name must not be one of Keras's own, which files would mean; got \"" +
                     name + "\".");
  return name;
}

void detail::refuse_nameless(const char* class_name) {
  if (nameless_allowed > 0) return;
  throw Nameless("a callable without a name cannot be saved; give it one: keras::" +
                 std::string(class_name) + "(\"my_name\", f).");
}

}  // namespace horngate::keras
