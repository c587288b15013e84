// == of variables would be ambiguous between identity and K.equal.
#include <horngate/horngate.h>
bool f(const horngate::Variable& a, const horngate::Variable& b) { return a == b; }
