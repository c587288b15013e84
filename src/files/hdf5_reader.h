// HDF5: reads the files that h5py makes of models. Example:
//   const hdf5::Group root = hdf5::open("net.h5");
//   const std::string config = root.attribute("model_config").text();
//   const hdf5::Dataset kernel = root.group("model_weights/dense_1").dataset("dense_1/kernel:0");
//   kernel.read(std::as_writable_bytes(std::span(values)));
// What models never have (chunks, filters, links to elsewhere) is refused by name. Objects of one file
// share what was read, so they belong to one thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "files/hdf5_header.h"

namespace horngate::files::hdf5 {

struct FileState;
using FilePtr = std::shared_ptr<FileState>;

/// Elements with a type and a shape: an attribute or a data set.
class Values {
 public:
  const Type& type() const { return type_; }
  const Space& space() const { return space_; }
  /// What read() gives, in bytes; numbers only.
  [[nodiscard]] uint64_t nbytes() const;
  /// Copies all elements, in the machine's byte order, to memory of nbytes() bytes; numbers only.
  void read(std::span<std::byte> into) const;
  /// All elements as texts. None at all if there are no elements, whatever their type: h5py writes empty
  /// lists as floats.
  [[nodiscard]] std::vector<std::string> texts() const;
  /// The only element, a text.
  [[nodiscard]] std::string text() const;

 protected:
  Values(FilePtr file, std::string label) : file_(std::move(file)), label_(std::move(label)) {}
  void set(const Type& type, const Space& space, uint64_t place);

  FilePtr file_;
  std::string label_;  // "attribute "backend" of /", for errors
  Type type_;
  Space space_;
  uint64_t bytes_ = 0;  // in the file
  uint64_t place_ = 0;  // where the description is
  uint64_t data_ =
      kUndefined;  // address of elements in the file; kUndefined: in held_, or all are fill_
  std::vector<std::byte> held_, fill_;

 private:
  [[nodiscard]] std::vector<std::byte> raw() const;
};

class Attribute : public Values {
 public:
  const std::string& name() const { return name_; }

 private:
  friend class Object;
  Attribute(FilePtr file, std::string label, std::string name, Cursor cursor, uint8_t version);
  std::string name_;
};

class Group;

/// A group or a data set.
class Object {
 public:
  /// "/" or "/model_weights/dense_1"
  const std::string& path() const { return path_; }
  [[nodiscard]] std::vector<std::string> attribute_names() const;
  [[nodiscard]] bool has_attribute(std::string_view name) const { return find(name) != nullptr; }
  /// An error if there is none of that name.
  [[nodiscard]] Attribute attribute(std::string_view name) const;

 protected:
  friend class Group;
  friend Group open_root(FilePtr file);
  /// `first`: the header was not read before.
  Object(FilePtr file, uint64_t address, std::string path, bool first);
  FilePtr file_;
  std::string path_;
  std::shared_ptr<const Header> header_;

 private:
  const Message* find(std::string_view name) const;
  std::string_view name_of(const Message& message) const;
  std::vector<std::pair<std::string_view, const Message*>> attributes_;  // by name
};

class Dataset : public Object, public Values {
 private:
  friend class Group;
  explicit Dataset(const Object& object);
  void read_layout(const Message& message);
  void read_fill();
};

class Group : public Object {
 public:
  [[nodiscard]] const Links& links() const { return *links_; }
  /// Whether there is a link of that name, or a path of them, whatever it leads to.
  [[nodiscard]] bool has(std::string_view path) const;
  [[nodiscard]] bool is_group(std::string_view path) const;
  /// An error if there is none.
  [[nodiscard]] Group group(std::string_view path) const;
  [[nodiscard]] Dataset dataset(std::string_view path) const;

 private:
  friend Group open_root(FilePtr file);
  explicit Group(const Object& object);
  /// What a link leads to.
  Object member(std::string_view name) const;
  Object follow(std::string_view path) const;
  Group as_group(const Object& object) const;
  std::shared_ptr<const Links> links_;
};

[[nodiscard]] Group open(const std::string& path);
[[nodiscard]] Group open(std::shared_ptr<const Source> source);

/// Calls back for every group and data set, parents first, in the order of their names.
void walk(const Group& root, const std::function<void(const Group&)>& on_group,
          const std::function<void(const Dataset&)>& on_dataset);

}  // namespace horngate::files::hdf5
