// Errors in the words of the user: the K function that was called, and the node's name.
#pragma once

#include "horngate/error.h"
#include "ir/name.h"

namespace horngate {

/// Runs f. Its errors begin with the K function of the name instead of the primitive's, and end with the user's
/// name of the node where there is one. Nodes with bodies speak for themselves: what fails inside of them has its
/// own function.
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
