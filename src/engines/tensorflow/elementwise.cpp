// Element-wise primitives.
#include "lower.h"

namespace horngate::tf {
namespace {

template <const char* kOp>
void unary(LowerCall& c) {
  c.give(c.graph.unary(kOp, c.in[0]));
}
template <const char* kOp>
void binary(LowerCall& c) {
  c.give(c.graph.binary(kOp, c.in[0], c.in[1]));
}
template <const char* kOp>
void compare(LowerCall& c) {
  c.give(c.graph.compare(kOp, c.in[0], c.in[1]));
}
/// For integers it is the number itself.
template <const char* kOp>
void rounding(LowerCall& c) {
  c.give(is_float(c.in[0].type) ? c.graph.unary(kOp, c.in[0]) : c.in[0]);
}
template <const char* kOp>
void logical(LowerCall& c) {
  c.give(c.graph.op(kOp).in(c.in[0]).in(c.in[1]).value(kBool,
                                                       broadcast_dims(c.in[0].dims, c.in[1].dims)));
}

constexpr char kAbs[] = "Abs", kAdd[] = "AddV2", kCos[] = "Cos", kDiv[] = "RealDiv", kErf[] = "Erf",
               kExp[] = "Exp", kExpm1[] = "Expm1", kFloor[] = "Floor", kLog[] = "Log",
               kLog1p[] = "Log1p", kMul[] = "Mul", kNeg[] = "Neg", kRound[] = "Rint",
               kRsqrt[] = "Rsqrt", kSigmoid[] = "Sigmoid", kSign[] = "Sign", kSin[] = "Sin",
               kSqrt[] = "Sqrt", kSub[] = "Sub", kTanh[] = "Tanh", kEqual[] = "Equal",
               kNotEqual[] = "NotEqual", kLess[] = "Less", kLessEqual[] = "LessEqual",
               kGreater[] = "Greater", kGreaterEqual[] = "GreaterEqual", kAnd[] = "LogicalAnd",
               kOr[] = "LogicalOr";

bool is_unsigned(Type t) {
  return t == kUint8 || t == kUint16 || t == kUint32 || t == kUint64 || t == kBool;
}

void abs(LowerCall& c) {
  if (is_unsigned(c.in[0].type))
    c.give(c.in[0]);
  else
    unary<kAbs>(c);
}

void logical_not(LowerCall& c) {
  c.give(c.graph.op("LogicalNot").in(c.in[0]).value(kBool, c.in[0].dims));
}

/// For floats that an integer type cannot hold, TensorFlow sometimes saturates and sometimes not. Via int32 or int64
/// they are taken modulo 2^bits, as in ir/convert_element.h.
void cast(LowerCall& c) {
  Graph& g = c.graph;
  const Value& x = c.in[0];
  const Type to = c.out_type();
  if (!is_float(x.type)) return c.give(g.cast(x, to));
  switch (to) {
    case kInt8:
    case kUint8:
    case kInt16:
    case kUint16: return c.give(g.cast(g.cast(x, kInt32), to));
    case kUint32: return c.give(g.cast(g.cast(x, kInt64), to));
    case kUint64: {
      const Value beyond = g.compare("GreaterEqual", x, g.scalar(x.type, 0x1p64));
      return c.give(g.select(beyond, g.scalar(kUint64, 0), g.cast(x, kUint64)));
    }
    default: return c.give(g.cast(x, to));
  }
}

void select(LowerCall& c) { c.give(c.graph.select(c.in[0], c.in[1], c.in[2])); }

/// NaN in either operand is the result, as in NumPy.
template <bool kLargest>
void extreme(LowerCall& c) {
  const Value &a = c.in[0], &b = c.in[1];
  if (a.type == kBool) {
    kLargest ? logical<kOr>(c) : logical<kAnd>(c);
    return;
  }
  Graph& g = c.graph;
  Value y = g.binary(kLargest ? "Maximum" : "Minimum", a, b);
  c.give(y);
}

/// TensorFlow's own version is the floor of the rounded quotient: 1 // 0.1 would be 10, and infinity // 0.5 infinity.
/// The remainder is exact, so a without it, divided by b, is a whole number but for rounding.
Value floor_quotient(Graph& g, const Value& a, const Value& b) {
  const Type t = wide_type(a.type);
  const Value x = g.cast(a, t), y = g.cast(b, t), zero = g.scalar(t, 0);
  const Value rest = g.binary("TruncateMod", x, y);
  const Dims dims = rest.dims;
  const Value differ =
      g.compare("NotEqual", g.compare("Less", y, zero), g.compare("Less", rest, zero));
  const Value steps =
      g.op("LogicalAnd").in(differ).in(g.compare("NotEqual", rest, zero)).value(kBool, dims);
  const Value whole = g.binary("RealDiv", g.binary("Sub", x, rest), y);
  const Value floor = g.unary("Rint", g.binary("Sub", whole, g.cast(steps, t)));
  const Value by_zero = g.compare("Equal", y, zero);
  return g.cast(g.select(by_zero, g.binary("RealDiv", x, y), floor), a.type);
}

/// Integers divided by 0 give 0, and the smallest one divided by -1 gives itself; TensorFlow fails at both.
template <bool kQuotient>
void divide_floor(LowerCall& c) {
  Graph& g = c.graph;
  const char* op = kQuotient ? "FloorDiv" : "FloorMod";
  const Value &a = c.in[0], &b = c.in[1];
  if (is_float(a.type)) {
    c.give(kQuotient ? floor_quotient(g, a, b) : g.binary(op, a, b));
    return;
  }
  const Value zero = g.scalar(b.type, 0), one = g.scalar(b.type, 1);
  const Value by_zero = g.compare("Equal", b, zero);
  Value safe = g.select(by_zero, one, b), result;
  if (!is_unsigned(b.type)) {
    const Value minus = g.compare("Equal", b, g.cast(g.scalar(kInt64, -1), b.type));
    safe = g.select(minus, one, safe);
    const Value plain = g.binary(op, a, safe);
    result = kQuotient ? g.select(minus, g.unary("Neg", a), plain) : plain;
  } else {
    result = g.binary(op, a, safe);
  }
  c.give(g.select(by_zero, zero, result));
}

/// Integers to a negative power: 1 and -1 keep their absolute value, all others become 0.
void power(LowerCall& c) {
  Graph& g = c.graph;
  const Value &a = c.in[0], &b = c.in[1];
  if (is_float(a.type)) {
    c.give(g.binary("Pow", a, b));
    return;
  }
  if (is_unsigned(a.type)) {
    c.give(g.binary("Pow", a, b));
    return;
  }
  const Value zero = g.scalar(a.type, 0), one = g.scalar(a.type, 1);
  const Value minus_one = g.cast(g.scalar(kInt64, -1), a.type);
  const Value negative = g.compare("Less", b, zero);
  // The parity of the exponent decides for -1; 2 and 1 stand for even and odd.
  const Value odd = g.compare("NotEqual", g.binary("FloorMod", b, g.scalar(b.type, 2)), zero);
  const Value harmless = g.select(negative, g.select(odd, one, g.scalar(b.type, 2)), b);
  const Value unit = g.op("LogicalOr")
                         .in(g.compare("Equal", a, one))
                         .in(g.compare("Equal", a, minus_one))
                         .value(kBool, a.dims);
  const Value lost = g.op("LogicalAnd")
                         .in(negative)
                         .in(g.op("LogicalNot").in(unit).value(kBool, a.dims))
                         .value(kBool, broadcast_dims(a.dims, b.dims));
  c.give(g.select(lost, zero, g.binary("Pow", a, harmless)));
}

}  // namespace

Lowerings elementwise_lowerings() {
  static constexpr Lowering kTable[] = {{"neg", unary<kNeg>},
                                        {"abs", abs},
                                        {"sign", unary<kSign>},
                                        {"exp", unary<kExp>},
                                        {"expm1", unary<kExpm1>},
                                        {"log", unary<kLog>},
                                        {"log1p", unary<kLog1p>},
                                        {"sqrt", unary<kSqrt>},
                                        {"rsqrt", unary<kRsqrt>},
                                        {"sin", unary<kSin>},
                                        {"cos", unary<kCos>},
                                        {"tanh", unary<kTanh>},
                                        {"sigmoid", unary<kSigmoid>},
                                        {"erf", unary<kErf>},
                                        {"floor", rounding<kFloor>},
                                        {"round", rounding<kRound>},
                                        {"logical_not", logical_not},
                                        {"cast", cast},
                                        {"add", binary<kAdd>},
                                        {"sub", binary<kSub>},
                                        {"mul", binary<kMul>},
                                        {"div", binary<kDiv>},
                                        {"floordiv", divide_floor<true>},
                                        {"mod", divide_floor<false>},
                                        {"pow", power},
                                        {"maximum", extreme<true>},
                                        {"minimum", extreme<false>},
                                        {"eq", compare<kEqual>},
                                        {"ne", compare<kNotEqual>},
                                        {"lt", compare<kLess>},
                                        {"le", compare<kLessEqual>},
                                        {"gt", compare<kGreater>},
                                        {"ge", compare<kGreaterEqual>},
                                        {"logical_and", logical<kAnd>},
                                        {"logical_or", logical<kOr>},
                                        {"select", select}};
  return kTable;
}

}  // namespace horngate::tf
