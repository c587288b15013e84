// Metrics that compare predictions with thresholds: counts, Precision, Recall, AUC; and MeanIoU.
#include <algorithm>

#include "horngate/horngate.h"
#include "keras/losses_utils.h"
#include "keras/metric_bodies.h"

namespace horngate::keras {

namespace metrics {

static Json to_json(const Thresholds& t) {
  if (!t.values()) return {};
  return t.single() ? Json(t.values()->at(0)) : keras::to_json(*t.values());
}
static void from_json(const Json& j, Thresholds& t, const std::string& where) {
  if (j.is_null()) {
    t = {};
  } else if (j.is_list()) {
    std::vector<double> values;
    keras::from_json(j, values, where);
    t = Thresholds(std::move(values));
  } else {
    t = Thresholds(j.as_number(where));
  }
}

}  // namespace metrics

namespace {

using metrics::Thresholds;

std::vector<double> checked(const char* class_name, const Thresholds& given, double standard) {
  if (!given.values()) return {standard};
  for (const double t : *given.values())
    if (!(t >= 0 && t <= 1))
      throw ValueError(std::string(class_name) + ": thresholds must be in [0, 1]; got " +
                       Json(t).dump() + ".");
  if (given.values()->empty())
    throw ValueError(std::string(class_name) + ": thresholds must not be empty.");
  return *given.values();
}

/// The variables that count pairs of labels and predictions; empty ones are not wanted.
struct Counts {
  Variable true_positives = {}, false_negatives = {}, false_positives = {}, true_negatives = {};
};

/// The k largest predictions along the last axis stay, the first of equal ones; the others become very small.
Tensor filter_top_k(const Tensor& x, int64_t k) {
  const Dim classes = x.shape()[x.ndim() - 1];
  if (!classes.known())
    throw ValueError("top_k: the number of classes must be known; got shape " + x.shape().str() +
                     ".");
  const Tensor mine = expand_dims(x, -1), other = expand_dims(x, -2);
  const Tensor at = arange(classes.value());
  const Tensor before = less(expand_dims(at, 0), expand_dims(at, 1));
  const Tensor larger = logical_or(greater(other, mine), logical_and(equal(other, mine), before));
  const Tensor rank = sum(cast(larger, floatx()), {.axis = -1});
  const Tensor kept = cast(less(rank, static_cast<double>(k)), floatx());
  return x * kept + -1e10 * (1.0 - kept);
}

std::vector<Update> count_pairs(const Counts& counts, const std::vector<double>& thresholds,
                                const Tensor& labels, const Tensor& predictions,
                                const Tensor& weight, std::optional<int64_t> top_k = {},
                                std::optional<int64_t> class_id = {}) {
  Squeezed s = squeeze_or_expand_dimensions(cast(predictions, floatx()), cast(labels, floatx()),
                                            weight.defined() ? cast(weight, floatx()) : weight);
  Tensor y_pred = s.y_pred, y_true = s.y_true;
  if (top_k) y_pred = filter_top_k(y_pred, *top_k);
  if (class_id) {
    y_true = getitem(y_true, {Ellipsis, *class_id});
    y_pred = getitem(y_pred, {Ellipsis, *class_id});
  }
  // Rows are thresholds, columns predictions.
  const auto count = static_cast<int64_t>(thresholds.size());
  const Tensor limits = constant(Array::of(thresholds, {count, 1}).cast(floatx()));
  const Tensor above = greater(reshape(y_pred, {1, -1}), limits);
  const Tensor positive = reshape(cast(y_true, DType::bool_), {1, -1});
  Tensor weights;
  if (weight.defined()) weights = reshape(broadcast_weights(y_pred, s.sample_weight), {1, -1});
  std::vector<Update> updates;
  const auto add = [&](const Variable& variable, const Tensor& label, const Tensor& side) {
    if (!variable.defined()) return;
    Tensor hits = cast(logical_and(label, side), floatx());
    if (weights.defined()) hits = hits * weights;
    updates.emplace_back(update_add(variable, sum(hits, {.axis = 1})));
  };
  add(counts.true_positives, positive, above);
  add(counts.false_negatives, positive, logical_not(above));
  add(counts.false_positives, logical_not(positive), above);
  add(counts.true_negatives, logical_not(positive), logical_not(above));
  return updates;
}

/// a / b, and 0 where `wanted` is not above 0.
Tensor ratio(const Tensor& a, const Tensor& b, const Tensor& wanted) {
  return switch_(greater(wanted, 0), a / b, zeros_like(a));
}

Tensor first_if_single(const Tensor& x, size_t thresholds) {
  return thresholds == 1 ? index(x, 0) : x;
}

// ---- Counts

enum class Condition : uint8_t { tp, tn, fp, fn };

struct CountArguments {
  Thresholds thresholds = {};
};
template <class V>
void fields(V& v, Like<CountArguments> auto& a) {
  v("thresholds", a.thresholds);
}

constexpr const char* kCountNames[] = {"TruePositives", "TrueNegatives", "FalsePositives",
                                       "FalseNegatives"};

template <Condition kCondition>
class CountBody final : public MetricOf<CountArguments, CountBody<kCondition>> {
 public:
  explicit CountBody(CountArguments a)
      : MetricOf<CountArguments, CountBody>(std::move(a)),
        thresholds_(checked(kCountNames[static_cast<int>(kCondition)], this->o.thresholds, 0.5)) {}
  std::string class_name() const override { return kCountNames[static_cast<int>(kCondition)]; }
  void build() override {
    accumulator_ = this->add_weight("accumulator", {static_cast<int64_t>(thresholds_.size())});
  }
  std::vector<Update> update_state(const Tensor& y_true, const Tensor& y_pred,
                                   const Tensor& sample_weight) override {
    Counts counts;
    if (kCondition == Condition::tp) counts.true_positives = accumulator_;
    if (kCondition == Condition::tn) counts.true_negatives = accumulator_;
    if (kCondition == Condition::fp) counts.false_positives = accumulator_;
    if (kCondition == Condition::fn) counts.false_negatives = accumulator_;
    return count_pairs(counts, thresholds_, y_true, y_pred, sample_weight);
  }
  Tensor result() const override { return first_if_single(accumulator_, thresholds_.size()); }

 private:
  std::vector<double> thresholds_;
  Variable accumulator_;
};

// ---- Precision, Recall

struct PrecisionArguments {
  Thresholds thresholds = {};
  std::optional<int64_t> top_k = {}, class_id = {};
};
template <class V>
void fields(V& v, Like<PrecisionArguments> auto& a) {
  v("thresholds", a.thresholds), v("top_k", a.top_k), v("class_id", a.class_id);
}

template <bool kIsRecall>
class PrecisionBody final : public MetricOf<PrecisionArguments, PrecisionBody<kIsRecall>> {
 public:
  explicit PrecisionBody(PrecisionArguments a)
      : MetricOf<PrecisionArguments, PrecisionBody>(std::move(a)),
        thresholds_(checked(kName, this->o.thresholds, this->o.top_k ? -1e10 : 0.5)) {
    if (this->o.top_k && *this->o.top_k < 1)
      throw ValueError(std::string(kName) + ": top_k must be positive; got " +
                       std::to_string(*this->o.top_k) + ".");
  }
  std::string class_name() const override { return kName; }
  void build() override {
    const Ints shape{static_cast<int64_t>(thresholds_.size())};
    right_ = this->add_weight("true_positives", shape);
    wrong_ = this->add_weight(kIsRecall ? "false_negatives" : "false_positives", shape);
  }
  std::vector<Update> update_state(const Tensor& y_true, const Tensor& y_pred,
                                   const Tensor& sample_weight) override {
    Counts counts{.true_positives = right_};
    (kIsRecall ? counts.false_negatives : counts.false_positives) = wrong_;
    return count_pairs(counts, thresholds_, y_true, y_pred, sample_weight, this->o.top_k,
                       this->o.class_id);
  }
  Tensor result() const override {
    const Tensor all = right_ + wrong_;
    return first_if_single(ratio(right_, all, all), thresholds_.size());
  }

 private:
  static constexpr const char* kName = kIsRecall ? "Recall" : "Precision";
  std::vector<double> thresholds_;
  Variable right_, wrong_;
};

// ---- At many thresholds

/// All four counts.
template <class Arguments, class B>
class CurveOf : public MetricOf<Arguments, B> {
 public:
  using MetricOf<Arguments, B>::MetricOf;
  void build() override {
    const Ints shape{static_cast<int64_t>(thresholds_.size())};
    n.true_positives = this->add_weight("true_positives", shape);
    n.true_negatives = this->add_weight("true_negatives", shape);
    n.false_positives = this->add_weight("false_positives", shape);
    n.false_negatives = this->add_weight("false_negatives", shape);
  }
  std::vector<Update> update_state(const Tensor& y_true, const Tensor& y_pred,
                                   const Tensor& sample_weight) override {
    return count_pairs(n, thresholds_, y_true, y_pred, sample_weight);
  }

 protected:
  std::vector<double> thresholds_;
  Counts n;
};

/// Between 0 and 1, without those.
std::vector<double> evenly(int64_t count) {
  std::vector<double> inner;
  for (int64_t i = 0; i < count - 2; ++i)
    inner.push_back(static_cast<double>(i + 1) * 1.0 / static_cast<double>(count - 1));
  return inner;
}

template <bool kAtSensitivity>
struct AtArguments {
  double value = 0;
  int64_t num_thresholds = 200;
};
template <class V>
void fields(V& v, Like<AtArguments<true>> auto& a) {
  v("num_thresholds", a.num_thresholds), v.required("sensitivity", a.value);
}
template <class V>
void fields(V& v, Like<AtArguments<false>> auto& a) {
  v("num_thresholds", a.num_thresholds), v.required("specificity", a.value);
}

template <bool kAtSensitivity>
class AtBody final : public CurveOf<AtArguments<kAtSensitivity>, AtBody<kAtSensitivity>> {
 public:
  explicit AtBody(AtArguments<kAtSensitivity> a)
      : CurveOf<AtArguments<kAtSensitivity>, AtBody>(std::move(a)) {
    if (!(this->o.value >= 0 && this->o.value <= 1))
      throw ValueError(class_name() + (kAtSensitivity ? ": sensitivity" : ": specificity") +
                       " must be in [0, 1]; got " + Json(this->o.value).dump() + ".");
    const int64_t count = this->o.num_thresholds;
    if (count < 1)
      throw ValueError(class_name() + ": num_thresholds must be positive; got " +
                       std::to_string(count) + ".");
    std::vector<double>& t = this->thresholds_;
    t = {0.5};
    if (count == 1) return;
    t = evenly(count);
    t.insert(t.begin(), 0.0), t.push_back(1.0);
  }
  std::string class_name() const override {
    return kAtSensitivity ? "SpecificityAtSensitivity" : "SensitivityAtSpecificity";
  }
  Tensor result() const override {
    const Counts& sums = this->n;
    const Tensor positives = sums.true_positives + sums.false_negatives;
    const Tensor negatives = sums.true_negatives + sums.false_positives;
    const Tensor given = kAtSensitivity ? ratio(sums.true_positives, positives, positives)
                                        : ratio(sums.true_negatives, negatives, negatives);
    const Tensor at = cast(argmin(abs(given - this->o.value), 0), DType::int32);
    const Tensor& right = kAtSensitivity ? sums.true_negatives : sums.true_positives;
    const Tensor& wrong = kAtSensitivity ? sums.false_positives : sums.false_negatives;
    const Tensor both = index(right, at) + index(wrong, at);
    return ratio(index(right, at), both, both);
  }
};

// ---- AUC

struct AucArguments {
  int64_t num_thresholds = 200;
  std::string curve = "ROC", summation_method = "interpolation";
  std::optional<std::vector<double>> thresholds = {};
};
template <class V>
void fields(V& v, Like<AucArguments> auto& a) {
  v("num_thresholds", a.num_thresholds), v("curve", a.curve);
  v("summation_method", a.summation_method), v("thresholds", a.thresholds);
}

class AucBody final : public CurveOf<AucArguments, AucBody> {
 public:
  explicit AucBody(AucArguments a) : CurveOf(std::move(a)) {
    if (o.curve == "pr") o.curve = "PR";
    if (o.curve == "roc") o.curve = "ROC";
    if (o.curve != "PR" && o.curve != "ROC")
      throw ValueError("AUC: curve must be \"ROC\" or \"PR\"; got \"" + o.curve + "\".");
    std::string& method = o.summation_method;
    for (const char* name : {"Interpolation", "Majoring", "Minoring"})
      if (method == name) method[0] = static_cast<char>(method[0] - 'A' + 'a');
    if (method != "interpolation" && method != "majoring" && method != "minoring")
      throw ValueError(
          "AUC: summation_method must be \"interpolation\", \"majoring\" or \"minoring\"; got \"" +
          method + "\".");
    if (o.thresholds) {
      o.num_thresholds = static_cast<int64_t>(o.thresholds->size()) + 2;
      std::sort(o.thresholds->begin(), o.thresholds->end());
    } else if (o.num_thresholds < 2) {
      throw ValueError("AUC: num_thresholds must be above 1; got " +
                       std::to_string(o.num_thresholds) + ".");
    } else {
      o.thresholds = evenly(o.num_thresholds);
    }
    thresholds_ = *o.thresholds;
    thresholds_.insert(thresholds_.begin(), 0.0 - epsilon());
    thresholds_.push_back(1.0 + epsilon());
  }
  std::string class_name() const override { return "AUC"; }
  Tensor result() const override {
    const bool is_pr = o.curve == "PR";
    if (is_pr && o.summation_method == "interpolation") return interpolated_pr();
    const Tensor recall =
        ratio(n.true_positives, n.true_positives + n.false_negatives, n.true_positives);
    Tensor x = recall, y;
    if (is_pr) {
      y = ratio(n.true_positives, n.true_positives + n.false_positives, n.true_positives);
    } else {
      x = ratio(n.false_positives, n.false_positives + n.true_negatives, n.false_positives);
      y = recall;
    }
    Tensor heights;
    if (o.summation_method == "interpolation")
      heights = (but_last(y) + but_first(y)) / 2.0;
    else if (o.summation_method == "minoring")
      heights = minimum(but_last(y), but_first(y));
    else
      heights = maximum(but_last(y), but_first(y));
    return sum((but_last(x) - but_first(x)) * heights);
  }

 private:
  Tensor but_last(const Tensor& x) const {
    return getitem(x, {Slice{.stop = o.num_thresholds - 1}});
  }
  static Tensor but_first(const Tensor& x) { return getitem(x, {Slice{.start = 1}}); }

  // Precision between two thresholds follows tp = slope * p + intercept.
  Tensor interpolated_pr() const {
    const Tensor tp = n.true_positives;
    const Tensor dtp = but_last(tp) - but_first(tp);
    const Tensor p = tp + n.false_positives;
    const Tensor dp = maximum(but_last(p) - but_first(p), 0);
    const Tensor slope = ratio(dtp, dp, dp);
    const Tensor intercept = but_first(tp) - slope * but_first(p);
    const Tensor both = logical_and(greater(but_last(p), 0), greater(but_first(p), 0));
    const Tensor p_ratio =
        switch_(both, ratio(but_last(p), but_first(p), but_first(p)), ones_like(but_first(p)));
    const Tensor above = slope * (dtp + intercept * log(p_ratio));
    const Tensor positives = maximum(but_first(tp) + but_first(n.false_negatives), 0);
    return sum(ratio(above, positives, positives));
  }
};

// ---- MeanIoU

struct MeanIouArguments {
  int64_t num_classes = 0;
};
template <class V>
void fields(V& v, Like<MeanIouArguments> auto& a) {
  v.required("num_classes", a.num_classes);
}

class MeanIouBody final : public MetricOf<MeanIouArguments, MeanIouBody> {
 public:
  explicit MeanIouBody(MeanIouArguments a) : MetricOf(std::move(a)) {
    if (o.num_classes < 1)
      throw ValueError("MeanIoU: num_classes must be positive; got " +
                       std::to_string(o.num_classes) + ".");
  }
  std::string class_name() const override { return "MeanIoU"; }
  /// Rows are labels, columns predictions; float64, so that many pixels can be counted.
  void build() override {
    total_ = add_weight("total_confusion_matrix", {o.num_classes, o.num_classes}, DType::float64);
  }
  std::vector<Update> update_state(const Tensor& y_true, const Tensor& y_pred,
                                   const Tensor& sample_weight) override {
    const auto rows = [&](const Tensor& x) {
      return cast(one_hot(cast(flatten(x), DType::int32), o.num_classes), DType::float64);
    };
    Tensor labels = rows(y_true);
    if (sample_weight.defined())
      labels = labels * reshape(cast(sample_weight, DType::float64), {-1, 1});
    return {update_add(total_, dot(transpose(labels), rows(y_pred)))};
  }
  Tensor result() const override {
    const Tensor rows = cast(sum(total_, {.axis = 0}), dtype());
    const Tensor columns = cast(sum(total_, {.axis = 1}), dtype());
    const Array one = Array::zeros(DType::float64, {o.num_classes, o.num_classes});
    for (int64_t i = 0; i < o.num_classes; ++i) one.data<double>()[i * (o.num_classes + 1)] = 1;
    const Tensor both = cast(sum(total_ * constant(one), {.axis = 0}), dtype());
    const Tensor either = rows + columns - both;
    const Tensor there = cast(not_equal(either, 0), dtype());
    const Tensor each = switch_(not_equal(either, 0), both / either, zeros_like(both));
    const Tensor count = sum(there);
    return ratio(sum(each), count, count);
  }

 private:
  Variable total_;
};

}  // namespace

void add_threshold_metrics(MetricTable& t) {
  t["TruePositives"] = make_metric_from<CountBody<Condition::tp>>;
  t["TrueNegatives"] = make_metric_from<CountBody<Condition::tn>>;
  t["FalsePositives"] = make_metric_from<CountBody<Condition::fp>>;
  t["FalseNegatives"] = make_metric_from<CountBody<Condition::fn>>;
  t["Precision"] = make_metric_from<PrecisionBody<false>>;
  t["Recall"] = make_metric_from<PrecisionBody<true>>;
  t["SensitivityAtSpecificity"] = make_metric_from<AtBody<false>>;
  t["SpecificityAtSensitivity"] = make_metric_from<AtBody<true>>;
  t["AUC"] = make_metric_from<AucBody>;
  t["MeanIoU"] = make_metric_from<MeanIouBody>;
}

namespace metrics {

namespace {

template <class B, class O>
Metric make(typename B::ArgumentsType arguments, const O& options) {
  return finished(std::make_shared<B>(std::move(arguments)), {options.name, options.dtype});
}

}  // namespace

Metric TruePositives(const ThresholdOptions& o) {
  return make<CountBody<Condition::tp>>({o.thresholds}, o);
}
Metric TrueNegatives(const ThresholdOptions& o) {
  return make<CountBody<Condition::tn>>({o.thresholds}, o);
}
Metric FalsePositives(const ThresholdOptions& o) {
  return make<CountBody<Condition::fp>>({o.thresholds}, o);
}
Metric FalseNegatives(const ThresholdOptions& o) {
  return make<CountBody<Condition::fn>>({o.thresholds}, o);
}
Metric Precision(const PrecisionOptions& o) {
  return make<PrecisionBody<false>>({o.thresholds, o.top_k, o.class_id}, o);
}
Metric Recall(const PrecisionOptions& o) {
  return make<PrecisionBody<true>>({o.thresholds, o.top_k, o.class_id}, o);
}
Metric SensitivityAtSpecificity(double specificity, const AtOptions& o) {
  return make<AtBody<false>>({specificity, o.num_thresholds}, o);
}
Metric SpecificityAtSensitivity(double sensitivity, const AtOptions& o) {
  return make<AtBody<true>>({sensitivity, o.num_thresholds}, o);
}
Metric AUC(const AUCOptions& o) {
  return make<AucBody>({o.num_thresholds, o.curve, o.summation_method, o.thresholds}, o);
}
Metric MeanIoU(int64_t num_classes, const Options& o) {
  return make<MeanIouBody>({num_classes}, o);
}

}  // namespace metrics

}  // namespace horngate::keras
