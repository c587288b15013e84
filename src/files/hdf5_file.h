// HDF5: what the objects of one file share.
#pragma once

#include <unordered_map>
#include <utility>

#include "files/hdf5_header.h"

namespace horngate::files::hdf5 {

/// The text of a varying-length value: where in which collection.
struct HeapId {
  uint32_t length;
  uint64_t collection;
  uint32_t index;
};

struct FileState {
  explicit FileState(std::shared_ptr<const Source> from)
      : source(std::move(from)), parts(*source) {}

  std::shared_ptr<const Source> source;
  Parts parts;
  uint64_t root = 0;
  size_t links_left = kMostLinks;
  /// Objects that were opened, by address: the group and the hash of the link's name that led there.
  std::unordered_map<uint64_t, std::pair<uint64_t, size_t>> opened;
  std::unordered_map<uint64_t, std::shared_ptr<const Links>> links;
  std::unordered_set<uint64_t> claimed_data;  // headers of data sets whose data are claimed

  /// Notes that a link leads to an object; an error if another one does too. True the first time.
  bool enter(uint64_t address, uint64_t group, std::string_view name, uint64_t place);
  /// `owner`: where the value is described that the text belongs to; no two share one.
  [[nodiscard]] std::string heap_text(const HeapId& id, uint64_t owner);

 private:
  struct Piece {
    uint32_t index;
    uint64_t place, size;
  };
  using Collection = std::vector<Piece>;  // by index
  const Collection& collection(uint64_t place);
  [[nodiscard]] Collection load_collection(uint64_t place);
  std::unordered_map<uint64_t, Collection> collections_;  // those that were used of late
  size_t pieces_kept_ = 0, pieces_read_ = 0;
  std::unordered_set<uint64_t> claimed_;                // collections
  std::unordered_map<uint64_t, uint64_t> text_owners_;  // by where the text is
};

/// Reads and checks the superblock.
[[nodiscard]] std::shared_ptr<FileState> open_file(std::shared_ptr<const Source> source);

}  // namespace horngate::files::hdf5
