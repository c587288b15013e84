// While a model is loaded its weights come from the file: initializers do not run.
#pragma once

#include <cstdint>

namespace horngate::keras {

/// While it lives, on this thread, new weights are zeros, and may have as many elements together as the file holds: a
/// configuration of a few bytes could ask for all memory.
class NoInitializers {
 public:
  explicit NoInitializers(int64_t elements);
  ~NoInitializers();
  NoInitializers(const NoInitializers&) = delete;

  static bool is_active();
  /// Takes from what is left; false if it is not enough.
  static bool take(int64_t elements);

 private:
  int64_t before_;
};

}  // namespace horngate::keras
