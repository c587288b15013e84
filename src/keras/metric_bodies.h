// What the files of metrics share.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "horngate/keras/metrics.h"
#include "keras/fields.h"

namespace horngate::keras {

/// A metric with options; the class of the body itself comes second.
template <class Arguments, class B>
class MetricOf : public MetricBody {
 public:
  using ArgumentsType = Arguments;
  explicit MetricOf(Arguments arguments) : o(std::move(arguments)) {}
  Json config() const override { return config_of(o); }
  std::shared_ptr<MetricBody> fresh() const override { return std::make_shared<B>(o); }

 protected:
  Arguments o;
};

/// Sets name and dtype, and makes the variables.
inline Metric finished(std::shared_ptr<MetricBody> body, const MetricOptions& options) {
  body->set_options(options);
  body->build();
  return Metric(std::move(body));
}

using MetricMaker = Metric (*)(const Json& config, const std::string& where);
using MetricTable = std::map<std::string, MetricMaker>;

MetricOptions read_metric_options(const Json& config, const std::string& where);

/// For tables: a metric from its configuration.
template <class B>
Metric make_metric_from(const Json& config, const std::string& where) {
  return finished(std::make_shared<B>(options_from<typename B::ArgumentsType>(config, where)),
                  read_metric_options(config, where));
}

/// Counts, Precision, AUC and others that compare predictions with thresholds.
void add_threshold_metrics(MetricTable& table);

}  // namespace horngate::keras
