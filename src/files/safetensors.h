// Safetensors: a header in JSON, then the elements of all tensors, without gaps. Example:
//   const safetensors::Reader file("net.safetensors");
//   file.read(file.tensor("dense/kernel"), std::as_writable_bytes(std::span(values)));
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "files/bytes.h"
#include "horngate/dtype.h"
#include "horngate/small_vec.h"

namespace horngate::files::safetensors {

struct Tensor {
  std::string name;
  DType dtype = DType::float32;
  Ints dims;
  uint64_t place = 0, bytes = 0;  // in the file
};
using Metadata = std::map<std::string, std::string>;

class Reader {
 public:
  explicit Reader(const std::string& path) : Reader(Source::open(path)) {}
  explicit Reader(std::shared_ptr<const Source> source);
  /// In the order of their elements.
  const std::vector<Tensor>& tensors() const { return tensors_; }
  const Metadata& metadata() const { return metadata_; }
  [[nodiscard]] bool has(std::string_view name) const { return by_name_.contains(name); }
  /// An error if there is none of that name.
  [[nodiscard]] const Tensor& tensor(std::string_view name) const;
  /// Copies all elements to memory of tensor.bytes bytes.
  void read(const Tensor& tensor, std::span<std::byte> into) const;

 private:
  std::shared_ptr<const Source> source_;
  std::vector<Tensor> tensors_;
  std::map<std::string, size_t, std::less<>> by_name_;
  Metadata metadata_;
};

/// A tensor to write: the elements stay the caller's.
struct Input {
  std::string name;
  DType dtype = DType::float32;
  Ints dims;
  Bytes elements;
};
/// Whole or not at all.
void save(const std::string& path, std::vector<Input> tensors, const Metadata& metadata = {});

}  // namespace horngate::files::safetensors
