// NumPy's .npz: a zip archive of .npy files, not compressed (numpy.savez).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "files/npy.h"

namespace horngate::files::npz {

struct Member {
  std::string name;  // without .npy
  npy::Array array;
  uint32_t sum = 0;               // CRC-32 of the whole member
  uint64_t place = 0, bytes = 0;  // the member in the file
};

class Reader {
 public:
  explicit Reader(const std::string& path) : Reader(Source::open(path)) {}
  explicit Reader(std::shared_ptr<const Source> source);
  /// In the order of the archive.
  const std::vector<Member>& members() const { return members_; }
  [[nodiscard]] bool has(std::string_view name) const { return by_name_.contains(name); }
  /// An error if there is none of that name.
  [[nodiscard]] const Member& member(std::string_view name) const;
  /// Checks the sum, then copies all elements to memory of array.bytes bytes.
  void read(const Member& member, std::span<std::byte> into) const;

 private:
  std::shared_ptr<const Source> source_;
  std::vector<Member> members_;
  std::map<std::string, size_t, std::less<>> by_name_;
};

/// An array to write: the elements stay the caller's.
struct Input {
  std::string name;
  DType dtype = DType::float32;
  Ints dims;
  Bytes elements;
};
/// Whole or not at all.
void save(const std::string& path, const std::vector<Input>& arrays);

}  // namespace horngate::files::npz
