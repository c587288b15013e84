// Primitives with one operand. CNTK's logarithm, square root and quotient give finite numbers at 0 and below; the
// compositions here give what IEEE arithmetic gives.
#include <cmath>

#include "cntk/lower.h"

namespace horngate::cntk {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// int8 -128 stays, uint8 3 becomes 253.
Val negate(const LowerCall& c) { return wrapped(c.b, c.b.un(Un::kNegate, c.in(0)), c.dtype()); }

Val absolute(const LowerCall& c) {
  Val y = c.b.un(Un::kAbs, c.in(0));
  y.low = 0;
  return wrapped(c.b, y, c.dtype());
}

// 1 where x > 0, -1 where x < 0, else x
Val sign(const LowerCall& c) {
  const Val& x = c.in(0);
  Build& b = c.b;
  const Val one = b.scalar(x.type, 1), minus = b.scalar(x.type, -1);
  return b.select(b.bin(Bin::kGreater, x, 0), one, b.select(b.bin(Bin::kLess, x, 0), minus, x));
}

Val exponential(const LowerCall& c) {
  Val y = c.b.un(Un::kExp, c.in(0));
  y.low = 0;
  return y;
}

// e^x - 1 = 2 sinh(x / 2) e^(x / 2); both factors overflow late enough, but below -80 it would be 0 * inf
Val expm1(const LowerCall& c) {
  Build& b = c.b;
  const Val& x = c.in(0);
  const Val half = b.bin(Bin::kTimes, x, 0.5);
  const Val y = b.mul(b.bin(Bin::kTimes, b.un(Un::kSinh, half), 2), b.un(Un::kExp, half));
  return b.select(b.bin(Bin::kLess, x, -80), b.scalar(x.type, -1), y);
}

// near 0: log(1 + x) = 2 atanh(x / (2 + x))
Val log1p(const LowerCall& c) {
  Build& b = c.b;
  const Val& x = c.in(0);
  const Val small = b.bin(Bin::kLess, b.un(Un::kAbs, x), 0.5);
  const Val inner = b.select(small, x, b.scalar(x.type, 0));
  const Val series = b.bin(
      Bin::kTimes, b.un(Un::kAtanh, b.bin(Bin::kDivide, inner, b.bin(Bin::kPlus, inner, 2))), 2);
  return b.select(small, series, logarithm(b, b.bin(Bin::kPlus, x, 1)));
}

Val reciprocal_root(const LowerCall& c) {
  Build& b = c.b;
  return divide(b, b.scalar(c.in(0).type, 1), square_root(b, c.in(0)));
}

Val sigmoid(const LowerCall& c) {
  Val y = c.b.un(Un::kSigmoid, c.in(0));
  y.low = 0;
  return y;
}

// Adding and subtracting 2^23 (2^52) leaves no bits after the point, rounded half to even.
Val round(const LowerCall& c) {
  if (!is_float(c.dtype())) return c.in(0);
  Build& b = c.b;
  const Val& x = c.in(0);
  const double big = x.type == DataType::kFloat ? 0x1p23 : 0x1p52;
  const Val shift =
      b.select(b.bin(Bin::kLess, x, 0), b.scalar(x.type, -big), b.scalar(x.type, big));
  const Val y = b.bin(Bin::kMinus, b.add(x, shift), shift);
  return b.select(b.bin(Bin::kLess, b.un(Un::kAbs, x), big), y, x);
}

Val floor(const LowerCall& c) {
  return is_float(c.dtype()) ? c.b.un(Un::kFloor, c.in(0)) : c.in(0);
}

// Floats to integers by truncation, anything but 0 is true; wide integers to narrow ones by their low bits.
Val cast(const LowerCall& c) {
  Build& b = c.b;
  const Val& x = c.in(0);
  const int32_t from = c.dtype(), to = c.out_dtype();
  if (from == to) return x;
  if (to == HG_BOOL) {
    Val y = b.bin(Bin::kNotEqual, x, 0);
    y.low = 0;
    return y;
  }
  Val y = x;
  if (is_float(from) && !is_float(to)) y = truncated(b, b.cast(x, DataType::kDouble));
  const double low = y.low;
  const bool widens = !is_float(from) && bits_of(to) >= bits_of(from) &&
                      (from == HG_BOOL || is_unsigned(from) || !is_unsigned(to));
  if (!is_float(to) && !widens) {
    y = b.cast(y, DataType::kDouble);
    y = b.cast(wrapped(b, y, to, !is_float(from)), carrier(to));
  } else {
    y = b.cast(y, carrier(to));
    y.low = low;
  }
  return y;
}

Val logical_not(const LowerCall& c) {
  Val y = c.b.bin(Bin::kMinus, 1, c.in(0));
  y.low = 0;
  return y;
}

}  // namespace

Val truncated(Build& b, const Val& x) {
  const Val down = b.un(Un::kFloor, x);
  if (x.low >= 0) return down;
  return b.select(b.bin(Bin::kLess, x, 0), b.un(Un::kCeil, x), down);
}

// x - 2^bits * floor((x - lowest) / 2^bits), for all integers except those of 64 bits
Val wrapped(Build& b, const Val& x, int32_t dtype, bool all) {
  if (is_float(dtype) || dtype == HG_BOOL || bits_of(dtype) == 64) return x;
  if (dtype == HG_INT32 && !all) return x;
  const double span = std::ldexp(1.0, bits_of(dtype));
  const double lowest = is_unsigned(dtype) ? 0 : -span / 2;
  const Val turns =
      b.un(Un::kFloor, b.bin(Bin::kTimes, lowest ? b.bin(Bin::kMinus, x, lowest) : x, 1 / span));
  Val y = b.bin(Bin::kMinus, x, b.bin(Bin::kTimes, turns, span));
  y.low = lowest;
  return y;
}

// The library clamps its argument to at least 1e-37. Below, a root is taken first: log x = 16 log x^(1/16), NaN
// below 0.
Val logarithm(Build& b, const Val& x) {
  if (x.low > 1e-36) return b.un(Un::kLog, x);
  const double root = x.type == DataType::kFloat ? 4 : 16;
  const Val small = b.bin(Bin::kTimes, b.un(Un::kLog, b.bin(Bin::kPow, x, 1 / root)), root);
  const Val y = b.select(b.bin(Bin::kLess, x, 1e-36), small, b.un(Un::kLog, x));
  return b.select(b.bin(Bin::kEqual, x, 0), b.scalar(x.type, -kInf), y);
}

// The library gives 0 for NaN and for what is below 0.
Val square_root(Build& b, const Val& x) {
  Val y = b.select(b.bin(Bin::kGreaterEqual, x, 0), b.un(Un::kSqrt, x), b.scalar(x.type, kNan));
  y.low = x.low > 0 ? std::sqrt(x.low) * 0.999 : 0;
  return y;
}

void add_unary(Table& t) {
  const auto direct = [](Un op) {
    return [op](const LowerCall& c) { return c.b.un(op, c.in(0)); };
  };
  t["neg"] = {negate, {}, {}};
  t["abs"] = {absolute, {}, {}};
  t["sign"] = {sign, {}, {}};
  t["exp"] = {exponential, {}, {}};
  t["expm1"] = {expm1, {}, {}};
  t["log"] = {[](const LowerCall& c) { return logarithm(c.b, c.in(0)); }, {}, {}};
  t["log1p"] = {log1p, {}, {}};
  t["sqrt"] = {[](const LowerCall& c) { return square_root(c.b, c.in(0)); }, {}, {}};
  t["rsqrt"] = {reciprocal_root, {}, {}};
  t["sin"] = {direct(Un::kSin), {}, {}};
  t["cos"] = {direct(Un::kCos), {}, {}};
  t["tanh"] = {direct(Un::kTanh), {}, {}};
  t["sigmoid"] = {sigmoid, {}, {}};
  t["floor"] = {floor, {}, {}};
  t["round"] = {round, {}, {}};
  t["logical_not"] = {logical_not, {}, {}};
  t["cast"] = {cast, {}, {}};
  t["stop_gradient"] = {[](const LowerCall& c) { return c.in(0); }, {}, {}};
}

}  // namespace horngate::cntk
