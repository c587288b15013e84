#include "files/npz.h"

#include <algorithm>
#include <array>
#include <set>

#include "files/atomic_file.h"
#include "files/encoder.h"

namespace horngate::files::npz {
namespace {

constexpr uint32_t kWide = 0xFFFFFFFF;  // the number is in the zip64 field
constexpr size_t kMostMembers = 100'000;
constexpr char kLocal[] = "PK\3\4", kCentral[] = "PK\1\2", kEnd[] = "PK\5\6", kEnd64[] = "PK\6\6",
               kLocator[] = "PK\6\7";

constexpr std::array<uint32_t, 256> make_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = value & 1 ? 0xEDB88320 ^ value >> 1 : value >> 1;
    table[i] = value;
  }
  return table;
}
constexpr std::array<uint32_t, 256> kTable = make_table();

// CRC-32, the one of zip; begins with 0 and takes what it gave.
uint32_t crc32(uint32_t sum, Bytes bytes) {
  sum = ~sum;
  for (const std::byte b : bytes) sum = kTable[(sum ^ static_cast<uint32_t>(b)) & 0xFF] ^ sum >> 8;
  return ~sum;
}

struct Directory {
  uint64_t place, size, count;
};

// The end of the archive says where its directory is. Archives with a comment are not NumPy's.
Directory read_end(const Source& source) {
  constexpr char kWhat[] = "the end of a zip archive";
  if (source.size() < 22)
    source.malformed(0, "this is no .npz file: it has ", source.size(), " bytes.");
  const uint64_t place = source.size() - 22;
  const auto bytes = source.read(place, 22, kWhat);
  Cursor c(source, bytes, place, kWhat);
  c.expect(std::string_view(kEnd, 4));
  if (c.u32() != 0) c.malformed("the archive is one of several.");
  c.skip(2);
  Directory directory{};
  directory.count = c.u16();
  directory.size = c.u32();
  directory.place = c.u32();
  const bool wide =
      directory.count == 0xFFFF || directory.size == kWide || directory.place == kWide;
  if (!wide || place < 20) return directory;
  const auto locator = source.read(place - 20, 20, kWhat);
  Cursor l(source, locator, place - 20, kWhat);
  l.expect(std::string_view(kLocator, 4));
  l.skip(4);
  const uint64_t where = l.u64();
  const auto end = source.read(where, 56, kWhat);
  Cursor e(source, end, where, kWhat);
  e.expect(std::string_view(kEnd64, 4));
  e.skip(28);
  directory.count = e.u64();
  directory.size = e.u64();
  directory.place = e.u64();
  return directory;
}

// Sizes that do not fit 32 bits are in a field of type 1, in this order, each only if it is needed.
void read_wide(Cursor extra, uint64_t& size, uint64_t& packed, uint64_t& header) {
  while (extra.left() >= 4) {
    const uint16_t type = extra.u16();
    Cursor field = extra.part(extra.u16(), "a field of a zip archive");
    if (type != 1) continue;
    for (uint64_t* value : {&size, &packed, &header})
      if (*value == kWide) *value = field.u64();
  }
}

}  // namespace

Reader::Reader(std::shared_ptr<const Source> from) : source_(std::move(from)) {
  const Source& source = *source_;
  constexpr char kWhat[] = "the directory of a zip archive";
  const Directory directory = read_end(source);
  if (directory.count > kMostMembers)
    source.malformed(directory.place, "the archive has ", directory.count, " members; ",
                     kMostMembers, " are the most.");
  const auto bytes = source.read(directory.place, directory.size, kWhat);
  Cursor c(source, bytes, directory.place, kWhat);
  std::vector<std::pair<uint64_t, uint64_t>> extents;
  for (uint64_t i = 0; i < directory.count; ++i) {
    const uint64_t entry = c.place();
    c.expect(std::string_view(kCentral, 4));
    c.skip(4);
    const uint16_t flags = c.u16(), method = c.u16();
    c.skip(4);
    Member member;
    member.sum = c.u32();
    uint64_t packed = c.u32(), size = c.u32();
    const uint16_t name_size = c.u16(), extra_size = c.u16(), comment_size = c.u16();
    c.skip(8);
    uint64_t header = c.u32();
    const std::string name(as_text(c.bytes(name_size)));
    read_wide(c.part(extra_size, kWhat), size, packed, header);
    c.skip(comment_size);
    if (flags & 1)
      source.unsupported(entry, "member ", shown(name), " is encrypted, which is not read.");
    if (method != 0)
      source.unsupported(
          entry, "member ", shown(name), " is compressed (method ", method,
          "), which is not read. Write it with numpy.savez instead of savez_compressed.");
    if (packed != size)
      source.malformed(entry, "member ", shown(name), " has two sizes, ", packed, " and ", size,
                       ".");
    if (!name.ends_with(".npy"))
      source.unsupported(entry, "member ", shown(name), " is no .npy file.");
    const auto local = source.read(header, 30, "the header of a member");
    Cursor l(source, local, header, "the header of a member");
    l.expect(std::string_view(kLocal, 4));
    l.skip(22);
    const uint64_t more = uint64_t{l.u16()} + l.u16();
    member.place = header + 30 + more;
    member.bytes = size;
    member.name = name.substr(0, name.size() - 4);
    source.check_extent(member.place, size, "a member");
    extents.emplace_back(header, member.place + size);
    if (!by_name_.emplace(member.name, members_.size()).second)
      source.malformed(entry, "two members have the name ", shown(name), ".");
    members_.push_back(std::move(member));
  }
  // Members over the same bytes would take more time and memory than the file has bytes.
  std::sort(extents.begin(), extents.end());
  for (size_t i = 1; i < extents.size(); ++i)
    if (extents[i].first < extents[i - 1].second)
      source.malformed(extents[i].first, "members of the archive overlap.");
  for (Member& member : members_)
    member.array = npy::read_header(source, member.place, member.bytes);
}

const Member& Reader::member(std::string_view name) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end())
    throw ValueError(join(source_->name(), ": there is no array ", shown(name), "."));
  return members_[found->second];
}

void Reader::read(const Member& member, std::span<std::byte> into) const {
  uint32_t sum = 0;
  std::vector<std::byte> piece;
  for (uint64_t at = 0; at < member.bytes; at += piece.size()) {
    piece = source_->read(member.place + at, std::min<uint64_t>(member.bytes - at, 1 << 18),
                          "a member");
    sum = crc32(sum, piece);
  }
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  if (sum != member.sum)
    source_->malformed(member.place, "the sum of member ", shown(member.name), " is wrong.");
#endif
  npy::read(*source_, member.array, into);
}

void save(const std::string& path, const std::vector<Input>& arrays) {
  std::set<std::string_view> names;
  for (const Input& array : arrays) {
    const auto bytes = checked_bytes(array.dims, size_of(array.dtype));
    if (!bytes || *bytes != array.elements.size() || array.dims.size() > 64)
      throw ValueError(join(path, ": array ", shown(array.name),
                            ": shape and elements must agree; got ", array.elements.size(),
                            " bytes."));
    if (!is_utf8(array.name) || array.name.size() > 60'000 || !names.insert(array.name).second)
      throw ValueError(join(path, ": arrays must have different names of UTF-8 text; got ",
                            shown(array.name), "."));
  }
  AtomicFile file(path);
  Encoder directory;
  for (const Input& array : arrays) {
    const std::string header = npy::header_of(array.dtype, array.dims), name = array.name + ".npy";
    const uint64_t size = header.size() + array.elements.size(), place = file.size();
    const uint32_t sum = crc32(crc32(0, as_bytes(header)), array.elements);
    // 1 January 1980, so that equal arrays make equal files; UTF-8 names; version 4.5 has 64-bit sizes.
    const auto common = [&](Encoder& out, bool wide) {
      out.u16(45).u16(0x800).u16(0).u16(0).u16(0x21).u32(sum);
      out.u32(wide ? kWide : size).u32(wide ? kWide : size).u16(name.size());
    };
    Encoder local;
    local.text(std::string_view(kLocal, 4));
    common(local, true);
    local.u16(20).text(name).u16(1).u16(16).u64(size).u64(size);
    file.write(local.out());
    file.write(as_bytes(header));
    file.write(array.elements);
    directory.text(std::string_view(kCentral, 4)).u16(45);
    common(directory, true);
    directory.u16(28).u16(0).u16(0).u16(0).u32(0).u32(kWide).text(name);
    directory.u16(1).u16(24).u64(size).u64(size).u64(place);
  }
  const uint64_t place = file.size(), size = directory.size();
  Encoder end;
  // NumPy knows an empty archive by its first bytes, which must be those of the plain end.
  if (arrays.size() >= 0xFFFF || size >= kWide || place >= kWide) {
    end.text(std::string_view(kEnd64, 4)).u64(44).u16(45).u16(45).u32(0).u32(0);
    end.u64(arrays.size()).u64(arrays.size()).u64(size).u64(place);
    end.text(std::string_view(kLocator, 4)).u32(0).u64(place + size).u32(1);
  }
  const uint64_t count = std::min<uint64_t>(arrays.size(), 0xFFFF);
  end.text(std::string_view(kEnd, 4)).u32(0).u16(count).u16(count);
  end.u32(std::min<uint64_t>(size, kWide)).u32(std::min<uint64_t>(place, kWide)).u16(0);
  file.write(directory.out());
  file.write(end.out());
  file.finish();
}

}  // namespace horngate::files::npz
