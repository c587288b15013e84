// Callables without a name, which no configuration can have.
#pragma once

#include "horngate/error.h"

namespace horngate::keras {

/// A configuration was asked for that would have one. Whoever knows puts argument and layer in front.
class Nameless : public ValueError {
 public:
  using ValueError::ValueError;
};

/// While it lives, on this thread, they are null in configurations: for whoever asks for other entries.
class NamelessAllowed {
 public:
  NamelessAllowed();
  ~NamelessAllowed();
  NamelessAllowed(const NamelessAllowed&) = delete;
};

}  // namespace horngate::keras
