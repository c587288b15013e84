// HDF5: the parts of a file, object headers and their messages, links of groups.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "files/hdf5_types.h"

namespace horngate::files::hdf5 {

/// Which bytes belong to what. In a file that is in order no two parts overlap, so whoever follows
/// addresses sees each byte once: loops of addresses, and small files that unfold to large ones, end here.
class Parts {
 public:
  explicit Parts(const Source& source) : source_(source) {}
  /// An error if the part does not lie in the file or if another has some of its bytes.
  void claim(uint64_t place, uint64_t size, std::string_view what);

 private:
  const Source& source_;
  std::map<uint64_t, uint64_t> ends_;  // by where a part begins
};

enum class MessageType : uint16_t {
  nil = 0x00,
  space = 0x01,
  link_info = 0x02,
  type = 0x03,
  old_fill_value = 0x04,
  fill_value = 0x05,
  link = 0x06,
  external_files = 0x07,
  layout = 0x08,
  filters = 0x0B,
  attribute = 0x0C,
  continuation = 0x10,
  symbol_table = 0x11,
  attribute_info = 0x15,
};

struct Message {
  MessageType type;
  uint8_t flags;
  uint64_t place;  // of the data
  Bytes data;
  bool shared() const { return (flags & 2) != 0; }
};

/// All that a file says about one object.
struct Header {
  uint64_t place = 0;
  std::vector<std::vector<std::byte>> blocks;  // what messages point into
  std::vector<Message> messages;
  const Message* find(MessageType type) const;
};

/// `parts` is null for a header that was read before.
[[nodiscard]] Header read_header(const Source& source, uint64_t address, Parts* parts);

struct Link {
  enum class Kind : uint8_t { hard, soft, external, other };
  Kind kind = Kind::hard;
  uint64_t address = kUndefined;  // of a hard link's object header
  uint64_t place = 0;             // where the file says so
};
using Links = std::map<std::string, Link, std::less<>>;

/// The most links in a file: memory that a file may ask for, not only what it holds, has an end.
inline constexpr size_t kMostLinks = 200'000;

/// `budget`: how many links the file may still have.
[[nodiscard]] Links read_links(const Source& source, const Header& header, Parts& parts,
                               size_t& budget);

}  // namespace horngate::files::hdf5
