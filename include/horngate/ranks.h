// What all operations of ranks share: how they fail, and in which order they add.
#pragma once

#include <string>

#include "horngate/error.h"

namespace horngate::distributed {

/// Why ranks cannot go on together.
enum class Trouble {
  none,
  timeout,      // somebody did not come
  lost,         // a rank ended, or cannot be reached
  left,         // a rank ended its program in order, while we still count on it
  given_up,     // a rank failed by itself, and said so
  interrupted,  // Ctrl-C here
  mismatch,     // ranks do different things
  other
};

/// Thrown by all operations. After one the ranks can no longer work together, until those that are left call shrink.
class HORNGATE_API CommError : public RuntimeError {
 public:
  CommError(Trouble trouble, int rank, const std::string& text)
      : RuntimeError(text), trouble_(trouble), rank_(rank) {}
  Trouble trouble() const { return trouble_; }
  /// The rank that is to blame; -1 if unknown.
  int rank() const { return rank_; }

 private:
  Trouble trouble_;
  int rank_;
};

/// ordered: the same bits from run to run, whatever the library and the network. library: in the library's own order.
/// automatic: ordered for up to 64 ranks.
enum class Order { automatic, ordered, library };

}  // namespace horngate::distributed
