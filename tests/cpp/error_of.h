// Texts of errors.
#pragma once

#include <horngate/error.h>

#include <string>

namespace horngate::testing {

/// What f throws says; what is no E is said to be another exception.
template <class E = Error, class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  } catch (const std::exception& e) {
    return std::string("another exception: ") + e.what();
  }
  return "nothing was thrown";
}

}  // namespace horngate::testing
