// Exceptions. Each message reads "function: which argument must be what; got what."
#pragma once

#include <stdexcept>
#include <string>

#include "horngate/export.h"

namespace horngate {

/// Base of everything that the library throws. The subclasses are named after the Python exceptions
/// they become.
class HORNGATE_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
class HORNGATE_API ValueError : public Error {
 public:
  using Error::Error;
};
class HORNGATE_API TypeError : public Error {
 public:
  using Error::Error;
};
class HORNGATE_API IndexError : public Error {
 public:
  using Error::Error;
};
class HORNGATE_API NotImplementedError : public Error {
 public:
  using Error::Error;
};
class HORNGATE_API RuntimeError : public Error {
 public:
  using Error::Error;
};
/// A call was stopped by Ctrl-C, or by what hooks.h was told to ask; variables are as they were before it.
class HORNGATE_API Interrupted : public Error {
 public:
  using Error::Error;
};

}  // namespace horngate
