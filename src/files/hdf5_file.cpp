// The superblock and the global heap.
#include "files/hdf5_file.h"

#include <algorithm>

namespace horngate::files::hdf5 {
namespace {

constexpr char kSignature[] = "\x89HDF\r\n\x1a\n";

void check_signature(const Source& source) {
  const std::string_view signature(kSignature, 8);
  const auto begins = [&](uint64_t place) {
    return source.size() >= place + 8 && as_text(source.read(place, 8, "a signature")) == signature;
  };
  if (begins(0)) return;
  for (uint64_t place = 512; place <= 65536; place *= 2)
    if (begins(place))
      source.unsupported(0, "the file has a user block of ", place, " bytes, which is not read. ",
                         kRemedy);
  source.malformed(0, "this is no HDF5 file: it does not begin with its signature.");
}

}  // namespace

std::shared_ptr<FileState> open_file(std::shared_ptr<const Source> from) {
  check_signature(*from);
  auto file = std::make_shared<FileState>(std::move(from));
  const Source& source = *file->source;
  constexpr char kWhat[] = "the superblock";
  const auto bytes = source.read(0, std::min<uint64_t>(source.size(), 100), kWhat);
  Cursor c(source, bytes, 0, kWhat);
  c.skip(8);
  const int version = c.u8();
  if (version > 3)
    source.unsupported(8, kWhat, " has version ", version, ", which is not read. ", kRemedy);
  const bool old = version < 2;
  if (old) c.skip(4);
  const int offsets = c.u8(), lengths = c.u8();
  if (offsets != 8 || lengths != 8)
    source.unsupported(8, "addresses have ", offsets, " bytes and sizes ", lengths,
                       "; only 8 are read. ", kRemedy);
  c.skip(old ? 9 : 1);
  if (version == 1) c.skip(4);
  const uint64_t base = c.u64();
  if (base != 0) source.malformed(c.place() - 8, "addresses begin at byte ", base, "; must be 0.");
  c.skip(8);
  const uint64_t end = c.u64();
  if (end > source.size())
    source.malformed(c.place() - 8, "the file is cut off: it should have ", end, " bytes and has ",
                     source.size(), ".");
  if (old) {
    if (c.u64() != kUndefined)
      source.unsupported(c.place() - 8, "the file is one of several (it has driver information). ",
                         kRemedy);
    c.skip(8);
    file->root = c.u64();
    c.skip(24);
  } else {
    file->root = c.u64();
    const size_t summed = c.place();
    if (!sum_is(c.u32(), Bytes(bytes).first(summed)))
      source.malformed(summed, "the sum of the superblock is wrong.");
  }
  file->parts.claim(0, c.place(), kWhat);
  return file;
}

bool FileState::enter(uint64_t address, uint64_t group, std::string_view name, uint64_t place) {
  const std::pair<uint64_t, size_t> way(group, std::hash<std::string_view>()(name));
  const auto [found, first] = opened.emplace(address, way);
  if (!first && found->second != way)
    source->unsupported(place, "link ", shown(name), " leads to the object at byte ", address,
                        ", as another link does. ", kRemedy);
  return first;
}

// A collection: "GCOL", its size, then objects with a number and a size each; number 0 is free space.
FileState::Collection FileState::load_collection(uint64_t place) {
  constexpr char kWhat[] = "a collection of the global heap";
  const auto head = source->read(place, 16, kWhat);
  Cursor c(*source, head, place, kWhat);
  c.expect("GCOL");
  if (const int version = c.u8(); version != 1) c.malformed(kWhat, " has version ", version, ".");
  c.skip(3);
  const uint64_t size = c.u64();
  if (size < 16) c.malformed(kWhat, " has ", size, " bytes.");
  source->check_extent(place, size, kWhat);
  if (!claimed_.contains(place)) {
    parts.claim(place, size, kWhat);
    claimed_.insert(place);
  }
  Collection pieces;
  const uint64_t end = place + size;
  std::vector<std::byte> window;
  uint64_t window_place = 0;
  for (uint64_t at = place + 16; end - at >= 16;) {
    if (at + 16 > window_place + window.size()) {
      window = source->read(at, std::min<uint64_t>(end - at, 4096), kWhat);
      window_place = at;
    }
    Cursor object(*source, Bytes(window).subspan(at - window_place, 16), at, kWhat);
    const uint16_t index = object.u16();
    object.skip(6);
    const uint64_t length = object.u64();
    if (index == 0) break;
    if (length > end - at - 16)
      source->malformed(at, "an object of the global heap does not fit its collection.");
    pieces.push_back({index, at + 16, length});
    const uint64_t padded = (length + 7) / 8 * 8;
    if (padded >= end - at - 16) break;
    at += 16 + padded;
  }
  std::sort(pieces.begin(), pieces.end(), [](auto& a, auto& b) { return a.index < b.index; });
  for (size_t i = 1; i < pieces.size(); ++i)
    if (pieces[i].index == pieces[i - 1].index)
      source->malformed(place, kWhat, " has two objects with number ", pieces[i].index, ".");
  return pieces;
}

const FileState::Collection& FileState::collection(uint64_t place) {
  // Enough for every file of a model; one whose texts lead to and fro between many is no such file.
  constexpr size_t kMostKept = 500'000, kMostRead = 20'000'000;
  const auto found = collections_.find(place);
  if (found != collections_.end()) return found->second;
  Collection pieces = load_collection(place);
  pieces_read_ += pieces.size() + 1;
  if (pieces_read_ > kMostRead)
    source->malformed(place, "texts lead to and fro between collections of the global heap.");
  if (pieces_kept_ + pieces.size() + 1 > kMostKept) {
    collections_.clear();
    pieces_kept_ = 0;
  }
  pieces_kept_ += pieces.size() + 1;
  return collections_.emplace(place, std::move(pieces)).first->second;
}

std::string FileState::heap_text(const HeapId& id, uint64_t owner) {
  // h5py writes empty texts without a place.
  if (id.length == 0) return {};
  const Collection& pieces = collection(id.collection);
  const auto found =
      std::lower_bound(pieces.begin(), pieces.end(), id.index,
                       [](const Piece& p, uint32_t index) { return p.index < index; });
  if (found == pieces.end() || found->index != id.index)
    source->malformed(owner, "a text is object ", id.index, " of the global heap at byte ",
                      id.collection, ", which has none of that number.");
  if (id.length > found->size)
    source->malformed(owner, "a text has ", id.length, " bytes; its object in the global heap has ",
                      found->size, ".");
  constexpr size_t kMostOwners = 500'000;
  if (text_owners_.size() >= kMostOwners)
    source->malformed(owner, "the file has more than ", kMostOwners, " texts.");
  if (text_owners_.emplace(found->place, owner).first->second != owner)
    source->malformed(owner, "a text, at byte ", found->place,
                      ", belongs to another attribute too.");
  const auto bytes = source->read(found->place, id.length, "a text");
  return std::string(as_text(bytes));
}

}  // namespace horngate::files::hdf5
