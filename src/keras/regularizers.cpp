// Losses of weights and activities, and constraints on weights.
#include <algorithm>

#include "horngate/config.h"
#include "horngate/ops/elementwise.h"
#include "horngate/ops/linalg.h"
#include "horngate/ops/values.h"
#include "keras/custom.h"
#include "keras/fields.h"

namespace horngate::keras {

template <class V>
void fields(V& v, Like<MaxNormOptions> auto& o) {
  v("max_value", o.max_value), v("axis", o.axis);
}
template <class V>
void fields(V& v, Like<MinMaxNormOptions> auto& o) {
  v("min_value", o.min_value), v("max_value", o.max_value), v("rate", o.rate), v("axis", o.axis);
}

namespace {

struct L1L2Arguments {
  double l1 = 0, l2 = 0;
};
template <class V>
void fields(V& v, Like<L1L2Arguments> auto& o) {
  v("l1", o.l1), v("l2", o.l2);
}
struct UnitNormArguments {
  Axis axis = 0;
};
template <class V>
void fields(V& v, Like<UnitNormArguments> auto& o) {
  v("axis", o.axis);
}

Tensor norms_of(const Tensor& w, const Axis& axis) {
  return sqrt(sum(square(w), {.axis = axis, .keepdims = true}));
}

}  // namespace

Regularizer L1L2(double l1, double l2) {
  // Files have them as floatx, as Keras's own do.
  const auto rounded = [](double v) { return Array::full(floatx(), {}, v).item<double>(); };
  const L1L2Arguments o{rounded(l1), rounded(l2)};
  return {class_config("L1L2", config_of(o)), [o](const Tensor& x) {
            Tensor loss;
            if (o.l1 != 0) loss = sum(o.l1 * abs(x));
            if (o.l2 != 0)
              loss = loss.defined() ? loss + sum(o.l2 * square(x)) : sum(o.l2 * square(x));
            return loss.defined() ? loss : 0.0 * sum(x);
          }};
}
Regularizer l1(double l) { return L1L2(l, 0); }
Regularizer l2(double l) { return L1L2(0, l); }
Regularizer l1_l2(double l1, double l2) { return L1L2(l1, l2); }

namespace {

Regularizer regularizer_of_keras(const NamedConfig& entry, const std::string& where) {
  const std::string& name = entry.name;
  const Json& c = entry.config;
  const auto given = [&](const char* field, double standard) {
    const Json* found = c.find(field);
    return found ? found->as_number(where) : standard;
  };
  if (name == "L1L2" || name == "l1_l2" || name == "L1L2Regularizer") {
    const double standard = name == "l1_l2" ? 0.01 : 0.0;
    return L1L2(given("l1", standard), given("l2", standard));
  }
  if (name == "l1" || name == "L1") return l1(given(c.find("l") ? "l" : "l1", 0.01));
  if (name == "l2" || name == "L2") return l2(given(c.find("l") ? "l" : "l2", 0.01));
  unknown_name(where, "regularizer", name, "L1L2, l1, l2, l1_l2",
               custom_hint("custom_regularizers"));
}

}  // namespace

Regularizer::Regularizer(const char* name)
    : Regularizer(regularizer_of_keras({name, "regularizer"}, "regularizer")) {}

Regularizer::Regularizer(const std::string& name, Call call)
    : Named(own_name(kClassName, name, is_of_keras(regularizer_of_keras, name)), std::move(call)) {}

Regularizer Regularizer::from(const Json& j, const std::string& where) {
  if (j.is_null()) return {};
  const NamedConfig given(j, where);
  if (const auto own = custom_named(&LoadOptions::custom_regularizers, j, given)) return *own;
  return regularizer_of_keras(given, where);
}

WeightConstraint MaxNorm(const MaxNormOptions& o) {
  return {class_config("MaxNorm", config_of(o)), [o](const Tensor& w) {
            const Tensor norms = norms_of(w, o.axis);
            return w * (clip(norms, 0, o.max_value) / (epsilon() + norms));
          }};
}
WeightConstraint NonNeg() {
  return {class_config("NonNeg"),
          [](const Tensor& w) { return w * cast(greater_equal(w, 0.0), floatx()); }};
}
WeightConstraint UnitNorm(const Axis& axis) {
  return {class_config("UnitNorm", config_of(UnitNormArguments{axis})),
          [axis](const Tensor& w) { return w / (epsilon() + norms_of(w, axis)); }};
}
WeightConstraint MinMaxNorm(const MinMaxNormOptions& o) {
  return {class_config("MinMaxNorm", config_of(o)), [o](const Tensor& w) {
            const Tensor norms = norms_of(w, o.axis);
            const Tensor wanted =
                o.rate * clip(norms, o.min_value, o.max_value) + (1 - o.rate) * norms;
            return w * (wanted / (epsilon() + norms));
          }};
}

namespace {

WeightConstraint constraint_of_keras(const NamedConfig& given, const std::string& where) {
  const Json& c = given.config;
  if (given.is({"MaxNorm", "max_norm", "maxnorm"})) {
    MaxNormOptions o = options_from<MaxNormOptions>(c, where);
    if (const Json* m = c.find("m")) o.max_value = m->as_number(where + ": m");  // of Keras 1
    return MaxNorm(o);
  }
  if (given.is({"NonNeg", "non_neg", "nonneg"})) return NonNeg();
  if (given.is({"UnitNorm", "unit_norm", "unitnorm"}))
    return UnitNorm(options_from<UnitNormArguments>(c, where).axis);
  if (given.is({"MinMaxNorm", "min_max_norm"}))
    return MinMaxNorm(options_from<MinMaxNormOptions>(c, where));
  unknown_name(where, "constraint", given.name, "MaxNorm, NonNeg, UnitNorm, MinMaxNorm",
               custom_hint("custom_constraints"));
}

}  // namespace

WeightConstraint::WeightConstraint(const char* name)
    : WeightConstraint(constraint_of_keras({name, "constraint"}, "constraint")) {}

WeightConstraint::WeightConstraint(const std::string& name, Call call)
    : Named(own_name(kClassName, name, is_of_keras(constraint_of_keras, name)), std::move(call)) {}

WeightConstraint WeightConstraint::from(const Json& j, const std::string& where) {
  if (j.is_null()) return {};
  const NamedConfig given(j, where);
  if (const auto own = custom_named(&LoadOptions::custom_constraints, j, given)) return *own;
  return constraint_of_keras(given, where);
}

}  // namespace horngate::keras
