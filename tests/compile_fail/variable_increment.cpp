// += would look like an update and be none.
#include <horngate/horngate.h>
void f(horngate::Variable& a, const horngate::Tensor& b) { a += b; }
