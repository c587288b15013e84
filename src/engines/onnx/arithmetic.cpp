// Floor division, its remainder, and powers.
#include "lower.h"

namespace horngate::onnx {
namespace {

/// a - trunc(a / b) * b, exact.
Value fmod(Builder& b, const Value& x, const Value& y) {
  return b.binary("Mod", x, y, Attributes().number("fmod", 1));
}

Value zero(Builder& b, const Value& x) { return b.scalar(x.dtype, 0); }

/// Where the remainder of a truncated division has the opposite sign of the divisor.
Value must_step(Builder& b, const Value& rest, const Value& y) {
  const Value differ =
      b.compare("Xor", b.compare("Less", y, zero(b, y)), b.compare("Less", rest, zero(b, rest)));
  return b.compare("And", differ, b.unary("Not", b.compare("Equal", rest, zero(b, rest))));
}

/// Where has no kernel for uint64, so the choice is made as int64.
Value choose(Builder& b, const Value& condition, const Value& x, const Value& y) {
  if (x.dtype != HG_UINT64) return b.where(condition, x, y);
  return b.cast(b.where(condition, b.cast(x, HG_INT64), b.cast(y, HG_INT64)), HG_UINT64);
}

/// A divisor that is safe for integers: 0 and -1 (the smallest number has no opposite) become 1.
struct Divisor {
  Value zero, minus, safe;
};
Divisor safe_divisor(Builder& b, const Value& y) {
  Divisor d;
  d.zero = b.compare("Equal", y, b.scalar(y.dtype, 0));
  if (y.dtype == HG_UINT64) {
    d.safe = choose(b, d.zero, b.scalar(y.dtype, 1), y);
    return d;
  }
  d.minus = b.compare("Equal", y, b.scalar(y.dtype, -1));
  d.safe = b.where(b.compare("Or", d.zero, d.minus), b.scalar(y.dtype, 1), y);
  return d;
}

// The remainder is exact, so x without it, divided by y, is a whole number but for rounding.
void floordiv(Op& op) {
  Builder& b = op.b;
  const Value x = widened(op, 0), y = widened(op, 1);
  if (!is_float(x.dtype)) {
    const Divisor d = safe_divisor(b, y);
    const Value q = b.binary("Div", b.binary("Sub", x, b.binary("Mod", x, d.safe)), d.safe);
    if (y.dtype == HG_UINT64) return op.set(0, choose(b, d.zero, zero(b, x), q));
    op.set(0, b.where(d.zero, zero(b, x), b.where(d.minus, b.unary("Neg", x), q)));
    return;
  }
  const Value rest = fmod(b, x, y);
  const Value q = b.binary("Div", b.binary("Sub", x, rest), y);
  const Value step = b.cast(must_step(b, rest, y), x.dtype);
  const Value floor = b.unary("Round", b.binary("Sub", q, step));
  op.set(0, b.where(b.compare("Equal", y, zero(b, y)), b.binary("Div", x, y), floor));
}

void mod(Op& op) {
  Builder& b = op.b;
  const Value x = widened(op, 0), y = widened(op, 1);
  if (!is_float(x.dtype)) {
    const Divisor d = safe_divisor(b, y);
    op.set(0, choose(b, d.zero, zero(b, x), b.binary("Mod", x, d.safe)));
    return;
  }
  const Value rest = fmod(b, x, y);
  op.set(0, b.where(must_step(b, rest, y), b.binary("Add", rest, y), rest));
}

void pow(Op& op) {
  const Value x = widened(op, 0);
  // For integers it goes through doubles: large powers would not wrap around.
  if (!is_float(x.dtype)) throw Unsupported("the runtime supports it only for floats");
  op.set(0, op.b.binary("Pow", x, widened(op, 1)));
}

}  // namespace

void add_arithmetic(Table& t) {
  t["floordiv"] = floordiv;
  t["mod"] = mod;
  t["pow"] = pow;
}

}  // namespace horngate::onnx
