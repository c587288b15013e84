// Links of groups: symbol tables (what h5py writes by default) and link messages.
#include "files/hdf5_dense.h"
#include "files/hdf5_header.h"

namespace horngate::files::hdf5 {
namespace {

class LinkReader {
 public:
  LinkReader(const Source& source, Parts& parts, size_t& budget)
      : source_(source), parts_(parts), budget_(budget) {}

  Links read(const Header& header) {
    for (const Message& m : header.messages) {
      if (m.type == MessageType::symbol_table) read_table(m);
      if (m.type == MessageType::link) read_message(m);
      if (m.type == MessageType::link_info) read_info(m);
    }
    return std::move(links_);
  }

 private:
  void add(std::string_view name, const Link& link) {
    if (name.empty() || name.find('/') != name.npos || name == ".")
      source_.malformed(link.place, "a link must have a name without \"/\"; got ", shown(name),
                        ".");
    if (budget_ == 0)
      source_.malformed(link.place, "the file has more than ", kMostLinks, " links.");
    --budget_;
    if (!links_.emplace(name, link).second)
      source_.malformed(link.place, "two links of a group have the name ", shown(name), ".");
  }

  // A B-tree of tables of entries, whose names are in a heap.
  void read_table(const Message& message) {
    Cursor c(source_, message.data, message.place, "a symbol table message");
    const uint64_t tree = c.u64();
    read_heap(c.u64());
    struct Node {
      uint64_t place;
      int level;  // -1: that of the root, which only it knows
    };
    std::vector<Node> pending = {{tree, -1}};
    while (!pending.empty()) {
      const Node node = pending.back();
      pending.pop_back();
      constexpr char kWhat[] = "a node of a group's B-tree";
      const auto head = source_.read(node.place, 24, kWhat);
      Cursor h(source_, head, node.place, kWhat);
      h.expect("TREE");
      const uint8_t type = h.u8(), level = h.u8();
      const uint16_t used = h.u16();
      if (type != 0)
        source_.malformed(node.place, kWhat, " is of type ", int{type}, "; groups have 0.");
      if (node.level >= 0 && level != node.level)
        source_.malformed(node.place, kWhat, " is of level ", int{level}, "; must be ", node.level,
                          ".");
      const uint64_t size = 24 + 8 + 16ull * used;
      parts_.claim(node.place, size, kWhat);
      const auto body = source_.read(node.place, size, kWhat);
      Cursor b(source_, body, node.place, kWhat);
      b.skip(24);
      std::vector<uint64_t> children(used);
      for (uint64_t& child : children) {
        b.skip(8);  // a key: names are compared themselves
        child = b.u64();
      }
      if (level == 0)
        for (const uint64_t child : children) read_entries(child);
      else
        for (size_t i = children.size(); i-- > 0;) pending.push_back({children[i], level - 1});
    }
  }

  void read_heap(uint64_t place) {
    parts_.claim(place, 32, "a local heap");
    const auto head = source_.read(place, 32, "a local heap");
    Cursor c(source_, head, place, "a local heap");
    c.expect("HEAP");
    if (const int version = c.u8(); version != 0)
      c.malformed("a local heap has version ", version, ".");
    c.skip(3);
    const uint64_t size = c.u64();
    c.skip(8);  // free space
    heap_place_ = c.u64();
    parts_.claim(heap_place_, size, "the data of a local heap");
    heap_ = source_.read(heap_place_, size, "the data of a local heap");
    names_left_ = size;
  }

  void read_entries(uint64_t place) {
    constexpr char kWhat[] = "a symbol table node";
    const auto head = source_.read(place, 8, kWhat);
    Cursor h(source_, head, place, kWhat);
    h.expect("SNOD");
    if (const int version = h.u8(); version != 1) h.malformed(kWhat, " has version ", version, ".");
    h.skip(1);
    const uint64_t size = 8 + 40ull * h.u16();
    parts_.claim(place, size, kWhat);
    const auto body = source_.read(place, size, kWhat);
    Cursor c(source_, body, place, kWhat);
    c.skip(8);
    while (c.left() > 0) {
      Link link{.place = c.place()};
      const uint64_t name = c.u64();
      link.address = c.u64();
      const uint32_t cached = c.u32();
      c.skip(20);
      if (cached == 2) link.kind = Link::Kind::soft;
      if (cached > 2)
        source_.malformed(link.place, "an entry of a symbol table is of type ", cached, ".");
      add(name_at(name, link.place), link);
    }
  }

  std::string_view name_at(uint64_t offset, uint64_t place) {
    if (offset >= heap_.size())
      source_.malformed(place, "a name is at byte ", offset, " of a heap of ", heap_.size(),
                        " bytes.");
    Cursor c(source_, Bytes(heap_).subspan(offset), heap_place_ + offset, "a local heap");
    const std::string_view name = c.text();
    // Names of their own fit into the heap together; those that overlap could take any memory.
    if (name.size() + 1 > names_left_)
      source_.malformed(place, "names of links share bytes of the heap.");
    names_left_ -= name.size() + 1;
    return name;
  }

  void read_message(const Message& message) {
    if (message.shared())
      source_.unsupported(message.place, "a link is a shared message. ", kRemedy);
    Cursor c(source_, message.data, message.place, "a link");
    if (const int version = c.u8(); version != 1) c.malformed("a link has version ", version, ".");
    const uint8_t flags = c.u8();
    const uint8_t type = flags & 8 ? c.u8() : 0;
    if (flags & 4) c.skip(8);   // order of creation
    if (flags & 16) c.skip(1);  // character set
    const uint64_t length = c.uint(size_t{1} << (flags & 3));
    const std::string_view name = as_text(c.bytes(length));
    Link link{.place = message.place};
    if (name.find('\0') != name.npos) c.malformed("the name of a link has a zero byte.");
    if (type == 0)
      link.address = c.u64();
    else
      link.kind = type == 1    ? Link::Kind::soft
                  : type == 64 ? Link::Kind::external
                               : Link::Kind::other;
    add(name, link);
  }

  void read_info(const Message& message) {
    Cursor c(source_, message.data, message.place, "a link info message");
    if (const int version = c.u8(); version != 0)
      c.malformed("a link info message has version ", version, ".");
    const uint8_t flags = c.u8();
    if (flags & 1) c.skip(8);
    const uint64_t heap = c.u64(), index = c.u64();
    if (heap != kUndefined)
      read_dense_links(source_, heap, index, parts_,
                       [&](const Message& link) { read_message(link); });
  }

  const Source& source_;
  Parts& parts_;
  size_t& budget_;
  Links links_;
  std::vector<std::byte> heap_;
  uint64_t heap_place_ = 0;
  uint64_t names_left_ = 0;
};

}  // namespace

Links read_links(const Source& source, const Header& header, Parts& parts, size_t& budget) {
  return LinkReader(source, parts, budget).read(header);
}

}  // namespace horngate::files::hdf5
