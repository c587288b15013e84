// Reads all that there is in a file of any kind that we know: what fuzzers and hostile files run.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "files/hdf5_reader.h"
#include "files/json.h"
#include "files/npz.h"
#include "files/safetensors.h"

namespace horngate::files {

inline void read_values(const hdf5::Values& values) {
  if (values.type().kind == hdf5::Kind::number) {
    std::vector<std::byte> data(values.nbytes());
    values.read(data);
  } else {
    (void)values.texts();
  }
}

inline void read_attributes(const hdf5::Object& object) {
  for (const std::string& name : object.attribute_names()) read_values(object.attribute(name));
}

/// The kind is that of the first bytes.
inline void read_all(const std::string& name, Bytes bytes) {
  const std::string_view text = as_text(bytes);
  const auto source = Source::memory(name, bytes);
  if (text.starts_with('\x89')) {
    hdf5::walk(hdf5::open(source), read_attributes, [](const hdf5::Dataset& data) {
      read_attributes(data);
      read_values(data);
    });
  } else if (text.starts_with('{') || text.starts_with('[') || text.starts_with('"')) {
    const std::string written = write_json(read_json(text, name));
    // What is written reads as the same.
    if (write_json(read_json(written, name)) != written)
      throw std::logic_error("JSON changes when it is written: " + written);
  } else if (text.starts_with('\x93')) {
    const npy::Array array = npy::read_header(*source, 0, source->size());
    std::vector<std::byte> data(array.bytes);
    npy::read(*source, array, data);
  } else if (text.starts_with("PK")) {
    const npz::Reader file(source);
    for (const npz::Member& member : file.members()) {
      std::vector<std::byte> data(member.array.bytes);
      file.read(member, data);
    }
  } else {
    const safetensors::Reader file(source);
    for (const safetensors::Tensor& tensor : file.tensors()) {
      std::vector<std::byte> data(tensor.bytes);
      file.read(tensor, data);
    }
  }
}

}  // namespace horngate::files
