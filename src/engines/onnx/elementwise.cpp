// Element-wise primitives that are, or nearly are, a single operator.
#include <cmath>
#include <limits>

#include "lower.h"

namespace horngate::onnx {
namespace {

template <const char* op_name>
void unary(Op& op) {
  op.set(0, op.b.unary(op_name, widened(op, 0)));
}

template <const char* op_name>
void binary(Op& op) {
  op.set(0, op.b.binary(op_name, widened(op, 0), widened(op, 1)));
}

bool has_one(const Value& v) { return is_static(v.dims) && count(v.dims) == 1; }

/// A product or quotient with a number. The runtime would merge it into a neighbouring MatMul, with the number as a
/// float32 (MatMulScaleFusion): for float64 a Reshape, which costs nothing, keeps them apart. The engine switches the
/// rule off instead.
template <const char* op_name>
void scale(Op& op) {
  Builder& b = op.b;
  Value x = widened(op, 0), y = widened(op, 1);
  const bool is_left = !has_one(y) || (has_one(x) && x.rank() < y.rank());
  Value &one = is_left ? x : y, &other = is_left ? y : x;
  if (op.lowering.is_exact() || x.dtype != HG_FLOAT64 || !has_one(one) || other.rank() < 2 ||
      other.rank() < one.rank())
    return op.set(0, b.binary(op_name, x, y));
  const Dims whole = b.dims(other);
  one = b.reshape(one, {});
  other = b.reshape(other, {Dim(-1)});
  op.set(0, b.reshape(b.binary(op_name, x, y), whole));
}

Value ordered(Op& op, size_t i) {
  return op.in[i].dtype == HG_BOOL ? op.b.cast(op.in[i], HG_INT32) : widened(op, i);
}

template <const char* op_name>
void compare(Op& op) {
  op.set(0, op.b.compare(op_name, ordered(op, 0), ordered(op, 1)));
}

void not_equal(Op& op) {
  op.set(0, op.b.unary("Not", op.b.compare("Equal", ordered(op, 0), ordered(op, 1))));
}

void neg(Op& op) { op.set(0, op.b.unary("Neg", as_signed(op, 0))); }

// The runtime's Sign gives 0 for NaN.
void sign(Op& op) {
  const Value x = widened(op, 0);
  const Value s = op.b.unary("Sign", x);
  if (!is_float(x.dtype) || !op.lowering.is_exact()) return op.set(0, s);
  op.set(0, op.b.where(op.b.one("IsNaN", {x}, HG_BOOL, x.dims), x, s));
}

void rsqrt(Op& op) { op.set(0, op.b.unary("Reciprocal", op.b.unary("Sqrt", widened(op, 0)))); }

void erf(Op& op) {
  const Value x = widened(op, 0);
  if (x.dtype != HG_FLOAT32) throw Unsupported("the runtime supports it only for float32");
  op.set(0, op.b.unary("Erf", x));
}

// The runtime's Sigmoid loses the digits of small results: at -17 it gives twice the value.
void sigmoid(Op& op) {
  const Value x = widened(op, 0);
  if (!op.lowering.is_exact()) return op.set(0, op.b.unary("Sigmoid", x));
  const Value e = op.b.unary("Exp", op.b.unary("Neg", x));
  op.set(0, op.b.unary("Reciprocal", op.b.binary("Add", e, op.b.scalar(x.dtype, 1))));
}

/// floor and round leave integers unchanged.
template <const char* op_name>
void whole(Op& op) {
  const Value x = widened(op, 0);
  op.set(0, is_float(x.dtype) ? op.b.unary(op_name, x) : op.in[0]);
}

// For floats that uint32 cannot hold the runtime is inconsistent: they become int64 first, as everywhere.
void cast(Op& op) {
  const bool by_int64 =
      op.lowering.is_exact() && is_float(op.in[0].dtype) && op.type(0).dtype == HG_UINT32;
  op.set(0, by_int64 ? op.b.cast(op.in[0], HG_INT64) : op.in[0]);
}

// For doubles below 15 or so the runtime subtracts multiples of pi with too few digits: near them up to all digits of
// the result are lost. With k pi as three numbers, the first two of whose products with k are exact, they are kept:
// sin(k pi + r) = (-1)^k sin(r), and cos(x) = -(-1)^k sin(r) with x = (k + 1/2) pi + r.
template <bool is_cosine>
void sine(Op& op) {
  Builder& b = op.b;
  const Value x = widened(op, 0);
  const Value plain = b.unary(is_cosine ? "Cos" : "Sin", x);
  if (x.dtype != HG_FLOAT64 || !op.lowering.is_exact()) return op.set(0, plain);
  const auto number = [&](double v) { return b.scalar(HG_FLOAT64, v); };
  const auto times = [&](const Value& v, double n) { return b.binary("Mul", v, number(n)); };
  const double shift = is_cosine ? 0.5 : 0;
  const Value turns = times(x, 0.3183098861837907);
  const Value k = b.unary("Round", b.binary("Sub", turns, number(shift)));
  const Value of_pi = b.binary("Add", k, number(shift));
  Value rest = x;
  for (double part : {0x1.921fb544428p+1, 0x1.4611a62633p-41, 0x1.45c06e0e68948p-85})
    rest = b.binary("Sub", rest, times(of_pi, part));
  const Value half = times(k, 0.5);
  const Value odd = b.binary("Sub", half, b.unary("Floor", half));  // 0 or 1/2
  const double first = is_cosine ? -1 : 1;
  const Value sign = b.binary("Sub", number(first), times(odd, 4 * first));
  const Value exact = b.binary("Mul", b.unary("Sin", rest), sign);
  const Value size = b.unary("Abs", x);
  const Value needed =
      b.compare("And", b.compare("Greater", size, number(1)), b.compare("Less", size, number(32)));
  op.set(0, b.where(needed, exact, plain));
}

/// A dtype for which Where has a kernel; uint64 is passed as int64.
int32_t movable(int32_t dtype) {
  if (dtype == HG_BOOL) return HG_UINT8;
  return dtype == HG_UINT64 ? int32_t{HG_INT64} : wide(dtype);
}

void select(Op& op) {
  const int32_t t = movable(op.in[1].dtype);
  op.set(0, op.b.where(op.in[0], op.b.cast(op.in[1], t), op.b.cast(op.in[2], t)));
}

// e^x - 1 = 2 t / (1 - t) with t = tanh(x / 2), which keeps its digits where e^x is near 1.
void expm1(Op& op) {
  Builder& b = op.b;
  const Value x = widened(op, 0);
  const auto number = [&](double v) { return b.scalar(x.dtype, v); };
  const Value t = b.unary("Tanh", b.binary("Mul", x, number(0.5)));
  const Value near = b.binary("Div", b.binary("Add", t, t), b.binary("Sub", number(1), t));
  const Value far = b.binary("Sub", b.unary("Exp", x), number(1));
  op.set(0, b.where(b.compare("Less", b.unary("Abs", x), number(0.5)), near, far));
}

// ln(1 + x) = ln(w) x / (w - 1) with w = 1 + x, rounded; x itself where w is 1.
void log1p(Op& op) {
  Builder& b = op.b;
  const Value x = widened(op, 0);
  const Value one = b.scalar(x.dtype, 1);
  const Value w = b.binary("Add", x, one);
  const Value log = b.unary("Log", w);
  const Value near = b.binary("Mul", log, b.binary("Div", x, b.binary("Sub", w, one)));
  const Value far = b.where(b.compare("Less", b.unary("Abs", x), one), near, log);
  op.set(0, b.where(b.compare("Equal", w, one), x, far));
}

constexpr char kAbs[] = "Abs", kExp[] = "Exp", kLog[] = "Log", kSqrt[] = "Sqrt", kTanh[] = "Tanh",
               kFloor[] = "Floor", kRound[] = "Round", kNot[] = "Not", kAdd[] = "Add",
               kSub[] = "Sub", kMul[] = "Mul", kDiv[] = "Div", kMax[] = "Max", kMin[] = "Min",
               kEqual[] = "Equal", kLess[] = "Less", kLessOrEqual[] = "LessOrEqual",
               kGreater[] = "Greater", kGreaterOrEqual[] = "GreaterOrEqual", kAnd[] = "And",
               kOr[] = "Or";

}  // namespace

void add_elementwise(Table& t) {
  t["neg"] = neg;
  t["abs"] = unary<kAbs>;
  t["sign"] = sign;
  t["exp"] = unary<kExp>;
  t["expm1"] = expm1;
  t["log"] = unary<kLog>;
  t["log1p"] = log1p;
  t["sqrt"] = unary<kSqrt>;
  t["rsqrt"] = rsqrt;
  t["sin"] = sine<false>;
  t["cos"] = sine<true>;
  t["tanh"] = unary<kTanh>;
  t["sigmoid"] = sigmoid;
  t["erf"] = erf;
  t["floor"] = whole<kFloor>;
  t["round"] = whole<kRound>;
  t["logical_not"] = unary<kNot>;
  t["cast"] = cast;
  t["add"] = binary<kAdd>;
  t["sub"] = binary<kSub>;
  t["mul"] = scale<kMul>;
  t["div"] = scale<kDiv>;
  t["maximum"] = binary<kMax>;
  t["minimum"] = binary<kMin>;
  t["eq"] = compare<kEqual>;
  t["ne"] = not_equal;
  t["lt"] = compare<kLess>;
  t["le"] = compare<kLessOrEqual>;
  t["gt"] = compare<kGreater>;
  t["ge"] = compare<kGreaterOrEqual>;
  t["logical_and"] = binary<kAnd>;
  t["logical_or"] = binary<kOr>;
  t["select"] = select;
}

}  // namespace horngate::onnx
