// Data of users, checked and made what functions take.
#include <algorithm>
#include <cstring>

#include "keras/names.h"
#include "keras/trainer.h"

namespace horngate::keras {
namespace {

Array pick_rows(const Array& from, std::span<const int64_t> numbers) {
  const Array all = from.contiguous();
  Ints dims = all.dims();
  const int64_t rows = dims[0];
  dims[0] = static_cast<int64_t>(numbers.size());
  Array result(all.dtype(), dims);
  const size_t bytes = rows ? all.nbytes() / static_cast<size_t>(rows) : 0;
  const auto* source = static_cast<const std::byte*>(all.raw());
  auto* to = static_cast<std::byte*>(result.raw());
  if (bytes > 0)
    for (const int64_t n : numbers) {
      std::memcpy(to, source + static_cast<size_t>(n) * bytes, bytes);
      to += bytes;
    }
  return result;
}

template <class F>
Arrays each(const Arrays& arrays, F f) {
  Arrays result;
  for (const Array& a : arrays) result.push_back(f(a));
  return result;
}

/// Arrays in the order of names.
Arrays in_order(const char* function, const char* kind, const Data& data,
                const std::vector<std::string>& names) {
  const auto fail = [&](const std::string& got) {
    throw ValueError(std::string(function) + ": " + kind + " must be " +
                     (names.size() == 1 ? "one array" : std::to_string(names.size()) + " arrays") +
                     " (" + listed(names) + "); got " + got + ".");
  };
  if (const Arrays* list = data.list()) {
    if (list->size() != names.size()) fail(std::to_string(list->size()));
    return *list;
  }
  const Data::Named& named = *data.named();
  Arrays result;
  for (const std::string& name : names) {
    const auto found = named.find(name);
    if (found == named.end()) fail("none for " + name);
    result.push_back(found->second);
  }
  for (const auto& [name, ignored] : named)
    if (std::find(names.begin(), names.end(), name) == names.end())
      fail("one for \"" + name + "\"");
  return result;
}

/// An array of the wanted rank: numbers of samples become columns.
Array fitted(const char* function, const std::string& name, const Array& a, const Shape& wanted) {
  const auto fail = [&] {
    throw ValueError(std::string(function) + ": " + name + " must have the shape " + wanted.str() +
                     "; got " + a.shape().str() + ".");
  };
  if (!a.defined())
    throw ValueError(std::string(function) + ": " + name + " must be an array; got an empty one.");
  Array result = a;
  if (a.ndim() == 1 && wanted.ndim() == 2) result = a.contiguous().reshape({-1, 1});
  if (result.ndim() != wanted.ndim() || result.ndim() == 0) fail();
  for (size_t i = 1; i < wanted.ndim(); ++i)
    if (wanted[i].known() && wanted.dim(i) != result.dims()[i]) fail();
  return result;
}

int64_t samples_of(const char* function, const Arrays& arrays, int64_t samples) {
  for (const Array& a : arrays) {
    if (samples < 0) samples = a.dims()[0];
    if (a.dims()[0] != samples)
      throw ValueError(std::string(function) + ": all arrays must have as many samples; got " +
                       std::to_string(samples) + " and " + std::to_string(a.dims()[0]) + ".");
  }
  return samples;
}

}  // namespace

Feeds Feeds::rows(int64_t begin, int64_t end) const {
  const auto part = [&](const Array& a) { return a.rows(begin, end); };
  return {each(inputs, part), each(targets, part), each(weights, part), end - begin};
}

Feeds Feeds::pick(std::span<const int64_t> numbers) const {
  const auto part = [&](const Array& a) { return pick_rows(a, numbers); };
  return {each(inputs, part), each(targets, part), each(weights, part),
          static_cast<int64_t>(numbers.size())};
}

Arrays Trainer::standardize_inputs(const char* function, const Data& x) {
  ensure_graph(function, x);
  const std::vector<std::string> names = network_.input_names();
  Arrays inputs = in_order(function, "x", x, names);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].is_sparse()) {
      const Tensor& wanted = network_.inputs()[i];
      inputs[i] = fitted(function, "input " + names[i], inputs[i], wanted.shape());
    }
  (void)samples_of(function, inputs, -1);
  return inputs;
}

Feeds Trainer::standardize(const char* function, const Data& x, const Data& y,
                           const Data& sample_weight, const ClassWeightChoices& class_weight) {
  if (!is_compiled())
    throw RuntimeError(std::string(function) +
                       ": the model must be compiled first: model.compile({.loss = ..}).");
  Feeds feeds;
  feeds.inputs = standardize_inputs(function, x);
  std::vector<std::string> names;
  for (const Output& o : outputs_)
    if (o.loss) names.push_back(o.name);
  feeds.targets = in_order(function, "y", y, names);
  size_t k = 0;
  for (const Output& o : outputs_) {
    if (!o.loss) continue;
    Shape wanted = o.value.shape();
    const std::string& kind = o.loss.function();
    if (kind == "sparse_categorical_crossentropy" && wanted.ndim() > 0) wanted.dims().back() = 1;
    // Functions of users may take targets of any size.
    if (kind.empty())
      for (int64_t& d : wanted.dims()) d = Shape::kUnknown;
    feeds.targets[k] = fitted(function, "target " + o.name, feeds.targets[k], wanted);
    ++k;
  }
  feeds.samples = samples_of(function, feeds.targets, feeds.inputs[0].dims()[0]);

  Arrays given(names.size());
  if (!sample_weight.empty()) {
    if (const Data::Named* named = sample_weight.named()) {
      for (size_t i = 0; i < names.size(); ++i)
        if (const auto found = named->find(names[i]); found != named->end())
          given[i] = found->second;
    } else {
      given = in_order(function, "sample_weight", sample_weight, names);
    }
  }
  for (const auto& [name, ignored] : class_weight.named())
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw ValueError(std::string(function) + ": class_weight must name outputs (" +
                       listed(names) + "); got \"" + name + "\".");
  k = 0;
  for (const Output& o : outputs_) {
    if (!o.loss) continue;
    const auto named = class_weight.named().find(o.name);
    feeds.weights.push_back(
        weights_for(function, o, feeds.targets[k], given[k],
                    named != class_weight.named().end() ? named->second : class_weight.all()));
    ++k;
  }
  (void)samples_of(function, feeds.weights, feeds.samples);
  return feeds;
}

Array Trainer::weights_for(const char* function, const Output& output, const Array& target,
                           const Array& given, const ClassWeights& classes) const {
  const int64_t samples = target.dims()[0];
  const size_t ndim = output.is_temporal ? 2 : 1;
  Array result;
  if (given.defined()) {
    if (given.ndim() != ndim)
      throw ValueError(std::string(function) + ": sample_weight of " + output.name + " must have " +
                       std::to_string(ndim) + " dimensions; got " + given.shape().str() + ".");
    result = given.cast(floatx()).contiguous();
  }
  if (classes.empty()) {
    if (result.defined()) return result;
    Ints dims{samples};
    if (output.is_temporal) dims.push_back(target.dims()[1]);
    return Array::full(floatx(), dims, 1);
  }
  if (output.is_temporal || target.ndim() > 2)
    throw ValueError(std::string(function) +
                     ": class_weight must go with targets of (samples, classes); got " +
                     target.shape().str() + ".");
  const int64_t width = target.ndim() == 2 ? target.dims()[1] : 1;
  const std::vector<double> values = target.to_vector<double>();
  const Array weights = Array(DType::float64, {samples});
  for (int64_t i = 0; i < samples; ++i) {
    const double* row = values.data() + i * width;
    const auto label =
        width > 1 ? std::max_element(row, row + width) - row : static_cast<int64_t>(row[0]);
    const auto found = classes.find(label);
    if (found == classes.end())
      throw ValueError(std::string(function) +
                       ": class_weight must have all classes of the targets; got none for " +
                       std::to_string(label) + ".");
    weights.data<double>()[i] = found->second;
  }
  if (result.defined()) {
    const std::vector<double> more = result.to_vector<double>();
    for (int64_t i = 0; i < samples; ++i) weights.data<double>()[i] *= more[static_cast<size_t>(i)];
  }
  return weights.cast(floatx());
}

}  // namespace horngate::keras
