#include "keras/no_initializers.h"

#include <utility>

namespace horngate::keras {
namespace {

constinit thread_local int64_t left = -1;  // -1: not active

}  // namespace

NoInitializers::NoInitializers(int64_t elements) : before_(std::exchange(left, elements)) {}
NoInitializers::~NoInitializers() { left = before_; }
bool NoInitializers::is_active() { return left >= 0; }
bool NoInitializers::take(int64_t elements) {
  if (elements > left) return false;
  left -= elements;
  return true;
}

}  // namespace horngate::keras
