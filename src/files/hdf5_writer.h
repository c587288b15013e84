// HDF5: writes files as h5py does by default (superblock 0, symbol tables), for h5py and Keras to read.
// Example:
//   hdf5::Writer file;
//   file.root().set_text("backend", "tensorflow");
//   file.root().group("model_weights/dense_1").set_data("dense_1/kernel:0", DType::float32, {3, 4}, bytes);
//   file.save("net.h5");
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "files/hdf5_types.h"

namespace horngate::files::hdf5 {

class GroupWriter;

/// Attributes of a group or of a data set. One takes at most 64 KB with its name; texts of varying length
/// are elsewhere and may be longer.
class AttributeWriter {
 public:
  /// One text of varying length, as h5py writes str.
  void set_text(std::string name, std::string text);
  /// Texts of one width, as NumPy has bytes: what Keras writes its lists of names as. An empty list is
  /// float64 of shape (0,), as there.
  void set_texts(std::string name, const std::vector<std::string>& texts);
  /// Copies the elements.
  void set_numbers(std::string name, DType dtype, const Ints& dims, Bytes elements);

 protected:
  friend class Layout;
  struct Attribute {
    Type type;
    Ints dims;
    std::vector<std::byte> data;  // a text of varying length: its characters
  };
  void add(std::string name, Attribute attribute);
  std::string path_ = "/";
  std::map<std::string, Attribute, std::less<>> attributes_;
};

class DatasetWriter : public AttributeWriter {
 private:
  friend class GroupWriter;
  friend class Layout;
  Type type_;
  Ints dims_;
  Bytes data_;
};

class GroupWriter : public AttributeWriter {
 public:
  /// "a/b": groups on the way are made; one that is there is what is given back.
  GroupWriter& group(std::string_view path);
  /// The elements stay the caller's and must be there until the file is saved.
  DatasetWriter& set_data(std::string_view path, DType dtype, const Ints& dims, Bytes elements);

 private:
  friend class Writer;
  friend class Layout;
  using Member = std::variant<std::unique_ptr<GroupWriter>, std::unique_ptr<DatasetWriter>>;
  std::map<std::string, Member, std::less<>> members_;
};

class Writer {
 public:
  [[nodiscard]] GroupWriter& root() { return root_; }
  /// Whole or not at all.
  void save(const std::string& path) const;

 private:
  GroupWriter root_;
};

}  // namespace horngate::files::hdf5
