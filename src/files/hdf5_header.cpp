#include "files/hdf5_header.h"

#include <algorithm>
#include <deque>

namespace horngate::files::hdf5 {
namespace {

constexpr size_t kMostParts = 500'000;

struct Block {
  uint64_t place, size;
};

// Version 1: messages of 8 bytes and more, counted. Version 2: a sum at the end of each block.
class HeaderReader {
 public:
  HeaderReader(const Source& source, uint64_t address, Parts* parts)
      : source_(source), parts_(parts) {
    header_.place = address;
  }

  Header read() {
    const auto start = source_.read(header_.place, 4, "an object header");
    if (as_text(start) == "OHDR")
      read_version_2();
    else if (start[0] == std::byte{1})
      read_version_1();
    else
      source_.malformed(header_.place,
                        "there is no object header, which begins with 1 or \"OHDR\"; got ",
                        shown(as_text(start)), ".");
    return std::move(header_);
  }

 private:
  // Takes a piece of the file; the cursor stays valid as long as the header.
  Cursor take(uint64_t place, uint64_t size, std::string_view what) {
    if (parts_) parts_->claim(place, size, what);
    taken_ += std::min(size, source_.size());
    // A header that was read before is not claimed again, but may have changed meanwhile.
    if (taken_ > source_.size())
      source_.malformed(place, "an object header has blocks that overlap.");
    header_.blocks.push_back(source_.read(place, size, what));
    return Cursor(source_, header_.blocks.back(), place, what);
  }

  void read_version_1() {
    Cursor prefix = take(header_.place, 16, "an object header");
    prefix.skip(2);
    expected_ = prefix.u16();
    prefix.skip(4);
    blocks_.push_back({header_.place + 16, prefix.u32()});
    while (!blocks_.empty()) {
      const Block block = blocks_.front();
      blocks_.pop_front();
      Cursor c = take(block.place, block.size, "a block of an object header");
      while (c.left() >= 8 && header_.messages.size() < expected_) {
        const uint16_t type = c.u16(), size = c.u16();
        const uint8_t flags = c.u8();
        c.skip(3);
        const uint64_t place = c.place();
        add(place, type, flags, c.bytes(size));
      }
    }
    if (header_.messages.size() != expected_)
      source_.malformed(header_.place, "an object header says that it has ", expected_,
                        " messages; got ", header_.messages.size(), ".");
  }

  void read_version_2() {
    constexpr size_t kMostPrefix = 34;
    const uint64_t there = source_.size() - header_.place;
    const auto start =
        source_.read(header_.place, std::min<uint64_t>(kMostPrefix, there), "an object header");
    Cursor prefix(source_, start, header_.place, "an object header");
    prefix.expect("OHDR");
    if (const int version = prefix.u8(); version != 2)
      prefix.malformed("an object header has version ", version, ".");
    const uint8_t flags = prefix.u8();
    if (flags & 0x20) prefix.skip(16);  // times
    if (flags & 0x10) prefix.skip(4);   // when attributes move elsewhere
    const uint64_t size = prefix.uint(size_t{1} << (flags & 3));
    ordered_ = flags & 4;
    const uint64_t before = prefix.place() - header_.place;
    const auto whole = checked_add(size, before + 4);
    if (!whole) prefix.malformed("an object header has ", size, " bytes.");
    Cursor c = take(header_.place, *whole, "an object header");
    c.skip(before);
    read_block_2(c);
    while (!blocks_.empty()) {
      const Block block = blocks_.front();
      blocks_.pop_front();
      Cursor more = take(block.place, block.size, "a block of an object header");
      more.expect("OCHK");
      read_block_2(more);
    }
  }

  void read_block_2(Cursor& c) {
    const std::vector<std::byte>& block = header_.blocks.back();
    if (block.size() < 4 || c.left() < 4) c.malformed("a block of an object header has no sum.");
    const Bytes summed(block.data(), block.size() - 4);
    const size_t head = ordered_ ? 6 : 4;
    while (c.left() >= head + 4) {
      const uint8_t type = c.u8();
      const uint16_t size = c.u16();
      const uint8_t flags = c.u8();
      if (ordered_) c.skip(2);
      const uint64_t place = c.place();
      if (size + 4u > c.left())
        c.malformed("a message of ", size, " bytes does not fit its block.");
      add(place, type, flags, c.bytes(size));
    }
    c.skip(c.left() - 4);  // a gap, too small for a message
    const uint64_t place = c.place();
    if (!sum_is(c.u32(), summed)) source_.malformed(place, "the sum of an object header is wrong.");
  }

  void add(uint64_t place, uint16_t type, uint8_t flags, Bytes data) {
    const Message message{static_cast<MessageType>(type), flags, place, data};
    header_.messages.push_back(message);
    if (header_.messages.size() > 65535)
      source_.malformed(place, "an object header has more than 65535 messages.");
    if (message.type == MessageType::continuation) {
      Cursor c(source_, data, place, "a continuation of an object header");
      const uint64_t at = c.u64();
      blocks_.push_back({at, c.u64()});
    } else if (type > 0x18 && (flags & 0x80) != 0) {
      source_.unsupported(place, "an object header has a message of type ", type,
                          ", which readers must understand. ", kRemedy);
    }
  }

  const Source& source_;
  Parts* parts_;
  Header header_;
  std::deque<Block> blocks_;
  uint64_t taken_ = 0;
  size_t expected_ = 0;
  bool ordered_ = false;
};

}  // namespace

void Parts::claim(uint64_t place, uint64_t size, std::string_view what) {
  source_.check_extent(place, size, what);
  if (size == 0) return;
  auto next = ends_.upper_bound(place);
  uint64_t other = kUndefined;
  if (next != ends_.begin() && std::prev(next)->second > place) other = std::prev(next)->first;
  if (next != ends_.end() && next->first < place + size) other = next->first;
  if (other == place)
    source_.malformed(place, what,
                      " was read before: addresses form a loop, or two objects share it.");
  if (other != kUndefined)
    source_.malformed(place, what, " overlaps what begins at byte ", other, ".");
  if (ends_.size() >= kMostParts)
    source_.malformed(place, "the file has more than ", kMostParts, " parts.");
  ends_.emplace_hint(next, place, place + size);
}

const Message* Header::find(MessageType type) const {
  for (const Message& m : messages)
    if (m.type == type) return &m;
  return nullptr;
}

Header read_header(const Source& source, uint64_t address, Parts* parts) {
  return HeaderReader(source, address, parts).read();
}

}  // namespace horngate::files::hdf5
