// Optimizers: the same K functions in the same order as Keras, so that results are equal bit by bit.
#include "horngate/keras/optimizers.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "horngate/horngate.h"
#include "keras/custom.h"
#include "keras/fields.h"
#include "keras/losses_utils.h"

namespace horngate::keras {

OptimizerBody::~OptimizerBody() = default;

Tensors OptimizerBody::gradients_of(const Tensor& loss, const std::vector<Variable>& params) const {
  Tensors gradients = horngate::gradients(loss, Tensors(params.begin(), params.end()));
  for (size_t i = 0; i < gradients.size(); ++i)
    if (!gradients[i].defined())
      throw ValueError(class_name() + ": the loss must depend on each weight that is trained; " +
                       params[i].name() +
                       " has no gradient. Functions without one: argmax, round, comparisons.");
  return gradients;
}

template <class V>
void fields(V& v, Like<SGDOptions> auto& o) {
  v("learning_rate", o.learning_rate), v("momentum", o.momentum), v("decay", o.decay);
  v("nesterov", o.nesterov);
}
template <class V>
void fields(V& v, Like<RMSpropOptions> auto& o) {
  v("learning_rate", o.learning_rate), v("rho", o.rho), v("decay", o.decay);
  v("epsilon", o.epsilon);
}
template <class V>
void fields(V& v, Like<AdagradOptions> auto& o) {
  v("learning_rate", o.learning_rate), v("decay", o.decay), v("epsilon", o.epsilon);
}
template <class V>
void fields(V& v, Like<AdadeltaOptions> auto& o) {
  v("learning_rate", o.learning_rate), v("rho", o.rho), v("decay", o.decay);
  v("epsilon", o.epsilon);
}
template <class V>
void fields(V& v, Like<AdamOptions> auto& o) {
  v("learning_rate", o.learning_rate), v("beta_1", o.beta_1), v("beta_2", o.beta_2);
  v("decay", o.decay), v("epsilon", o.epsilon), v("amsgrad", o.amsgrad);
}
template <class V>
void fields(V& v, Like<AdamaxOptions> auto& o) {
  v("learning_rate", o.learning_rate), v("beta_1", o.beta_1), v("beta_2", o.beta_2);
  v("decay", o.decay), v("epsilon", o.epsilon);
}
template <class V>
void fields(V& v, Like<NadamOptions> auto& o) {
  v("learning_rate", o.learning_rate), v("beta_1", o.beta_1), v("beta_2", o.beta_2);
  v("epsilon", o.epsilon), v("schedule_decay", o.schedule_decay);
}

namespace {

double number_in(const Variable& v) { return get_value(v).cast(DType::float64).data<double>()[0]; }

/// What Keras's optimizers share: options in variables, steps, decay, limits of gradients, constraints.
template <class Options>
class OptimizerOf : public OptimizerBody {
 public:
  explicit OptimizerOf(Options options) : o(std::move(options)) {
    if constexpr (requires { o.epsilon; }) {
      if (!o.epsilon) o.epsilon = horngate::epsilon();
    }
  }
  Variable learning_rate() const override { return learning_rate_; }
  /// clipnorm is for each gradient by itself.
  void limit_each() { limits_each_ = true; }
  Json config() const override {
    Json c = Json::Object();
    if (o.clipnorm) c.set("clipnorm", *o.clipnorm);
    if (o.clipvalue) c.set("clipvalue", *o.clipvalue);
    const Json own = config_of(current());
    for (const auto& [name, value] : own.as_object("")) c.set(name, value);
    return c;
  }

 protected:
  Options o;
  bool limits_each_ = false;
  Variable iterations_, learning_rate_, decay_;

  /// The options as they are now: those in variables have that type's digits, and can have been set.
  virtual Options current() const = 0;

  std::string prefix() const { return (o.name.empty() ? class_name() : o.name) + "/"; }

  /// iterations, learning_rate, decay; at the end of the constructor, when the class is known.
  void make_variables() {
    iterations_ =
        variable(Array(int64_t{0}), {.dtype = DType::int64, .name = prefix() + "iterations"});
    learning_rate_ = number("learning_rate", o.learning_rate);
    if constexpr (requires { o.decay; }) decay_ = number("decay", o.decay);
  }
  Variable number(const char* name, double value) const {
    return variable(Array(value).cast(floatx()), {.dtype = floatx(), .name = prefix() + name});
  }
  void read_common(Options& now) const {
    now.learning_rate = number_in(learning_rate_);
    if constexpr (requires { o.decay; }) now.decay = number_in(decay_);
  }

  /// Zeros for each weight, in its type or in floatx.
  std::vector<Variable> zeros_for(const std::vector<Variable>& params, const char* name,
                                  std::optional<DType> dtype) const {
    std::vector<Variable> result;
    for (size_t i = 0; i < params.size(); ++i) {
      const DType type = dtype.value_or(params[i].dtype());
      result.push_back(variable(
          Array::zeros(type, params[i].shape().dims()),
          {.dtype = type, .name = "training/" + prefix() + name + "_" + std::to_string(i)}));
    }
    return result;
  }
  void keep(std::initializer_list<std::vector<Variable>> lists) {
    weights_ = {iterations_};
    for (const auto& list : lists) weights_.insert(weights_.end(), list.begin(), list.end());
  }

  Tensor limited(const Tensor& g, const Tensor& norm) const {
    return switch_(greater_equal(norm, *o.clipnorm), g * *o.clipnorm / norm, g);
  }
  Tensors limited_gradients(const Tensor& loss, const std::vector<Variable>& params) const {
    Tensors grads = gradients_of(loss, params);
    if (limits_each_) {
      for (Tensor& g : grads) g = limited(g, sqrt(sum(square(g))));
    } else if (o.clipnorm.value_or(0) > 0 && !grads.empty()) {
      Tensor total;
      for (const Tensor& g : grads) {
        const Tensor part = sum(square(g));
        total = total.defined() ? total + part : part;
      }
      const Tensor norm = sqrt(total);
      for (Tensor& g : grads) g = limited(g, norm);
    }
    if (o.clipvalue.value_or(0) > 0)
      for (Tensor& g : grads) g = clip(g, -*o.clipvalue, *o.clipvalue);
    return grads;
  }
  std::vector<Update> first_update() const {
    return {horngate::update_add(iterations_, constant(Array(int64_t{1})))};
  }
  /// The learning rate of this step.
  Tensor rate() const {
    if constexpr (requires { o.decay; }) {
      if (o.decay > 0)
        return learning_rate_ * (1.0 / (1.0 + decay_ * cast(iterations_, decay_.dtype())));
    }
    return learning_rate_;
  }
  Tensor step() const { return cast(iterations_, floatx()) + 1.0; }
  static Update set(const Variable& p, const Tensor& value) {
    const Constraint& constraint = constraint_of(p);
    return update(p, constraint ? constraint(value) : value);
  }
  /// Files of tf.keras leave out what stays 0: zeros at the end.
  Arrays with_zeros(Arrays values, size_t from) const {
    if (values.size() != from) return values;
    for (size_t i = from; i < weights_.size(); ++i)
      values.push_back(Array::zeros(weights_[i].dtype(), weights_[i].shape().dims()));
    return values;
  }
  /// Before Keras 2.3 files had no iterations.
  Arrays with_iterations(Arrays values) const {
    if (values.size() + 1 == weights_.size()) values.insert(values.begin(), Array(int64_t{0}));
    return values;
  }
};

class SgdBody final : public OptimizerOf<SGDOptions> {
 public:
  explicit SgdBody(const SGDOptions& options) : OptimizerOf(options) {
    make_variables();
    momentum_ = number("momentum", o.momentum);
  }
  std::string class_name() const override { return "SGD"; }
  std::vector<Update> get_updates(const Tensor& loss,
                                  const std::vector<Variable>& params) override {
    const Tensors grads = limited_gradients(loss, params);
    std::vector<Update> updates = first_update();
    const Tensor lr = rate();
    const auto moments = zeros_for(params, "moment", floatx());
    keep({moments});
    for (size_t i = 0; i < params.size(); ++i) {
      const Variable &p = params[i], &m = moments[i];
      const Tensor velocity = momentum_ * m - lr * grads[i];
      updates.emplace_back(update(m, velocity));
      updates.push_back(
          set(p, o.nesterov ? p + momentum_ * velocity - lr * grads[i] : p + velocity));
    }
    return updates;
  }
  Arrays completed(Arrays values) const override {
    return o.momentum == 0 ? with_zeros(std::move(values), 1) : values;
  }

 private:
  SGDOptions current() const override {
    SGDOptions now = o;
    read_common(now);
    now.momentum = number_in(momentum_);
    return now;
  }
  Variable momentum_;
};

class RmspropBody final : public OptimizerOf<RMSpropOptions> {
 public:
  explicit RmspropBody(const RMSpropOptions& options) : OptimizerOf(options) {
    make_variables();
    rho_ = number("rho", o.rho);
  }
  std::string class_name() const override { return "RMSprop"; }
  std::vector<Update> get_updates(const Tensor& loss,
                                  const std::vector<Variable>& params) override {
    const Tensors grads = limited_gradients(loss, params);
    const auto accumulators = zeros_for(params, "accumulator", {});
    keep({accumulators});
    std::vector<Update> updates = first_update();
    const Tensor lr = rate();
    for (size_t i = 0; i < params.size(); ++i) {
      const Variable &p = params[i], &a = accumulators[i];
      const Tensor new_a = rho_ * a + (1.0 - rho_) * square(grads[i]);
      updates.emplace_back(update(a, new_a));
      updates.push_back(set(p, p - lr * grads[i] / (sqrt(new_a) + *o.epsilon)));
    }
    return updates;
  }
  Arrays completed(Arrays values) const override { return with_iterations(std::move(values)); }

 private:
  RMSpropOptions current() const override {
    RMSpropOptions now = o;
    read_common(now);
    now.rho = number_in(rho_);
    return now;
  }
  Variable rho_;
};

class AdagradBody final : public OptimizerOf<AdagradOptions> {
 public:
  explicit AdagradBody(const AdagradOptions& options) : OptimizerOf(options) { make_variables(); }
  std::string class_name() const override { return "Adagrad"; }
  std::vector<Update> get_updates(const Tensor& loss,
                                  const std::vector<Variable>& params) override {
    const Tensors grads = limited_gradients(loss, params);
    const auto accumulators = zeros_for(params, "accumulator", floatx());
    keep({accumulators});
    std::vector<Update> updates = first_update();
    const Tensor lr = rate();
    for (size_t i = 0; i < params.size(); ++i) {
      const Variable &p = params[i], &a = accumulators[i];
      const Tensor new_a = a + square(grads[i]);
      updates.emplace_back(update(a, new_a));
      updates.push_back(set(p, p - lr * grads[i] / (sqrt(new_a) + *o.epsilon)));
    }
    return updates;
  }
  Arrays completed(Arrays values) const override { return with_iterations(std::move(values)); }

 private:
  AdagradOptions current() const override {
    AdagradOptions now = o;
    read_common(now);
    return now;
  }
};

class AdadeltaBody final : public OptimizerOf<AdadeltaOptions> {
 public:
  explicit AdadeltaBody(const AdadeltaOptions& options) : OptimizerOf(options) { make_variables(); }
  std::string class_name() const override { return "Adadelta"; }
  std::vector<Update> get_updates(const Tensor& loss,
                                  const std::vector<Variable>& params) override {
    const Tensors grads = limited_gradients(loss, params);
    const auto accumulators = zeros_for(params, "accumulator", floatx());
    const auto deltas = zeros_for(params, "delta_accumulator", floatx());
    keep({accumulators, deltas});
    std::vector<Update> updates = first_update();
    const Tensor lr = rate();
    for (size_t i = 0; i < params.size(); ++i) {
      const Variable &p = params[i], &a = accumulators[i], &d = deltas[i];
      const Tensor new_a = o.rho * a + (1.0 - o.rho) * square(grads[i]);
      updates.emplace_back(update(a, new_a));
      const Tensor change = grads[i] * sqrt(d + *o.epsilon) / sqrt(new_a + *o.epsilon);
      updates.push_back(set(p, p - lr * change));
      updates.emplace_back(update(d, o.rho * d + (1.0 - o.rho) * square(change)));
    }
    return updates;
  }
  Arrays completed(Arrays values) const override { return with_iterations(std::move(values)); }

 private:
  AdadeltaOptions current() const override {
    AdadeltaOptions now = o;
    read_common(now);
    return now;
  }
};

/// Adam, Adamax and Nadam: two rates of averages.
template <class Options>
class AdamLike : public OptimizerOf<Options> {
 public:
  using OptimizerOf<Options>::OptimizerOf;

 protected:
  Variable beta_1_, beta_2_;
  void make_betas() {
    this->make_variables();
    beta_1_ = this->number("beta_1", this->o.beta_1);
    beta_2_ = this->number("beta_2", this->o.beta_2);
  }
  Options current() const override {
    Options now = this->o;
    this->read_common(now);
    now.beta_1 = number_in(beta_1_);
    now.beta_2 = number_in(beta_2_);
    return now;
  }
};

class AdamBody final : public AdamLike<AdamOptions> {
 public:
  explicit AdamBody(const AdamOptions& options) : AdamLike(options) { make_betas(); }
  std::string class_name() const override { return "Adam"; }
  std::vector<Update> get_updates(const Tensor& loss,
                                  const std::vector<Variable>& params) override {
    const Tensors grads = limited_gradients(loss, params);
    std::vector<Update> updates = first_update();
    const Tensor lr = rate(), t = step();
    const Tensor lr_t = lr * (sqrt(1.0 - pow(beta_2_, t)) / (1.0 - pow(beta_1_, t)));
    const auto ms = zeros_for(params, "m", {}), vs = zeros_for(params, "v", {});
    const auto vhats = o.amsgrad ? zeros_for(params, "vhat", {}) : placeholders(params.size());
    keep({ms, vs, vhats});
    for (size_t i = 0; i < params.size(); ++i) {
      const Variable &p = params[i], &m = ms[i], &v = vs[i];
      const Tensor m_t = beta_1_ * m + (1.0 - beta_1_) * grads[i];
      const Tensor v_t = beta_2_ * v + (1.0 - beta_2_) * square(grads[i]);
      Tensor largest = v_t;
      if (o.amsgrad) {
        largest = maximum(vhats[i], v_t);
        updates.emplace_back(update(vhats[i], largest));
      }
      updates.emplace_back(update(m, m_t));
      updates.emplace_back(update(v, v_t));
      updates.push_back(set(p, p - lr_t * m_t / (sqrt(largest) + *o.epsilon)));
    }
    return updates;
  }

  Arrays completed(Arrays values) const override {
    const size_t params = (weights_.size() - 1) / 3;
    return o.amsgrad ? values : with_zeros(std::move(values), 1 + 2 * params);
  }

 private:
  /// Without amsgrad files have a single zero for each weight.
  std::vector<Variable> placeholders(size_t count) const {
    std::vector<Variable> result;
    for (size_t i = 0; i < count; ++i)
      result.push_back(variable(
          Array::zeros(floatx(), {1}),
          {.dtype = floatx(), .name = "training/" + prefix() + "vhat_" + std::to_string(i)}));
    return result;
  }
};

class AdamaxBody final : public AdamLike<AdamaxOptions> {
 public:
  explicit AdamaxBody(const AdamaxOptions& options) : AdamLike(options) { make_betas(); }
  std::string class_name() const override { return "Adamax"; }
  std::vector<Update> get_updates(const Tensor& loss,
                                  const std::vector<Variable>& params) override {
    const Tensors grads = limited_gradients(loss, params);
    std::vector<Update> updates = first_update();
    const Tensor lr_t = rate() / (1.0 - pow(beta_1_, step()));
    const auto ms = zeros_for(params, "m", floatx()), us = zeros_for(params, "u", floatx());
    keep({ms, us});
    for (size_t i = 0; i < params.size(); ++i) {
      const Variable &p = params[i], &m = ms[i], &u = us[i];
      const Tensor m_t = beta_1_ * m + (1.0 - beta_1_) * grads[i];
      const Tensor u_t = maximum(beta_2_ * u, abs(grads[i]));
      updates.emplace_back(update(m, m_t));
      updates.emplace_back(update(u, u_t));
      updates.push_back(set(p, p - lr_t * m_t / (u_t + *o.epsilon)));
    }
    return updates;
  }
};

class NadamBody final : public AdamLike<NadamOptions> {
 public:
  explicit NadamBody(const NadamOptions& options) : AdamLike(options) {
    make_betas();
    m_schedule_ = number("m_schedule", 1.0);
  }
  std::string class_name() const override { return "Nadam"; }
  std::vector<Update> get_updates(const Tensor& loss,
                                  const std::vector<Variable>& params) override {
    const Tensors grads = limited_gradients(loss, params);
    std::vector<Update> updates = first_update();
    const Tensor t = step(), base = float_constant(0.96);
    // Momentum that warms up.
    const auto momentum = [&](const Tensor& at) {
      return beta_1_ * (1.0 - 0.5 * pow(base, at * o.schedule_decay));
    };
    const Tensor now = momentum(t), next = momentum(t + 1.0);
    const Tensor schedule = m_schedule_ * now, schedule_next = m_schedule_ * now * next;
    updates.emplace_back(m_schedule_, schedule);
    const auto ms = zeros_for(params, "m", floatx()), vs = zeros_for(params, "v", floatx());
    keep({{m_schedule_}, ms, vs});
    for (size_t i = 0; i < params.size(); ++i) {
      const Variable &p = params[i], &m = ms[i], &v = vs[i];
      const Tensor& g = grads[i];
      const Tensor g_prime = g / (1.0 - schedule);
      const Tensor m_t = beta_1_ * m + (1.0 - beta_1_) * g;
      const Tensor m_t_prime = m_t / (1.0 - schedule_next);
      const Tensor v_t = beta_2_ * v + (1.0 - beta_2_) * square(g);
      const Tensor v_t_prime = v_t / (1.0 - pow(beta_2_, t));
      const Tensor m_t_bar = (1.0 - now) * g_prime + next * m_t_prime;
      updates.emplace_back(update(m, m_t));
      updates.emplace_back(update(v, v_t));
      updates.push_back(set(p, p - learning_rate_ * m_t_bar / (sqrt(v_t_prime) + *o.epsilon)));
    }
    return updates;
  }
  /// Before Keras 2.3 files had no m_schedule, nor have those of tf.keras since 2.11: it follows from the iterations.
  Arrays completed(Arrays values) const override {
    if (values.empty() || values.size() + 1 != weights_.size()) return values;
    const double steps = values[0].size() == 1 ? values[0].item<double>() : 0;
    double product = 1;
    for (double t = 1; t <= steps && product > 0; ++t)
      product *= o.beta_1 * (1.0 - 0.5 * std::pow(0.96, t * o.schedule_decay));
    values.insert(values.begin() + 1, Array(product).cast(floatx()));
    return values;
  }

 private:
  Variable m_schedule_;
};

/// Options of tf.keras that change the numbers, and that Keras does not have.
void refuse(const Json& config, const std::string& where,
            std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const Json* found = config.find(name);
    if (!found || found->is_null() || *found == Json(false) || *found == Json(0)) continue;
    throw ValueError(where + ": " + name + " is not an option of Keras 2.3; got " + found->dump() +
                     ".");
  }
}

template <class B, class O>
Optimizer read(const Json& config, const std::string& where) {
  O options;
  refuse(config, where, {"weight_decay", "use_ema"});
  // A number or null, which leaves the default.
  const auto number = [&](const char* name, std::optional<double>& to) {
    if (const Json* found = config.find(name)) from_json(*found, to, where + ": " + name);
  };
  Json plain = config;
  if (!config.find("learning_rate")) {
    std::optional<double> lr;
    number("lr", lr);
    if (lr) plain.set("learning_rate", *lr);
  }
  if (config.find("learning_rate") && config.find("learning_rate")->is_object())
    throw ValueError(where + ": learning_rate must be a number; got a schedule.");
  Reader reader{plain, where};
  fields(reader, options);
  number("clipnorm", options.clipnorm);
  number("clipvalue", options.clipvalue);
  // tf.keras, whose optimizers have names, limits each gradient by itself, or all of them with another option.
  const bool limits_each = config.find("name") && options.clipnorm;
  if (!limits_each) number("global_clipnorm", options.clipnorm);
  auto body = std::make_shared<B>(options);
  if (limits_each) body->limit_each();
  return Optimizer(std::move(body));
}

Optimizer of_keras(const NamedConfig& given, const std::string& where) {
  const std::string& name = given.name;
  const Json& c = given.config;
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char x) { return static_cast<char>(std::tolower(x)); });
  const std::string at = where + ": " + name;
  if (lower == "sgd") return read<SgdBody, SGDOptions>(c, at);
  if (lower == "rmsprop") {
    refuse(c, at, {"momentum", "centered"});
    return read<RmspropBody, RMSpropOptions>(c, at);
  }
  if (lower == "adagrad") return read<AdagradBody, AdagradOptions>(c, at);
  if (lower == "adadelta") return read<AdadeltaBody, AdadeltaOptions>(c, at);
  if (lower == "adam") return read<AdamBody, AdamOptions>(c, at);
  if (lower == "adamax") return read<AdamaxBody, AdamaxOptions>(c, at);
  if (lower == "nadam") {
    // Before 2.11 tf.keras calls it decay; since then it is 1.
    Json config = c;
    if (const Json* decay = c.find("decay"); decay && !c.find("schedule_decay"))
      config.set("schedule_decay", *decay);
    else if (c.find("is_legacy_optimizer"))
      config.set("schedule_decay", 1.0);
    return read<NadamBody, NadamOptions>(config, at);
  }
  unknown_name(where, "optimizer", name, "SGD, RMSprop, Adagrad, Adadelta, Adam, Adamax, Nadam",
               custom_hint("custom_optimizers"));
}

}  // namespace

OptimizerBody& Optimizer::body() const {
  if (!body_) throw ValueError("optimizer: this handle holds no optimizer.");
  return *body_;
}

Optimizer::Optimizer(const char* name) : Optimizer(of_keras({name, "optimizer"}, "optimizer")) {}

std::vector<Update> Optimizer::get_updates(const Tensor& loss,
                                           const std::vector<Variable>& params) const {
  return body().get_updates(loss, params);
}

Arrays Optimizer::get_weights() const { return batch_get_value(weights()); }

void Optimizer::set_weights(const Arrays& given) const {
  const std::vector<Variable>& mine = weights();
  const Arrays values = body().completed(given);
  if (values.size() != mine.size())
    throw ValueError("set_weights: " + class_name() + " has " + std::to_string(mine.size()) +
                     " weights; got " + std::to_string(given.size()) + ".");
  std::vector<std::pair<Variable, Array>> pairs;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].shape() != mine[i].shape())
      throw ValueError("set_weights: " + mine[i].name() + " has the shape " +
                       mine[i].shape().str() + "; got " + values[i].shape().str() + ".");
    pairs.emplace_back(mine[i], values[i].cast(mine[i].dtype()));
  }
  batch_set_value(pairs);
}

Json Optimizer::config() const {
  if (!body_) return {};
  return class_config(body_->class_name().c_str(), body_->config());
}

Optimizer Optimizer::from(const Json& j, const std::string& where) {
  if (j.is_null()) return {};
  const NamedConfig given(j, where);
  if (const auto own = custom_object(&LoadOptions::custom_optimizers, given)) return *own;
  return of_keras(given, where);
}

Optimizer SGD(const SGDOptions& o) { return Optimizer(std::make_shared<SgdBody>(o)); }
Optimizer RMSprop(const RMSpropOptions& o) { return Optimizer(std::make_shared<RmspropBody>(o)); }
Optimizer Adagrad(const AdagradOptions& o) { return Optimizer(std::make_shared<AdagradBody>(o)); }
Optimizer Adadelta(const AdadeltaOptions& o) {
  return Optimizer(std::make_shared<AdadeltaBody>(o));
}
Optimizer Adam(const AdamOptions& o) { return Optimizer(std::make_shared<AdamBody>(o)); }
Optimizer Adamax(const AdamaxOptions& o) { return Optimizer(std::make_shared<AdamaxBody>(o)); }
Optimizer Nadam(const NadamOptions& o) { return Optimizer(std::make_shared<NadamBody>(o)); }

}  // namespace horngate::keras
