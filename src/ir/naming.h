// Errors in the user's words: the K function that was called and the name of the node.
#pragma once

#include "horngate/error.h"
#include "ir/name.h"

namespace horngate {

/// Runs f. Its errors start with the K function of `name` instead of the primitive, and end with the user's name
/// of the node if there is one. Nodes with bodies are left alone: what fails inside them has its own function.
template <class F>
decltype(auto) naming_errors(const NodeName& name, bool has_bodies, F&& f) {
  const auto text = [&](const Error& e) {
    std::string t = in_the_name_of(has_bodies ? nullptr : name.function, e.what());
    return name ? t + " (node \"" + *name + "\")" : t;
  };
  try {
    return f();
  } catch (const IndexError& e) {
    throw IndexError(text(e));
  } catch (const ValueError& e) {
    throw ValueError(text(e));
  } catch (const TypeError& e) {
    throw TypeError(text(e));
  } catch (const NotImplementedError& e) {
    throw NotImplementedError(text(e));
  }
}

}  // namespace horngate
