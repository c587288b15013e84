// Element-wise functions, operators and comparisons.
#include "horngate/ops/elementwise.h"

#include <cmath>

#include "api/args.h"
#include "horngate/config.h"

namespace horngate {

void Number::set_exact(const Array& value) {
  kind_ = Kind::tensor;
  tensor_ = prim::constant(value);
}

namespace {

struct Pair {
  Tensor x, y;
};

void check_there(std::string_view function, const Number& n, std::string_view argument) {
  check<TypeError>(!n.is_none(), function, argument, " must be a tensor or a number; got None.");
}

/// Two operands of one dtype whose shapes broadcast together.
Pair agree(std::string_view function, const Number& x, const Number& y,
           std::string_view second = "y") {
  check_there(function, x, "x");
  check_there(function, y, second);
  Pair p;
  if (x.is_tensor()) p.x = dense_operand(function, x.tensor(), "x");
  if (y.is_tensor()) p.y = dense_operand(function, y.tensor(), second);
  if (x.is_tensor() && y.is_tensor())
    unify(function, &p.x, &p.y);
  else if (x.is_tensor())
    p.y = weak_scalar(y.value(), &p.x);
  else if (y.is_tensor())
    p.x = weak_scalar(x.value(), &p.y);
  else
    fail<TypeError>(function, "x or ", second, " must be a tensor; got the numbers ", x.value(),
                    " and ", y.value(), ".");
  check_broadcast(function, p.x, p.y);
  return p;
}

Pair in_floatx(const Pair& p) { return {prim::cast(p.x, floatx()), prim::cast(p.y, floatx())}; }

/// The same with bool converted, for order.
Pair agree_in_order(std::string_view function, const Number& x, const Number& y) {
  const Pair p = agree(function, x, y);
  return p.x.dtype() == DType::bool_ ? in_floatx(p) : p;
}

/// For arithmetic: 2.0 beside an integer gives a float. 2.0 itself would fit an integer, but the result may not.
Pair agree_numeric(std::string_view function, const Number& x, const Number& y,
                   std::string_view second = "y") {
  const Pair p = agree(function, x, y, second);
  const bool has_float = x.is_float() || y.is_float();
  const DType dtype = p.x.dtype();
  return dtype == DType::bool_ || (has_float && !is_float(dtype)) ? in_floatx(p) : p;
}

Tensor add(const Number& x, const Number& y) {
  const CalledAs called(__func__);
  const Pair p = agree_numeric("add", x, y);
  return own(called, prim::add(p.x, p.y));
}
Tensor subtract(const Number& x, const Number& y) {
  const CalledAs called(__func__);
  const Pair p = agree_numeric("subtract", x, y);
  return own(called, prim::sub(p.x, p.y));
}
Tensor multiply(const Number& x, const Number& y) {
  const CalledAs called(__func__);
  const Pair p = agree_numeric("multiply", x, y);
  return own(called, prim::mul(p.x, p.y));
}
Tensor divide(const Number& x, const Number& y) {
  const CalledAs called(__func__);
  Pair p = agree_numeric("divide", x, y);
  if (!is_float(p.x.dtype())) p = in_floatx(p);
  return own(called, prim::div(p.x, p.y));
}

}  // namespace

Tensor operator+(const Tensor& x, const Tensor& y) { return add(x, y); }
Tensor operator+(const Tensor& x, const Number& y) { return add(x, y); }
Tensor operator+(const Number& x, const Tensor& y) { return add(x, y); }
Tensor operator-(const Tensor& x, const Tensor& y) { return subtract(x, y); }
Tensor operator-(const Tensor& x, const Number& y) { return subtract(x, y); }
Tensor operator-(const Number& x, const Tensor& y) { return subtract(x, y); }
Tensor operator*(const Tensor& x, const Tensor& y) { return multiply(x, y); }
Tensor operator*(const Tensor& x, const Number& y) { return multiply(x, y); }
Tensor operator*(const Number& x, const Tensor& y) { return multiply(x, y); }
Tensor operator/(const Tensor& x, const Tensor& y) { return divide(x, y); }
Tensor operator/(const Tensor& x, const Number& y) { return divide(x, y); }
Tensor operator/(const Number& x, const Tensor& y) { return divide(x, y); }
Tensor& operator+=(Tensor& x, const Number& y) { return x = add(x, y); }
Tensor& operator-=(Tensor& x, const Number& y) { return x = subtract(x, y); }
Tensor& operator*=(Tensor& x, const Number& y) { return x = multiply(x, y); }
Tensor& operator/=(Tensor& x, const Number& y) { return x = divide(x, y); }
Tensor operator<(const Tensor& x, const Tensor& y) { return less(x, y); }
Tensor operator<(const Tensor& x, const Number& y) { return less(x, y); }
Tensor operator<(const Number& x, const Tensor& y) { return less(x, y); }
Tensor operator<=(const Tensor& x, const Tensor& y) { return less_equal(x, y); }
Tensor operator<=(const Tensor& x, const Number& y) { return less_equal(x, y); }
Tensor operator<=(const Number& x, const Tensor& y) { return less_equal(x, y); }
Tensor operator>(const Tensor& x, const Tensor& y) { return greater(x, y); }
Tensor operator>(const Tensor& x, const Number& y) { return greater(x, y); }
Tensor operator>(const Number& x, const Tensor& y) { return greater(x, y); }
Tensor operator>=(const Tensor& x, const Tensor& y) { return greater_equal(x, y); }
Tensor operator>=(const Tensor& x, const Number& y) { return greater_equal(x, y); }
Tensor operator>=(const Number& x, const Tensor& y) { return greater_equal(x, y); }
Tensor operator-(const Tensor& x) {
  const CalledAs called("negative");
  return own(called, prim::neg(numeric_operand("negative", x)));
}

Tensor floordiv(const Number& x, const Number& y) {
  const CalledAs called(__func__);
  const Pair p = agree_numeric("floordiv", x, y);
  return own(called, prim::floordiv(p.x, p.y));
}
Tensor mod(const Number& x, const Number& y) {
  const CalledAs called(__func__);
  const Pair p = agree_numeric("mod", x, y);
  return prim::mod(p.x, p.y);
}

Tensor logical_and(const Tensor& x, const Tensor& y) {
  const CalledAs called(__func__);
  const Tensor a = prim::cast(dense_operand("logical_and", x), DType::bool_);
  const Tensor b = prim::cast(dense_operand("logical_and", y, "y"), DType::bool_);
  check_broadcast("logical_and", a, b);
  return prim::logical_and(a, b);
}
Tensor logical_or(const Tensor& x, const Tensor& y) {
  const CalledAs called(__func__);
  const Tensor a = prim::cast(dense_operand("logical_or", x), DType::bool_);
  const Tensor b = prim::cast(dense_operand("logical_or", y, "y"), DType::bool_);
  check_broadcast("logical_or", a, b);
  return prim::logical_or(a, b);
}
Tensor logical_not(const Tensor& x) {
  const CalledAs called(__func__);
  return prim::logical_not(prim::cast(dense_operand("logical_not", x), DType::bool_));
}

Tensor cast(const Tensor& x, Choice<DType> dtype) {
  const CalledAs called(__func__);
  return own(called, prim::cast(dense_operand("cast", x), dtype));
}

Tensor square(const Tensor& x) {
  const CalledAs called(__func__);
  const Tensor t = numeric_operand("square", x);
  return prim::mul(t, t);
}
Tensor abs(const Tensor& x) {
  const CalledAs called(__func__);
  return prim::abs(numeric_operand("abs", x));
}
Tensor sqrt(const Tensor& x) {
  const CalledAs called(__func__);
  const Tensor t = float_operand("sqrt", x);
  return prim::sqrt(prim::maximum(t, prim::scalar(0, t.dtype())));
}
Tensor exp(const Tensor& x) {
  const CalledAs called(__func__);
  return prim::exp(float_operand("exp", x));
}
Tensor log(const Tensor& x) {
  const CalledAs called(__func__);
  return prim::log(float_operand("log", x));
}
Tensor round(const Tensor& x) {
  const CalledAs called(__func__);
  const Tensor t = numeric_operand("round", x);
  return own(called, is_float(t.dtype()) ? prim::round(t) : t);
}
Tensor sign(const Tensor& x) {
  const CalledAs called(__func__);
  return prim::sign(numeric_operand("sign", x));
}
Tensor sin(const Tensor& x) {
  const CalledAs called(__func__);
  return prim::sin(float_operand("sin", x));
}
Tensor cos(const Tensor& x) {
  const CalledAs called(__func__);
  return prim::cos(float_operand("cos", x));
}

Tensor pow(const Number& x, const Number& a) {
  const CalledAs called(__func__);
  const Pair p = agree_numeric("pow", x, a, "a");
  if (a.is_number() && !is_float(p.x.dtype()))
    check(a.value() >= 0, "pow", "a must be at least 0 for x of dtype ", p.x.dtype(),
          "; got a=", a.value(), ".");
  return own(called, prim::pow(p.x, p.y));
}

Tensor clip(const Tensor& x, const Number& min_value, const Number& max_value) {
  const CalledAs called(__func__);
  Tensor y = numeric_operand("clip", x);
  const auto bound = [&](const Number& n, std::string_view argument) {
    const Pair p = agree_numeric("clip", y, n, argument);
    y = p.x;
    return p.y;
  };
  const bool open_above =
      max_value.is_none() || (max_value.is_number() && max_value.value() == INFINITY);
  const bool open_below =
      min_value.is_none() || (min_value.is_number() && min_value.value() == -INFINITY);
  // The lower bound comes last and so wins if the bounds are crossed. At a bound the gradient goes
  // to x, the first operand.
  if (!open_above) {
    const Tensor high = bound(max_value, "max_value");
    y = prim::minimum(y, high);
  }
  if (!open_below) {
    const Tensor low = bound(min_value, "min_value");
    y = prim::maximum(y, low);
  }
  return own(called, y);
}

Tensor maximum(const Number& x, const Number& y) {
  const CalledAs called(__func__);
  const Pair p = agree_numeric("maximum", x, y);
  return prim::maximum(p.x, p.y);
}
Tensor minimum(const Number& x, const Number& y) {
  const CalledAs called(__func__);
  const Pair p = agree_numeric("minimum", x, y);
  return prim::minimum(p.x, p.y);
}
Tensor equal(const Number& x, const Number& y) {
  const CalledAs called(__func__);
  const Pair p = agree("equal", x, y);
  return prim::eq(p.x, p.y);
}
Tensor not_equal(const Number& x, const Number& y) {
  const CalledAs called(__func__);
  const Pair p = agree("not_equal", x, y);
  return prim::ne(p.x, p.y);
}
Tensor greater(const Number& x, const Number& y) {
  const CalledAs called(__func__);
  const Pair p = agree_in_order("greater", x, y);
  return prim::gt(p.x, p.y);
}
Tensor greater_equal(const Number& x, const Number& y) {
  const CalledAs called(__func__);
  const Pair p = agree_in_order("greater_equal", x, y);
  return prim::ge(p.x, p.y);
}
Tensor less(const Number& x, const Number& y) {
  const CalledAs called(__func__);
  const Pair p = agree_in_order("less", x, y);
  return prim::lt(p.x, p.y);
}
Tensor less_equal(const Number& x, const Number& y) {
  const CalledAs called(__func__);
  const Pair p = agree_in_order("less_equal", x, y);
  return prim::le(p.x, p.y);
}

}  // namespace horngate
