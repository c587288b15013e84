#include "keras/saved_weights.h"

#include <algorithm>

#include "keras/convert_weights.h"

namespace horngate::keras {

using namespace files;

int64_t SavedWeights::elements() const {
  int64_t sum = 0;
  for (const SavedLayer& layer : layers)
    for (const SavedWeight& w : layer.weights)
      if (__builtin_add_overflow(sum, checked_product(w.dims), &sum))
        throw ValueError(file + ": has more than 2^63 numbers.");
  return sum;
}

std::vector<std::string> read_names(const hdf5::Object& object, const std::string& name) {
  if (object.has_attribute(name)) return object.attribute(name).texts();
  std::vector<std::string> all;
  for (int i = 0; object.has_attribute(name + std::to_string(i)); ++i)
    for (std::string& text : object.attribute(name + std::to_string(i)).texts())
      all.push_back(std::move(text));
  return all;
}

// Parts as equal as can be, as few as fit: what Keras does.
void write_names(hdf5::AttributeWriter& to, const std::string& name,
                 const std::vector<std::string>& texts) {
  constexpr size_t kLimit = 64'512;
  const size_t n = texts.size();
  const auto part = [&](size_t i, size_t parts) {
    const size_t small = n / parts, large = n % parts;
    const size_t begin = i * small + std::min(i, large), end = begin + small + (i < large);
    return std::vector<std::string>(texts.begin() + static_cast<ptrdiff_t>(begin),
                                    texts.begin() + static_cast<ptrdiff_t>(end));
  };
  const auto bytes = [](const std::vector<std::string>& list) {
    size_t width = 0;
    for (const std::string& text : list) width = std::max(width, text.size());
    return width * list.size();
  };
  size_t parts = 1;
  for (bool fits = false; !fits; parts += !fits) {
    fits = true;
    for (size_t i = 0; i < parts && fits; ++i) fits = bytes(part(i, parts)) <= kLimit;
    if (!fits && parts > n)
      throw ValueError("save: a name must have at most " + std::to_string(kLimit) + " bytes.");
  }
  if (parts == 1) {
    to.set_texts(name, texts);
    return;
  }
  for (size_t i = 0; i < parts; ++i) to.set_texts(name + std::to_string(i), part(i, parts));
}

Array read_array(const hdf5::Dataset& data) {
  Array a(data.type().dtype, data.space().dims);
  data.read({static_cast<std::byte*>(a.raw()), a.nbytes()});
  return a;
}

SavedWeights read_h5_weights(const std::string& file, const hdf5::Group& group) {
  SavedWeights saved{.file = file};
  // Keras 1 wrote neither.
  saved.keras_version =
      group.has_attribute("keras_version") ? group.attribute("keras_version").text() : "1";
  if (group.has_attribute("backend")) saved.backend = group.attribute("backend").text();
  for (const std::string& name : read_names(group, "layer_names")) {
    const hdf5::Group layer = group.group(name);
    SavedLayer& to = saved.layers.emplace_back(SavedLayer{name, {}});
    for (const std::string& weight : read_names(layer, "weight_names")) {
      const hdf5::Dataset data = layer.dataset(weight);
      to.weights.push_back({weight, data.space().dims, [data] { return read_array(data); }});
    }
  }
  return saved;
}

SafetensorsFile::SafetensorsFile(const std::string& path)
    : path_(path), reader_(std::make_shared<const safetensors::Reader>(path)) {}

const std::string* SafetensorsFile::metadata(const std::string& name) const {
  const auto found = reader_->metadata().find(name);
  return found == reader_->metadata().end() ? nullptr : &found->second;
}

SavedWeight SafetensorsFile::weight(const std::string& before, const Json& name,
                                    const std::string& where) {
  const std::string& text = name.as_string(where);
  const safetensors::Tensor& tensor = reader_->tensor(before + "|" + text);
  // Otherwise a small file could ask for much memory.
  if (!taken_.insert(tensor.name).second)
    throw ValueError(where + " must have each tensor once; got " + files::shown(tensor.name) +
                     " twice.");
  return {text, tensor.dims, [reader = reader_, &tensor] {
            Array a(tensor.dtype, tensor.dims);
            reader->read(tensor, {static_cast<std::byte*>(a.raw()), a.nbytes()});
            return a;
          }};
}

SavedWeights SafetensorsFile::weights() {
  const auto text = [&](const char* name, const char* standard) {
    const std::string* found = metadata(name);
    return found ? *found : standard;
  };
  SavedWeights saved{.file = path_,
                     .keras_version = text("keras_version", "2.3.1"),
                     .backend = text("backend", "tensorflow")};
  const std::string* layers = metadata("layers");
  if (!layers)
    throw ValueError(
        path_ + ": has no metadata \"layers\", so it was not written by save or save_weights.");
  const std::string where = path_ + ": layers";
  const Json order = Json::parse(*layers, where);
  for (const Json& entry : order.as_list(where)) {
    SavedLayer& layer = saved.layers.emplace_back();
    layer.name = entry.at("name", where).as_string(where + ": name");
    for (const Json& name : entry.at("weights", where).as_list(where + ": weights"))
      layer.weights.push_back(weight(layer.name, name, where + ": weights"));
  }
  return saved;
}

std::vector<SavedWeight> SafetensorsFile::list(const std::string& name) {
  const std::string where = path_ + ": " + name;
  const std::string* text = metadata(name);
  if (!text) throw ValueError(where + " is not among the metadata.");
  std::vector<SavedWeight> result;
  const Json names = Json::parse(*text, where);
  for (const Json& entry : names.as_list(where)) result.push_back(weight(name, entry, where));
  return result;
}

SavedWeights read_safetensors_weights(const std::string& file) {
  return SafetensorsFile(file).weights();
}

namespace {

/// "dense_1/kernel:0" -> "kernel"
std::string short_name(const std::string& name) {
  const size_t slash = name.rfind('/');
  const std::string last = slash == std::string::npos ? name : name.substr(slash + 1);
  return last.substr(0, last.find(':'));
}

/// The saved weights of a model that is inside of another are in an order that depends on what was trainable when it
/// was saved: names decide where they are the same, the order where they are not.
std::vector<SavedWeight> arranged(const std::vector<SavedWeight>& saved,
                                  const std::vector<Weight>& wanted) {
  const auto bare = [](const std::string& name) { return name.substr(0, name.rfind(':')); };
  std::vector<SavedWeight> result;
  for (const Weight& w : wanted) {
    const auto found = std::find_if(saved.begin(), saved.end(),
                                    [&](const SavedWeight& s) { return bare(s.name) == w.name; });
    if (found == saved.end()) return saved;
    result.push_back(*found);
  }
  return result;
}

class Matcher {
 public:
  Matcher(const SavedWeights& saved, const LoadWeightsOptions& options)
      : saved_(saved), options_(options) {}

  void add(const SavedLayer& from, Body& layer) {
    const std::vector<Weight> wanted = layer.weights();
    std::vector<SavedWeight> given =
        converted(layer, from.weights, saved_.keras_version, saved_.backend);
    const std::string place = saved_.file + ": layer " + from.name;
    if (given.size() != wanted.size()) {
      if (options_.skip_mismatch) return;
      throw ValueError(place + ": has " + std::to_string(given.size()) + " weights; layer " +
                       layer.name() + " needs " + std::to_string(wanted.size()) + ".");
    }
    given = arranged(given, wanted);
    Assignments mine;
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (Shape(given[i].dims) != wanted[i].variable.shape()) {
        if (options_.skip_mismatch) return;
        throw ValueError(place + ": " + given[i].name + " has the shape " +
                         Shape(given[i].dims).str() + "; " + short_name(wanted[i].name) +
                         " of layer " + layer.name() + " needs " +
                         wanted[i].variable.shape().str() + ".");
      }
      mine.emplace_back(wanted[i].variable, given[i].read);
    }
    result_.insert(result_.end(), mine.begin(), mine.end());
  }
  Assignments take() { return std::move(result_); }

 private:
  const SavedWeights& saved_;
  const LoadWeightsOptions& options_;
  Assignments result_;
};

}  // namespace

std::vector<std::pair<const SavedLayer*, Body*>> pairs_of(
    const SavedWeights& saved, const std::vector<std::shared_ptr<Body>>& layers) {
  std::vector<const SavedLayer*> with;
  for (const SavedLayer& layer : saved.layers)
    if (!layer.weights.empty()) with.push_back(&layer);
  std::vector<std::pair<const SavedLayer*, Body*>> pairs;
  for (const auto& layer : layers)
    if (!layer->weights().empty()) pairs.emplace_back(nullptr, layer.get());
  if (with.size() != pairs.size())
    throw ValueError(saved.file + ": has " + std::to_string(with.size()) +
                     " layers with weights; the model has " + std::to_string(pairs.size()) + ".");
  const auto named = [&](const Body& layer) -> const SavedLayer* {
    for (const SavedLayer* from : with)
      if (from->name == layer.name()) return from;
    return nullptr;
  };
  const bool by_name =
      saved.keras_version.starts_with("1") &&
      std::ranges::all_of(pairs, [&](const auto& pair) { return named(*pair.second); });
  for (size_t i = 0; i < pairs.size(); ++i)
    pairs[i].first = by_name ? named(*pairs[i].second) : with[i];
  return pairs;
}

Assignments match_weights(const SavedWeights& saved,
                          const std::vector<std::shared_ptr<Body>>& layers,
                          const LoadWeightsOptions& options) {
  Matcher matcher(saved, options);
  if (options.by_name) {
    for (const SavedLayer& from : saved.layers)
      for (const auto& layer : layers)
        if (layer->name() == from.name && !(from.weights.empty() && layer->weights().empty()))
          matcher.add(from, *layer);
    return matcher.take();
  }
  for (const auto& [from, layer] : pairs_of(saved, layers)) matcher.add(*from, *layer);
  return matcher.take();
}

}  // namespace horngate::keras
