// Weights in files: read as they are named there, fitted to layers.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "files/hdf5_reader.h"
#include "files/hdf5_writer.h"
#include "files/safetensors.h"
#include "horngate/keras/model.h"

namespace horngate::keras {

struct SavedWeight {
  std::string name;
  Ints dims;
  std::function<Array()> read;
};

struct SavedLayer {
  std::string name;
  std::vector<SavedWeight> weights;
};

struct SavedWeights {
  std::string file, keras_version = {}, backend = {};
  std::vector<SavedLayer> layers = {};
  /// Of all weights together.
  int64_t elements() const;
};

/// A list of names, which Keras splits when it is long: "layer_names", or "layer_names0", "layer_names1", ..
std::vector<std::string> read_names(const files::hdf5::Object& object, const std::string& name);
void write_names(files::hdf5::AttributeWriter& to, const std::string& name,
                 const std::vector<std::string>& texts);

SavedWeights read_h5_weights(const std::string& file, const files::hdf5::Group& group);
SavedWeights read_safetensors_weights(const std::string& file);

/// A safetensors file of ours. Tensors are "layer|weight", because names of weights have slashes themselves; metadata say
/// which there are, in which order.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::string& path);
  /// Null if there is none of that name.
  const std::string* metadata(const std::string& name) const;
  SavedWeights weights();
  /// What metadata call `name`: a list of tensors "name|..".
  std::vector<SavedWeight> list(const std::string& name);

 private:
  SavedWeight weight(const std::string& before, const Json& name, const std::string& where);

  std::string path_;
  std::shared_ptr<const files::safetensors::Reader> reader_;
  std::set<std::string> taken_;
};

/// A data set as an array.
Array read_array(const files::hdf5::Dataset& data);

/// The layers that have weights, each with what is saved of it: by the order in the file, or by name where a file of Keras 1
/// has the layers of models one after the other. ValueError if there are more or fewer.
std::vector<std::pair<const SavedLayer*, Body*>> pairs_of(
    const SavedWeights& saved, const std::vector<std::shared_ptr<Body>>& layers);

/// Which saved array each weight of the layers gets: by the order of layers, or by their names. ValueError, with file,
/// layer and weight, if something does not fit.
using Assignments = std::vector<std::pair<Variable, std::function<Array()>>>;
Assignments match_weights(const SavedWeights& saved,
                          const std::vector<std::shared_ptr<Body>>& layers,
                          const LoadWeightsOptions& options);

}  // namespace horngate::keras
