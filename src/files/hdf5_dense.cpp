#include "files/hdf5_dense.h"

#include <algorithm>
#include <bit>

namespace horngate::files::hdf5 {
namespace {

// A piece of the file that ends with the sum of what precedes it.
class Summed {
 public:
  Summed(const Source& source, Parts& parts, uint64_t place, uint64_t size, std::string_view what)
      : cursor_(source, {}, place, what) {
    parts.claim(place, size, what);
    bytes_ = source.read(place, size, what);
    const size_t inner = bytes_.size() < 4 ? 0 : bytes_.size() - 4;
    const Bytes all(bytes_);
    if (bytes_.size() < 4 ||
        !sum_is(Cursor(source, all.subspan(inner), place + inner, what).u32(), all.first(inner)))
      source.malformed(place, "the sum of ", what, " is wrong.");
    cursor_ = Cursor(source, all.first(inner), place, what);
  }
  Cursor& operator*() { return cursor_; }
  Cursor* operator->() { return &cursor_; }

 private:
  std::vector<std::byte> bytes_;
  Cursor cursor_;
};

// Bytes that hold numbers up to `most`.
size_t width_of(uint64_t most) {
  return most == 0 ? 1 : static_cast<size_t>(std::bit_width(most) + 7) / 8;
}

// A heap whose space is divided into blocks of a table: rows of `width` blocks, each row twice as large as the
// one before. Small blocks hold objects, large ones are tables again.
class FractalHeap {
 public:
  FractalHeap(const Source& source, uint64_t place, Parts& parts)
      : source_(source), parts_(parts), place_(place) {
    constexpr char kWhat[] = "a fractal heap";
    Summed bytes(source, parts, place, 146, kWhat);
    Cursor& c = *bytes;
    c.expect("FRHP");
    if (const int version = c.u8(); version != 0) c.malformed(kWhat, " has version ", version, ".");
    id_size_ = c.u16();
    if (c.u16() != 0)
      source.unsupported(place, kWhat, " goes through filters, which are not read. ", kRemedy);
    summed_ = (c.u8() & 2) != 0;
    const uint64_t most_managed = c.u32();
    c.skip(12 * 8);
    width_ = c.u16();
    start_ = c.u64();
    most_direct_ = c.u64();
    bits_ = c.u16();
    c.skip(2);
    root_ = c.u64();
    rows_ = c.u16();
    if (!std::has_single_bit(width_) || !std::has_single_bit(start_) ||
        !std::has_single_bit(most_direct_) || most_direct_ < start_ ||
        most_direct_ > (uint64_t{1} << 32) || bits_ == 0 || bits_ > 64 || width_ > 4096)
      source.malformed(place, kWhat, " has blocks of impossible sizes.");
    offset_width_ = (bits_ + 7) / 8;
    length_width_ = std::min(width_of(most_direct_), width_of(most_managed));
    if (id_size_ < 1 + offset_width_ + length_width_)
      source.malformed(place, kWhat, " has ids of ", id_size_, " bytes.");
    if (root_ != kUndefined) find_blocks();
  }

  size_t id_size() const { return id_size_; }

  /// The object of an id, and where it is.
  std::pair<uint64_t, std::vector<std::byte>> object(Cursor& id) {
    const uint64_t place = id.place();
    if (const int kind = id.u8(); kind != 0)
      source_.unsupported(place, "an object of a fractal heap is huge or tiny, which is not read. ",
                          kRemedy);
    const uint64_t offset = id.uint(offset_width_), length = id.uint(length_width_);
    auto block = blocks_.upper_bound(offset);
    if (block == blocks_.begin())
      source_.malformed(place, "an object is in no block of its fractal heap.");
    --block;
    const auto [begin, where] = *block;
    const uint64_t head = 5 + 8 + offset_width_ + (summed_ ? 4 : 0);
    if (offset - begin < head || offset - begin > where.size ||
        length > where.size - (offset - begin))
      source_.malformed(place, "an object is in no block of its fractal heap.");
    // Objects do not overlap: together they are no larger than the file.
    taken_ += length;
    if (taken_ > source_.size()) source_.malformed(place, "objects of a fractal heap overlap.");
    const uint64_t at = where.place + (offset - begin);
    return {at, source_.read(at, length, "an object of a fractal heap")};
  }

 private:
  struct Block {
    uint64_t place, size;
  };
  struct Table {
    uint64_t place, offset;
    size_t rows;
  };

  // Where blocks are, by their offsets in the heap.
  void find_blocks() {
    if (rows_ == 0) return add_block(root_, 0, start_);
    std::vector<Table> pending = {{root_, 0, rows_}};
    const size_t direct_rows =
        static_cast<size_t>(std::countr_zero(most_direct_) - std::countr_zero(start_)) + 2;
    while (!pending.empty()) {
      const Table table = pending.back();
      pending.pop_back();
      constexpr char kWhat[] = "a table of a fractal heap";
      if (table.rows > 64) source_.malformed(table.place, kWhat, " has ", table.rows, " rows.");
      Summed bytes(source_, parts_, table.place,
                   5 + 8 + offset_width_ + 8 * width_ * table.rows + 4, kWhat);
      bytes->expect("FHIB");
      bytes->skip(1 + 8 + offset_width_);
      uint64_t offset = table.offset;
      for (size_t row = 0; row < table.rows; ++row) {
        const size_t doubled = row == 0 ? 0 : row - 1;
        if (doubled + static_cast<size_t>(std::countr_zero(start_)) > 62)
          source_.malformed(table.place, kWhat, " has blocks of impossible sizes.");
        const uint64_t size = start_ << doubled;
        for (size_t i = 0; i < width_; ++i, offset += size) {
          const uint64_t child = bytes->u64();
          if (child == kUndefined) continue;
          if (row < direct_rows) {
            add_block(child, offset, size);
          } else {
            const int rows = std::countr_zero(size) - std::countr_zero(start_ * width_) + 1;
            if (rows < 1) source_.malformed(table.place, kWhat, " has blocks of impossible sizes.");
            pending.push_back({child, offset, static_cast<size_t>(rows)});
          }
        }
      }
    }
  }

  void add_block(uint64_t place, uint64_t offset, uint64_t size) {
    constexpr char kWhat[] = "a block of a fractal heap";
    parts_.claim(place, size, kWhat);
    const auto head = source_.read(place, 5 + 8, kWhat);
    Cursor c(source_, head, place, kWhat);
    c.expect("FHDB");
    c.skip(1);
    if (c.u64() != place_) source_.malformed(place, kWhat, " belongs to another heap.");
    blocks_.emplace(offset, Block{place, size});
  }

  const Source& source_;
  Parts& parts_;
  uint64_t place_;
  size_t id_size_ = 0, bits_ = 0, offset_width_ = 0, length_width_ = 0, rows_ = 0;
  bool summed_ = false;
  uint64_t width_ = 0, start_ = 0, most_direct_ = 0, root_ = kUndefined, taken_ = 0;
  std::map<uint64_t, Block> blocks_;
};

// How many records nodes of each level hold, and how wide the numbers are that say so.
struct Level {
  uint64_t most = 0, total = 0;
  size_t total_width = 0;
};

}  // namespace

void read_dense_links(const Source& source, uint64_t heap_place, uint64_t index, Parts& parts,
                      const std::function<void(const Message&)>& on_link) {
  FractalHeap heap(source, heap_place, parts);
  constexpr char kTree[] = "a B-tree of links", kNode[] = "a node of a B-tree of links";
  Summed bytes(source, parts, index, 38, kTree);
  bytes->expect("BTHD");
  const int version = bytes->u8(), type = bytes->u8();
  if (version != 0 || type != 5)
    source.malformed(index, kTree, " is of version ", version, " and type ", type, ".");
  const uint64_t node_size = bytes->u32(), record = bytes->u16();
  const size_t depth = bytes->u16();
  bytes->skip(2);
  const uint64_t root = bytes->u64(), in_root = bytes->u16();
  if (record != 4 + heap.id_size() || node_size < 10 + record || depth > 32)
    source.malformed(index, kTree, " has records of ", record, " bytes in nodes of ", node_size,
                     ".");
  if (root == kUndefined) return;
  std::vector<Level> levels(1);
  levels[0].most = levels[0].total = (node_size - 10) / record;
  const size_t count_width = width_of(levels[0].most);
  for (size_t i = 1; i <= depth; ++i) {
    const uint64_t pointer = 8 + count_width + levels[i - 1].total_width;
    Level level;
    level.most = node_size < 10 + pointer ? 0 : (node_size - 10 - pointer) / (record + pointer);
    const auto below = checked_mul(level.most + 1, levels[i - 1].total);
    const auto total = below ? checked_add(*below, level.most) : below;
    if (!total || level.most == 0) source.malformed(index, kTree, " has ", depth, " levels.");
    level.total = *total;
    level.total_width = width_of(level.total);
    levels.push_back(level);
  }
  struct Node {
    uint64_t place, records;
    size_t level;
  };
  std::vector<Node> pending = {{root, in_root, depth}};
  while (!pending.empty()) {
    const Node node = pending.back();
    pending.pop_back();
    if (node.records > levels[node.level].most)
      source.malformed(node.place, kNode, " has ", node.records, " records; ",
                       levels[node.level].most, " are the most.");
    const size_t total_width = node.level > 0 ? levels[node.level - 1].total_width : 0;
    const uint64_t pointers =
        node.level == 0 ? 0 : (node.records + 1) * (8 + count_width + total_width);
    Summed body(source, parts, node.place, 6 + node.records * record + pointers + 4, kNode);
    body->expect(node.level == 0 ? "BTLF" : "BTIN");
    body->skip(2);
    for (uint64_t i = 0; i < node.records; ++i) {
      body->skip(4);  // the name's hash
      Cursor id = body->part(heap.id_size(), "a heap id");
      const auto [place, object] = heap.object(id);
      on_link({MessageType::link, 0, place, object});
    }
    if (node.level == 0) continue;
    for (uint64_t i = 0; i <= node.records; ++i) {
      const uint64_t child = body->u64(), count = body->uint(count_width);
      body->skip(total_width);
      pending.push_back({child, count, node.level - 1});
    }
  }
}

}  // namespace horngate::files::hdf5
