// Primitives of two or three operands, element by element.
#include <algorithm>
#include <cmath>

#include "cntk/lower.h"

namespace horngate::cntk {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Both operands in the same carrier; only bools may come in two.
std::pair<Val, Val> pair_of(const LowerCall& c, uint32_t i, uint32_t j) {
  const Val &a = c.in(i), &d = c.in(j);
  return {a, c.b.cast(d, a.type)};
}

bool is_same(const Val& a, const Val& d) { return a.v == d.v; }

Val add(const LowerCall& c) {
  const auto [x, y] = pair_of(c, 0, 1);
  Val z = c.b.add(x, y);
  z.low = x.low + y.low;
  z.never_zero = z.low > 0;
  return wrapped(c.b, z, c.dtype());
}

Val subtract(const LowerCall& c) {
  const auto [x, y] = pair_of(c, 0, 1);
  return wrapped(c.b, c.b.bin(Bin::kMinus, x, y), c.dtype());
}

Val multiply(const LowerCall& c) {
  const auto [x, y] = pair_of(c, 0, 1);
  Val z = c.b.mul(x, y);
  if (is_same(x, y) || (x.low >= 0 && y.low >= 0)) z.low = 0;
  return wrapped(c.b, z, c.dtype());
}

Val quotient(const LowerCall& c) {
  const auto [x, y] = pair_of(c, 0, 1);
  Val z = divide(c.b, x, y);
  if (x.low >= 0 && y.low >= 0) z.low = 0;
  return z;
}

// For integers. The library multiplies by the reciprocal, so the quotient may be off; the remainder tells.
Val floor_quotient(Build& b, const Val& x, const Val& y) {
  const Val q = b.un(Un::kFloor, divide(b, x, y));
  const Val rest = b.bin(Bin::kMinus, x, b.mul(q, y));
  const Val below = b.bin(Bin::kLess, b.mul(rest, y), 0);
  const Val above = b.bin(Bin::kGreaterEqual, b.un(Un::kAbs, rest), b.un(Un::kAbs, y));
  const Val more = b.select(below, b.scalar(x.type, -1), above);
  return b.select(b.bin(Bin::kEqual, y, 0), q, b.add(q, more));
}

Val floordiv(const LowerCall& c) {
  const auto [x, y] = pair_of(c, 0, 1);
  Val q = floor_quotient(c.b, x, y);
  // Division by zero may give anything, as long as it is a number of the dtype.
  q = c.b.select(c.b.bin(Bin::kEqual, y, 0), c.b.scalar(x.type, 0), q);
  return wrapped(c.b, q, c.dtype());
}

Val mod(const LowerCall& c) {
  Build& b = c.b;
  auto [x, y] = pair_of(c, 0, 1);
  x = b.cast(x, DataType::kDouble);
  y = b.cast(y, DataType::kDouble);
  const Val q = floor_quotient(b, x, y);
  Val r = b.bin(Bin::kMinus, x, b.mul(q, y));
  r = b.select(b.bin(Bin::kEqual, y, 0), b.scalar(x.type, 0), r);
  return b.cast(wrapped(b, r, c.dtype()), carrier(c.dtype()));
}

/// Powers of |x| with the sign that x and y imply: NaN where x < 0 is finite and y is not whole. The library gives NaN
/// for all large powers of negative numbers, and 0 for all powers of 0 but the zeroth. (It does not know the sign of
/// -0.)
Val any_power(Build& b, const Val& x, const Val& y) {
  const Val size = b.un(Un::kAbs, x), is_zero = b.bin(Bin::kEqual, x, 0);
  Val z = b.bin(Bin::kPow, size, y);
  z = b.select(b.mul(is_zero, b.bin(Bin::kNotEqual, y, y)), y, z);
  z = b.select(b.mul(is_zero, b.bin(Bin::kLess, y, 0)), b.scalar(x.type, kInf), z);
  const Val half = b.un(Un::kFloor, b.bin(Bin::kTimes, y, 0.5));
  const Val is_whole = b.bin(Bin::kEqual, b.un(Un::kFloor, y), y);
  const Val is_odd = b.bin(Bin::kNotEqual, b.bin(Bin::kTimes, half, 2), y);
  const Val broken = b.select(b.bin(Bin::kEqual, x, -kInf), z, b.scalar(x.type, kNan));
  const Val below = b.select(is_whole, b.select(is_odd, b.un(Un::kNegate, z), z), broken);
  return b.select(b.bin(Bin::kLess, x, 0), below, z);
}

/// Whether an operand is known and all of its elements are small whole numbers, at least 0.
bool counts(const LowerCall& c, uint32_t operand) {
  const hg_buffer* known = c.to.constant(c.node.in[operand]);
  if (!known) return false;
  const std::vector<double> all = numbers(*known);
  return std::all_of(all.begin(), all.end(),
                     [](double v) { return v >= 0 && v <= 1000 && v == std::floor(v); });
}

Val power(const LowerCall& c) {
  const auto [x, y] = pair_of(c, 0, 1);
  Build& b = c.b;
  if (!is_float(c.dtype())) {
    const Val wide = b.bin(Bin::kPow, b.cast(x, DataType::kDouble), b.cast(y, DataType::kDouble));
    return b.cast(wrapped(b, wide, c.dtype()), carrier(c.dtype()));
  }
  return x.low > 0 || counts(c, 1) ? b.bin(Bin::kPow, x, y) : any_power(b, x, y);
}

Entry comparison(Bin op) {
  return {[op](const LowerCall& c) {
            const auto [x, y] = pair_of(c, 0, 1);
            Val z = c.b.bin(op, x, y);
            z.low = 0;
            return z;
          },
          {},
          {}};
}

Val logical_and(const LowerCall& c) {
  const auto [x, y] = pair_of(c, 0, 1);
  Val z = c.b.mul(x, y);
  z.low = 0;
  return z;
}

Val logical_or(const LowerCall& c) {
  const auto [x, y] = pair_of(c, 0, 1);
  Val z = c.b.bin(Bin::kMax, x, y);
  z.low = 0;
  return z;
}

Val select(const LowerCall& c) {
  const auto [x, y] = pair_of(c, 1, 2);
  Val z = c.b.select(c.in(0), x, y);
  z.low = std::min(x.low, y.low);
  z.never_zero = x.never_zero && y.never_zero;
  return z;
}

/// The library cannot loop over more than kMostAxes axes.
bool few_axes(const hg_graph& g, const hg_node& n) {
  std::vector<Dims> operands;
  for (uint32_t i = 0; i < n.n_in; ++i) operands.push_back(dims_of(*g.value[n.in[i]]));
  return merge_axes(dims_of(*g.value[n.out[0]]), operands)[0].size() <= kMostAxes;
}

}  // namespace

// The library multiplies by the reciprocal, which is 0 for 0 and infinite for most subnormal numbers: those are scaled
// up, together with what they divide.
Val divide(Build& b, const Val& a, const Val& d) {
  const double tiny = d.type == DataType::kFloat ? 0x1p-120 : 0x1p-1000;
  if (d.never_zero || d.low > tiny) return b.bin(Bin::kDivide, a, d);
  const Val is_tiny = b.bin(Bin::kLess, b.un(Un::kAbs, d), tiny);
  const Val scale = b.select(is_tiny, b.scalar(d.type, 0x1p64), b.scalar(d.type, 1));
  const Val q = b.bin(Bin::kDivide, b.mul(a, scale), b.mul(d, scale));
  return b.select(b.bin(Bin::kEqual, d, 0), b.bin(Bin::kTimes, a, kInf), q);
}

// If one operand is NaN, the library gives the second one.
Val maximum(Build& b, const Val& a, const Val& d, bool larger) {
  const Bin op = larger ? Bin::kMax : Bin::kMin;
  Val z;
  if (d.is_constant)
    z = b.bin(op, d, a);
  else if (a.is_constant)
    z = b.bin(op, a, d);
  else
    z = b.select(b.bin(Bin::kEqual, a, a), b.bin(op, a, d), a);
  z.low = larger ? std::max(a.low, d.low) : std::min(a.low, d.low);
  z.never_zero = z.low > 0;
  return z;
}

void add_binary(Table& t) {
  t["add"] = {add, {}, {}};
  t["sub"] = {subtract, {}, {}};
  t["mul"] = {multiply, {}, {}};
  t["div"] = {quotient, {}, {}};
  t["floordiv"] = {floordiv, {}, {}};
  t["mod"] = {mod, {}, {}};
  t["pow"] = {power, {}, {}};
  for (const bool larger : {true, false})
    t[larger ? "maximum" : "minimum"] = {[larger](const LowerCall& c) {
                                           const auto [x, y] = pair_of(c, 0, 1);
                                           if (is_float(c.dtype()))
                                             return maximum(c.b, x, y, larger);
                                           return c.b.bin(larger ? Bin::kMax : Bin::kMin, x, y);
                                         },
                                         {},
                                         {}};
  t["eq"] = comparison(Bin::kEqual);
  t["ne"] = comparison(Bin::kNotEqual);
  t["lt"] = comparison(Bin::kLess);
  t["le"] = comparison(Bin::kLessEqual);
  t["gt"] = comparison(Bin::kGreater);
  t["ge"] = comparison(Bin::kGreaterEqual);
  t["logical_and"] = {logical_and, {}, {}};
  t["logical_or"] = {logical_or, {}, {}};
  t["select"] = {select, {}, {}};
  for (auto name : {"add", "sub", "mul", "div", "floordiv", "mod", "pow", "maximum", "minimum",
                    "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "select"})
    t[name].fits = few_axes;
  // Quotients of floats may be infinite, or so large that no digit of the remainder is known: left to native.
  for (auto name : {"floordiv", "mod"})
    t[name].fits = [](const hg_graph& g, const hg_node& n) {
      return few_axes(g, n) && !is_float(g.value[n.out[0]]->dtype);
    };
}

}  // namespace horngate::cntk
