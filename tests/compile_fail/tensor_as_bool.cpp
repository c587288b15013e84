// A tensor has no truth value: `if (x)` would be a bug.
#include <horngate/horngate.h>
int f(const horngate::Tensor& x) {
  if (x) return 1;
  return 0;
}
