// Errors of sizes that are too large.
#include "ir/checked.h"

namespace horngate {

void fail_large(std::string_view function, int64_t a, char operation, int64_t b) {
  fail(function, "sizes must fit into 64 bits; got ", a, ' ', operation, ' ', b, ".");
}

void check_size(std::string_view function, const TensorType& t) {
  int64_t bytes = static_cast<int64_t>(size_of(t.dtype));
  if (t.sparse) return;
  for (int64_t d : t.shape.dims())
    if (d > 1 && (__builtin_mul_overflow(bytes, d, &bytes) || bytes > kMostBytes)) [[unlikely]]
      fail(function, "a value of shape ", t.shape, " and dtype ", t.dtype,
           " is larger than any memory.");
}

}  // namespace horngate
