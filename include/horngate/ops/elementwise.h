// Element-wise functions, operators, comparisons and reductions.
#pragma once

#include "horngate/args.h"
#include "horngate/options.h"

namespace horngate {

/// An argument that is a tensor or a plain number: K::maximum(x, 0). A number takes the dtype of
/// the tensor next to it, but a float next to integers gives floatx in arithmetic; an integer that a
/// double cannot hold becomes an int64 or uint64 tensor.
/// None is for arguments that may be left out.
class HORNGATE_API Number {
 public:
  template <class T>
    requires std::is_arithmetic_v<T>
  Number(T value)
      : kind_(Kind::number),
        is_float_(std::is_floating_point_v<T>),
        value_(static_cast<double>(value)) {
    if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
      using Exact = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
      constexpr T kLimit = T{1} << 53;
      if (value > kLimit || (std::is_signed_v<T> && value < T{0} - kLimit))
        set_exact(Array(static_cast<Exact>(value)));
    }
  }
  Number(Tensor tensor) : kind_(Kind::tensor), tensor_(std::move(tensor)) {}
  Number(NoneType) {}
  bool is_none() const { return kind_ == Kind::none; }
  bool is_tensor() const { return kind_ == Kind::tensor; }
  bool is_number() const { return kind_ == Kind::number; }
  /// A number that was written as a float, 2.0, even if it is whole.
  bool is_float() const { return is_float_; }
  double value() const { return value_; }
  const Tensor& tensor() const { return tensor_; }

 private:
  void set_exact(const Array& value);

  enum class Kind : uint8_t { none, number, tensor };
  Kind kind_ = Kind::none;
  bool is_float_ = false;
  double value_ = 0.0;
  Tensor tensor_;
};

/// Arithmetic with NumPy broadcasting. `/` of integers gives floatx.
/// Example: y = 2 * x + b;
[[nodiscard]] HORNGATE_API Tensor operator+(const Tensor& x, const Tensor& y);
[[nodiscard]] HORNGATE_API Tensor operator+(const Tensor& x, const Number& y);
[[nodiscard]] HORNGATE_API Tensor operator+(const Number& x, const Tensor& y);
[[nodiscard]] HORNGATE_API Tensor operator-(const Tensor& x, const Tensor& y);
[[nodiscard]] HORNGATE_API Tensor operator-(const Tensor& x, const Number& y);
[[nodiscard]] HORNGATE_API Tensor operator-(const Number& x, const Tensor& y);
[[nodiscard]] HORNGATE_API Tensor operator*(const Tensor& x, const Tensor& y);
[[nodiscard]] HORNGATE_API Tensor operator*(const Tensor& x, const Number& y);
[[nodiscard]] HORNGATE_API Tensor operator*(const Number& x, const Tensor& y);
[[nodiscard]] HORNGATE_API Tensor operator/(const Tensor& x, const Tensor& y);
[[nodiscard]] HORNGATE_API Tensor operator/(const Tensor& x, const Number& y);
[[nodiscard]] HORNGATE_API Tensor operator/(const Number& x, const Tensor& y);
[[nodiscard]] HORNGATE_API Tensor operator-(const Tensor& x);

// x += y is x = x + y: a new tensor under the old name.
HORNGATE_API Tensor& operator+=(Tensor& x, const Number& y);
HORNGATE_API Tensor& operator-=(Tensor& x, const Number& y);
HORNGATE_API Tensor& operator*=(Tensor& x, const Number& y);
HORNGATE_API Tensor& operator/=(Tensor& x, const Number& y);

// As Python's: tensors of bool.
[[nodiscard]] HORNGATE_API Tensor operator<(const Tensor& x, const Tensor& y);
[[nodiscard]] HORNGATE_API Tensor operator<(const Tensor& x, const Number& y);
[[nodiscard]] HORNGATE_API Tensor operator<(const Number& x, const Tensor& y);
[[nodiscard]] HORNGATE_API Tensor operator<=(const Tensor& x, const Tensor& y);
[[nodiscard]] HORNGATE_API Tensor operator<=(const Tensor& x, const Number& y);
[[nodiscard]] HORNGATE_API Tensor operator<=(const Number& x, const Tensor& y);
[[nodiscard]] HORNGATE_API Tensor operator>(const Tensor& x, const Tensor& y);
[[nodiscard]] HORNGATE_API Tensor operator>(const Tensor& x, const Number& y);
[[nodiscard]] HORNGATE_API Tensor operator>(const Number& x, const Tensor& y);
[[nodiscard]] HORNGATE_API Tensor operator>=(const Tensor& x, const Tensor& y);
[[nodiscard]] HORNGATE_API Tensor operator>=(const Tensor& x, const Number& y);
[[nodiscard]] HORNGATE_API Tensor operator>=(const Number& x, const Tensor& y);

// What would be read in two ways does not compile, and says what to write.
template <class T, class U>
  requires(std::derived_from<T, Tensor> || std::derived_from<U, Tensor>)
bool operator==(const T&, const U&) {
  static_assert(!std::same_as<T, T>,
                "tensors have no ==: K::equal(x, y) compares elements, x.same_as(y) asks whether "
                "both are one value of the graph");
  return false;
}
#define HORNGATE_NOT_FOR_VARIABLES(op)                                                   \
  template <std::same_as<Variable> V>                                                    \
  V& operator op(V& x, const Number&) {                                                  \
    static_assert(!std::same_as<V, V>,                                                   \
                  "a variable changes in a function: K::function(inputs, outputs, "      \
                  "{K::update_add(w, y)}); for a new tensor write K::Tensor h = w + y"); \
    return x;                                                                            \
  }
HORNGATE_NOT_FOR_VARIABLES(+=)
HORNGATE_NOT_FOR_VARIABLES(-=)
HORNGATE_NOT_FOR_VARIABLES(*=)
HORNGATE_NOT_FOR_VARIABLES(/=)
#undef HORNGATE_NOT_FOR_VARIABLES

/// floor(x / y); integers stay integers. Like Python's //.
/// Example: half = K::floordiv(K::size(x), 2);
[[nodiscard]] HORNGATE_API Tensor floordiv(const Number& x, const Number& y);

/// x - floor(x / y) * y, with the sign of y. Like Python's %.
/// Example: odd = K::mod(n, 2);
[[nodiscard]] HORNGATE_API Tensor mod(const Number& x, const Number& y);

/// Whether both are not zero, as bool.
/// Example: K::logical_and(K::greater(x, 0), mask);
[[nodiscard]] HORNGATE_API Tensor logical_and(const Tensor& x, const Tensor& y);

/// Whether at least one is not zero, as bool.
/// Example: K::logical_or(a, b);
[[nodiscard]] HORNGATE_API Tensor logical_or(const Tensor& x, const Tensor& y);

/// Whether x is zero, as bool.
/// Example: K::logical_not(mask);
[[nodiscard]] HORNGATE_API Tensor logical_not(const Tensor& x);

/// x in another dtype. Floats are truncated to integers; anything but 0 is true. Never returns the
/// variable itself.
/// Example: y = K::cast(x, K::DType::float16);
[[nodiscard]] HORNGATE_API Tensor cast(const Tensor& x, Choice<DType> dtype);

/// x * x.
/// Example: y = K::square(x);
[[nodiscard]] HORNGATE_API Tensor square(const Tensor& x);

/// Absolute value.
/// Example: y = K::abs(x);
[[nodiscard]] HORNGATE_API Tensor abs(const Tensor& x);

/// Square root; negative numbers count as 0.
/// Example: y = K::sqrt(x);
[[nodiscard]] HORNGATE_API Tensor sqrt(const Tensor& x);

/// e to the power x.
/// Example: y = K::exp(x);
[[nodiscard]] HORNGATE_API Tensor exp(const Tensor& x);

/// Natural logarithm.
/// Example: y = K::log(x);
[[nodiscard]] HORNGATE_API Tensor log(const Tensor& x);

/// The nearest whole number; of two equally near ones, the even one.
/// Example: y = K::round(x);
[[nodiscard]] HORNGATE_API Tensor round(const Tensor& x);

/// -1, 0 or 1.
/// Example: y = K::sign(x);
[[nodiscard]] HORNGATE_API Tensor sign(const Tensor& x);

/// Sine of an angle in radians.
/// Example: y = K::sin(x);
[[nodiscard]] HORNGATE_API Tensor sin(const Tensor& x);

/// Cosine of an angle in radians.
/// Example: y = K::cos(x);
[[nodiscard]] HORNGATE_API Tensor cos(const Tensor& x);

/// x to the power a.
/// Example: y = K::pow(x, 3);
[[nodiscard]] HORNGATE_API Tensor pow(const Number& x, const Number& a);

/// x limited to [min_value, max_value]; None leaves a side open. If max_value is below min_value,
/// min_value wins.
/// Example: y = K::clip(x, 0, 6);
[[nodiscard]] HORNGATE_API Tensor clip(const Tensor& x, const Number& min_value,
                                       const Number& max_value);

/// The larger of the two at each place.
/// Example: y = K::maximum(x, 0);
[[nodiscard]] HORNGATE_API Tensor maximum(const Number& x, const Number& y);

/// The smaller of the two at each place.
/// Example: y = K::minimum(x, 1);
[[nodiscard]] HORNGATE_API Tensor minimum(const Number& x, const Number& y);

/// x == y at each place, as bool.
/// Example: hit = K::equal(K::argmax(p), t);
[[nodiscard]] HORNGATE_API Tensor equal(const Number& x, const Number& y);

/// x != y at each place, as bool.
/// Example: mask = K::not_equal(x, 0);
[[nodiscard]] HORNGATE_API Tensor not_equal(const Number& x, const Number& y);

/// x > y at each place, as bool.
/// Example: K::greater(x, 0.5);
[[nodiscard]] HORNGATE_API Tensor greater(const Number& x, const Number& y);

/// x >= y at each place, as bool.
/// Example: K::greater_equal(x, 0.5);
[[nodiscard]] HORNGATE_API Tensor greater_equal(const Number& x, const Number& y);

/// x < y at each place, as bool.
/// Example: K::less(x, 0.5);
[[nodiscard]] HORNGATE_API Tensor less(const Number& x, const Number& y);

/// x <= y at each place, as bool.
/// Example: K::less_equal(x, 0.5);
[[nodiscard]] HORNGATE_API Tensor less_equal(const Number& x, const Number& y);

struct ReduceOptions {
  Axis axis = {};         // unset: all axes
  Flag keepdims = false;  // the reduced axes stay, with size 1
};

/// The largest element along axes.
/// Example: y = K::max(x, {.axis = 1});
[[nodiscard]] HORNGATE_API Tensor max(const Tensor& x, const ReduceOptions& options = {});

/// The smallest element along axes.
/// Example: y = K::min(x, {.axis = 1});
[[nodiscard]] HORNGATE_API Tensor min(const Tensor& x, const ReduceOptions& options = {});

/// The sum along axes; bool is summed in floatx.
/// Example: y = K::sum(x, {.axis = {1, 2}, .keepdims = true});
[[nodiscard]] HORNGATE_API Tensor sum(const Tensor& x, const ReduceOptions& options = {});

/// The product along axes.
/// Example: y = K::prod(x, {.axis = 0});
[[nodiscard]] HORNGATE_API Tensor prod(const Tensor& x, const ReduceOptions& options = {});

/// The arithmetic mean along axes; integers and bool give floatx.
/// Example: loss = K::mean(K::square(y - t));
[[nodiscard]] HORNGATE_API Tensor mean(const Tensor& x, const ReduceOptions& options = {});

/// The variance along axes, divided by n, not n - 1.
/// Example: v = K::var(x, {.axis = 0});
[[nodiscard]] HORNGATE_API Tensor var(const Tensor& x, const ReduceOptions& options = {});

/// The standard deviation along axes, the square root of var.
/// Example: s = K::std(x, {.axis = 0});
[[nodiscard]] HORNGATE_API Tensor std(const Tensor& x, const ReduceOptions& options = {});

/// Whether at least one element along axes is not zero, as bool.
/// Example: K::any(mask, {.axis = -1});
[[nodiscard]] HORNGATE_API Tensor any(const Tensor& x, const ReduceOptions& options = {});

/// Whether no element along axes is zero, as bool.
/// Example: K::all(mask, {.axis = -1});
[[nodiscard]] HORNGATE_API Tensor all(const Tensor& x, const ReduceOptions& options = {});

/// log(sum(exp(x))) along axes, without overflow; -inf where all elements are.
/// Example: y = K::logsumexp(x, {.axis = -1});
[[nodiscard]] HORNGATE_API Tensor logsumexp(const Tensor& x, const ReduceOptions& options = {});

// One axis without its name: K::sum(x, 1).
#define HORNGATE_REDUCTION_BY_AXIS(reduction)                                       \
  [[nodiscard]] inline Tensor reduction(const Tensor& x, std::integral auto axis) { \
    return reduction(x, ReduceOptions{.axis = axis});                               \
  }
HORNGATE_REDUCTION_BY_AXIS(max)
HORNGATE_REDUCTION_BY_AXIS(min)
HORNGATE_REDUCTION_BY_AXIS(sum)
HORNGATE_REDUCTION_BY_AXIS(prod)
HORNGATE_REDUCTION_BY_AXIS(mean)
HORNGATE_REDUCTION_BY_AXIS(var)
HORNGATE_REDUCTION_BY_AXIS(std)
HORNGATE_REDUCTION_BY_AXIS(any)
HORNGATE_REDUCTION_BY_AXIS(all)
HORNGATE_REDUCTION_BY_AXIS(logsumexp)
#undef HORNGATE_REDUCTION_BY_AXIS

/// The running sum along an axis, including each element itself.
/// Example: y = K::cumsum(x, 1);
[[nodiscard]] HORNGATE_API Tensor cumsum(const Tensor& x, int64_t axis = 0);

/// The running product along an axis, including each element itself.
/// Example: y = K::cumprod(x, 1);
[[nodiscard]] HORNGATE_API Tensor cumprod(const Tensor& x, int64_t axis = 0);

/// The position of the largest element along an axis, as int64; the first if several are equal.
/// Example: label = K::argmax(p);
[[nodiscard]] HORNGATE_API Tensor argmax(const Tensor& x, int64_t axis = -1);

/// The position of the smallest element along an axis, as int64; the first if several are equal.
/// Example: K::argmin(distance);
[[nodiscard]] HORNGATE_API Tensor argmin(const Tensor& x, int64_t axis = -1);

}  // namespace horngate
