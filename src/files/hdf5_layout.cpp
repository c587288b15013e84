#include "files/hdf5_layout.h"

#include <algorithm>

#include "files/hdf5_encode.h"

namespace horngate::files::hdf5 {
namespace {

// What the superblock says: entries of a symbol table node and children of a B-tree node, halved.
constexpr size_t kLeafK = 4, kInternalK = 16;
constexpr size_t kEntries = 2 * kLeafK, kChildren = 2 * kInternalK;
constexpr size_t kNodeSize = 24 + 8 * (2 * kChildren + 1), kTableSize = 8 + 40 * kEntries;
constexpr uint64_t kCollection = 4096;

}  // namespace

/// Where everything goes. Addresses are given out first, in the order of the file, then bytes are made.
class Layout {
 public:
  explicit Layout(const GroupWriter& root) { collect(root); }

  void write(AtomicFile& file) {
    place_all();
    put(0, superblock());
    for (const Texts& collection : collections_)
      put(collection.place, encode_collection(collection));
    for (const Node& node : nodes_) node.group ? put_group(node) : put_dataset(node);
    std::sort(pieces_.begin(), pieces_.end(), [](auto& a, auto& b) { return a.place < b.place; });
    for (const Piece& piece : pieces_) {
      file.fill_to(piece.place);
      file.write(piece.owned.empty() ? piece.borrowed : Bytes(piece.owned));
    }
    file.fill_to(end_);
  }

 private:
  struct Node {
    const GroupWriter* group;  // or
    const DatasetWriter* data;
    std::vector<std::pair<std::string_view, size_t>> members;  // names and numbers of nodes
    uint64_t header = 0, heap = 0, tree = 0, tables = 0, elements = 0;
  };
  struct Texts {  // a collection of the global heap
    uint64_t place = 0, size = 16;
    std::vector<Bytes> texts;
  };
  struct Piece {
    uint64_t place;
    std::vector<std::byte> owned;
    Bytes borrowed;
  };
  using Reference = std::pair<size_t, size_t>;  // which text of which collection

  const AttributeWriter& attributes_of(const Node& node) const {
    return node.group ? static_cast<const AttributeWriter&>(*node.group) : *node.data;
  }

  void collect(const GroupWriter& root) {
    nodes_.push_back({&root, nullptr, {}});
    for (size_t i = 0; i < nodes_.size(); ++i) {
      collect_texts(attributes_of(nodes_[i]));
      if (!nodes_[i].group) continue;
      for (const auto& [name, member] : nodes_[i].group->members_) {
        const auto* const group = std::get_if<std::unique_ptr<GroupWriter>>(&member);
        const auto* const data = std::get_if<std::unique_ptr<DatasetWriter>>(&member);
        nodes_[i].members.emplace_back(name, nodes_.size());
        nodes_.push_back({group ? group->get() : nullptr, data ? data->get() : nullptr, {}});
      }
    }
  }

  void collect_texts(const AttributeWriter& attributes) {
    for (const auto& [name, attribute] : attributes.attributes_) {
      if (attribute.type.kind != Kind::varying_text || attribute.data.empty()) continue;
      const uint64_t size = 16 + padded(attribute.data.size());
      if (collections_.empty() || collections_.back().size + size > kCollection)
        collections_.emplace_back();
      Texts& collection = collections_.back();
      collection.texts.push_back(attribute.data);
      collection.size += size;
      references_[&attribute] = {collections_.size() - 1, collection.texts.size()};
    }
  }

  uint64_t reserve(uint64_t size) {
    const uint64_t place = end_;
    end_ += padded(size);
    return place;
  }

  void place_all() {
    end_ = 96;
    for (Texts& collection : collections_) {
      collection.size = std::max(collection.size, kCollection);
      collection.place = reserve(collection.size);
    }
    for (Node& node : nodes_) {
      node.header = reserve(header_of(node).size());
      if (!node.group) continue;
      node.heap = reserve(32 + heap_size(node));
      const size_t tables = (node.members.size() + kEntries - 1) / kEntries;
      node.tables = reserve(tables * kTableSize);
      node.tree = reserve(nodes_of_tree(tables) * kNodeSize);
    }
    // Behind all that describes them, so that a reader finds that close together.
    for (Node& node : nodes_)
      if (!node.group && !node.data->data_.empty())
        node.elements = reserve(node.data->data_.size());
  }

  static uint64_t heap_size(const Node& node) {
    uint64_t size = 8;  // the empty name
    for (const auto& [name, number] : node.members) size += padded(name.size() + 1);
    return size;
  }
  static size_t nodes_of_tree(size_t children) {
    size_t total = 0;
    do {
      children = std::max<size_t>(1, (children + kChildren - 1) / kChildren);
      total += children;
    } while (children > 1);
    return total;
  }

  void put(uint64_t place, std::vector<std::byte> bytes) {
    pieces_.push_back({place, std::move(bytes), {}});
  }

  std::vector<std::byte> superblock() const {
    Encoder out;
    out.text("\x89HDF\r\n\x1a\n").zeros(5).u8(8).u8(8).u8(0).u16(kLeafK).u16(kInternalK).u32(0);
    out.u64(0).u64(kUndefined).u64(end_).u64(kUndefined);
    const Node& root = nodes_[0];
    put_entry(out, 0, root);
    return out.take();
  }

  // An entry of a symbol table; of a group it repeats where its members are.
  static void put_entry(Encoder& out, uint64_t name, const Node& node) {
    out.u64(name).u64(node.header).u32(node.group ? 1 : 0).u32(0);
    out.u64(node.group ? node.tree : 0).u64(node.group ? node.heap : 0);
  }

  static std::vector<std::byte> encode_collection(const Texts& collection) {
    Encoder out;
    out.text("GCOL").u8(1).zeros(3).u64(collection.size);
    for (size_t i = 0; i < collection.texts.size(); ++i)
      out.u16(i + 1).u16(0).u32(0).u64(collection.texts[i].size()).bytes(collection.texts[i]).pad();
    const uint64_t free = collection.size - out.size();
    if (free >= 16) out.zeros(8).u64(free);
    out.zeros(collection.size - out.size());
    return out.take();
  }

  std::vector<std::byte> header_of(const Node& node) const {
    HeaderEncoder header;
    if (node.group) {
      header.add(MessageType::symbol_table, Encoder().u64(node.tree).u64(node.heap).take());
    } else {
      const DatasetWriter& data = *node.data;
      header.add(MessageType::space, encode_space(data.dims_));
      header.add(MessageType::type, encode_type(data.type_), 1);
      // Elements that are not there would be zeros.
      header.add(MessageType::fill_value, Encoder().u8(2).u8(2).u8(2).u8(1).u32(0).take(), 1);
      const bool empty = data.data_.empty();
      header.add(MessageType::layout, Encoder()
                                          .u8(3)
                                          .u8(1)
                                          .u64(empty ? kUndefined : node.elements)
                                          .u64(data.data_.size())
                                          .take());
    }
    for (const auto& [name, attribute] : attributes_of(node).attributes_) {
      std::vector<std::byte> bytes = attribute.data;
      if (attribute.type.kind == Kind::varying_text) {
        const auto found = references_.find(&attribute);
        const Reference where = found == references_.end() ? Reference{0, 0} : found->second;
        const uint64_t place = where.second ? collections_[where.first].place : 0;
        bytes = Encoder().u32(attribute.data.size()).u64(place).u32(where.second).take();
      }
      header.add(MessageType::attribute,
                 encode_attribute(name, attribute.type, attribute.dims, bytes));
    }
    return header.take();
  }

  void put_dataset(const Node& node) {
    put(node.header, header_of(node));
    if (!node.data->data_.empty()) pieces_.push_back({node.elements, {}, node.data->data_});
  }

  void put_group(const Node& node) {
    put(node.header, header_of(node));
    Encoder heap;
    const uint64_t size = heap_size(node);
    heap.text("HEAP").zeros(4).u64(size).u64(1).u64(node.heap + 32);  // 1: no free space
    heap.zeros(8);
    std::vector<uint64_t> names;
    for (const auto& [name, number] : node.members) {
      names.push_back(heap.size() - 32);
      heap.text(name).zeros(1).pad();
    }
    put(node.heap, heap.take());
    // Children of the level that comes next, each with the name that ends it.
    std::vector<std::pair<uint64_t, uint64_t>> children;
    for (size_t first = 0; first < names.size(); first += kEntries) {
      const size_t n = std::min(kEntries, names.size() - first);
      Encoder table;
      table.text("SNOD").u8(1).u8(0).u16(n);
      for (size_t i = first; i < first + n; ++i)
        put_entry(table, names[i], nodes_[node.members[i].second]);
      table.zeros(kTableSize - table.size());
      const uint64_t place = node.tables + first / kEntries * kTableSize;
      put(place, table.take());
      children.emplace_back(place, names[first + n - 1]);
    }
    put_tree(node, std::move(children));
  }

  // The root comes first in the file: it is what the header names. Leaves come last.
  void put_tree(const Node& node, std::vector<std::pair<uint64_t, uint64_t>> children) {
    uint64_t end = node.tree + nodes_of_tree(children.size()) * kNodeSize;
    for (int level = 0;; ++level) {
      const size_t count = std::max<size_t>(1, (children.size() + kChildren - 1) / kChildren);
      const uint64_t begin = end - count * kNodeSize;
      std::vector<std::pair<uint64_t, uint64_t>> parents;
      uint64_t key = 0;
      for (size_t i = 0; i < count; ++i) {
        const size_t first = i * kChildren, n = std::min(kChildren, children.size() - first);
        const uint64_t place = begin + i * kNodeSize;
        Encoder out;
        out.text("TREE").u8(0).u8(static_cast<uint64_t>(level)).u16(n);
        out.u64(i > 0 ? place - kNodeSize : kUndefined)
            .u64(i + 1 < count ? place + kNodeSize : kUndefined);
        out.u64(key);
        for (size_t k = first; k < first + n; ++k) {
          out.u64(children[k].first).u64(children[k].second);
          key = children[k].second;
        }
        out.zeros(kNodeSize - out.size());
        put(place, out.take());
        parents.emplace_back(place, key);
      }
      if (count == 1) return;
      end = begin;
      children = std::move(parents);
    }
  }

  std::vector<Node> nodes_;
  std::vector<Texts> collections_;
  std::map<const void*, Reference> references_;
  std::vector<Piece> pieces_;
  uint64_t end_ = 0;
};

void write_file(const GroupWriter& root, AtomicFile& file) { Layout(root).write(file); }

}  // namespace horngate::files::hdf5
