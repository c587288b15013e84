// The same for the newer structures of HDF5, whose sums an enemy computes too: the damage is in files with right sums.
#include <gtest/gtest.h>

#include <functional>

#include "error_of.h"
#include "hostile.h"

namespace horngate::files {
namespace {

// Writes the sum of [at, at + size - 4) behind it.
void sum(Contents& file, size_t at, size_t size) {
  put(file, at + size - 4, hdf5::checksum(Bytes(file).subspan(at, size - 4)), 4);
}
void sum_heap(Contents& file) { sum(file, find(file, "FRHP"), 146); }
void sum_tree(Contents& file) { sum(file, find(file, "BTHD"), 38); }
void sum_leaf(Contents& file, size_t records = 9) {
  sum(file, find(file, "BTLF"), 6 + records * 11 + 4);
}
// The header at a place: its size is one byte, behind signature, version, flags.
void sum_header(Contents& file, size_t at) {
  const uint64_t flags = get(file, at + 5, 1);
  const size_t before = 6 + (flags & 0x20 ? 16 : 0) + (flags & 0x10 ? 4 : 0),
               width = size_t{1} << (flags & 3);
  sum(file, at, before + width + get(file, at + before, width) + 4);
}
// Where the messages of the header begin.
size_t messages(const Contents& file, size_t at) {
  const uint64_t flags = get(file, at + 5, 1);
  return at + 6 + (flags & 0x20 ? 16 : 0) + (flags & 0x10 ? 4 : 0) + (size_t{1} << (flags & 3));
}

struct Damage {
  const char* name;
  const char* file;
  std::function<void(Contents&)> make;
  const char* says;
};
std::ostream& operator<<(std::ostream& out, const Damage& damage) { return out << damage.name; }

class HostileNew : public ::testing::TestWithParam<Damage> {};

TEST_P(HostileNew, IsRefusedByName) {
  Contents file = corpus(GetParam().file);
  ASSERT_EQ(error(file), "nothing was thrown");
  GetParam().make(file);
  const std::string text = error(file);
  EXPECT_NE(text.find(GetParam().says), text.npos) << text;
  EXPECT_EQ(text.find("net.h5: at byte "), 0u) << text;
}

const Damage kDamages[] = {
    {"heap_with_a_wrong_sum", "dense.h5", [](Contents& f) { put(f, find(f, "FRHP") + 20, 1, 1); },
     "the sum of a fractal heap is wrong"},
    {"heap_of_the_future", "dense.h5",
     [](Contents& f) {
       put(f, find(f, "FRHP") + 4, 1, 1);
       sum_heap(f);
     },
     "a fractal heap has version 1"},
    {"heap_with_filters", "dense.h5",
     [](Contents& f) {
       put(f, find(f, "FRHP") + 7, 9, 2);
       sum_heap(f);
     },
     "goes through filters"},
    {"heap_with_short_ids", "dense.h5",
     [](Contents& f) {
       put(f, find(f, "FRHP") + 5, 3, 2);
       sum_heap(f);
     },
     "has ids of 3 bytes"},
    {"heap_with_odd_blocks", "dense.h5",
     [](Contents& f) {
       put(f, find(f, "FRHP") + 112, 511, 8);
       sum_heap(f);
     },
     "impossible sizes"},
    {"heap_with_blocks_of_all_memory", "dense.h5",
     [](Contents& f) {
       put(f, find(f, "FRHP") + 120, uint64_t{1} << 63, 8);
       sum_heap(f);
     },
     "impossible sizes"},
    {"heap_with_wide_rows", "dense.h5",
     [](Contents& f) {
       put(f, find(f, "FRHP") + 110, 32768, 2);
       sum_heap(f);
     },
     "impossible sizes"},
    {"heap_root_outside", "dense.h5",
     [](Contents& f) {
       put(f, find(f, "FRHP") + 132, f.size() - 5, 8);
       sum_heap(f);
     },
     "does not lie in the file"},
    {"heap_root_is_itself", "dense.h5",
     [](Contents& f) {
       put(f, find(f, "FRHP") + 132, find(f, "FRHP"), 8);
       sum_heap(f);
     },
     "or two objects share it"},
    {"heap_root_is_a_table_that_is_not", "dense.h5",
     [](Contents& f) {
       put(f, find(f, "FRHP") + 140, 2, 2);
       sum_heap(f);
     },
     "the sum of a table of a fractal heap is wrong"},
    {"heap_with_65535_rows", "dense.h5",
     [](Contents& f) {
       put(f, find(f, "FRHP") + 140, 65535, 2);
       sum_heap(f);
     },
     "has 65535 rows"},
    {"block_of_another_heap", "dense.h5", [](Contents& f) { put(f, find(f, "FHDB") + 5, 8, 8); },
     "belongs to another heap"},
    {"block_of_no_kind", "dense.h5", [](Contents& f) { put(f, find(f, "FHDB"), 0, 4); },
     "must begin with \"FHDB\""},
    {"tree_with_a_wrong_sum", "dense.h5", [](Contents& f) { put(f, find(f, "BTHD") + 16, 1, 1); },
     "the sum of a B-tree of links is wrong"},
    {"tree_of_other_things", "dense.h5",
     [](Contents& f) {
       put(f, find(f, "BTHD") + 5, 8, 1);
       sum_tree(f);
     },
     "and type 8"},
    {"tree_with_large_records", "dense.h5",
     [](Contents& f) {
       put(f, find(f, "BTHD") + 10, 100, 2);
       sum_tree(f);
     },
     "records of 100 bytes"},
    {"tree_of_tiny_nodes", "dense.h5",
     [](Contents& f) {
       put(f, find(f, "BTHD") + 6, 12, 4);
       sum_tree(f);
     },
     "in nodes of 12"},
    {"tree_of_65535_levels", "dense.h5",
     [](Contents& f) {
       put(f, find(f, "BTHD") + 12, 65535, 2);
       sum_tree(f);
     },
     "records of 11 bytes"},
    {"tree_of_32_levels", "dense.h5",
     [](Contents& f) {
       put(f, find(f, "BTHD") + 12, 32, 2);
       sum_tree(f);
     },
     "has 32 levels"},
    {"tree_with_a_level_too_many", "dense.h5",
     [](Contents& f) {
       put(f, find(f, "BTHD") + 12, 1, 2);
       sum_tree(f);
     },
     "the sum of a node"},
    {"tree_with_too_many_records", "dense.h5",
     [](Contents& f) {
       put(f, find(f, "BTHD") + 24, 60000, 2);
       sum_tree(f);
     },
     "60000 records; 45 are the most"},
    {"tree_root_outside", "dense.h5",
     [](Contents& f) {
       put(f, find(f, "BTHD") + 16, UINT64_MAX - 9, 8);
       sum_tree(f);
     },
     "does not lie in the file"},
    {"huge_object", "dense.h5",
     [](Contents& f) {
       put(f, find(f, "BTLF") + 6 + 4, 0x10, 1);
       sum_leaf(f);
     },
     "is huge or tiny, which is not read"},
    {"object_outside_of_its_heap", "dense.h5",
     [](Contents& f) {
       put(f, find(f, "BTLF") + 6 + 5, 0x7FFFFFFF, 4);
       sum_leaf(f);
     },
     "in no block of its fractal heap"},
    {"object_in_the_head_of_a_block", "dense.h5",
     [](Contents& f) {
       put(f, find(f, "BTLF") + 6 + 5, 2, 4);
       sum_leaf(f);
     },
     "in no block of its fractal heap"},
    {"object_longer_than_its_block", "dense.h5",
     [](Contents& f) {
       put(f, find(f, "BTLF") + 6 + 9, 0xFFFF, 2);
       sum_leaf(f);
     },
     "in no block of its fractal heap"},
    {"one_link_twice", "dense.h5",
     [](Contents& f) {
       const size_t leaf = find(f, "BTLF") + 6;
       for (size_t i = 0; i < 11; ++i) f[leaf + 11 + i] = f[leaf + i];
       sum_leaf(f);
     },
     "two links of a group have the name"},
    {"superblock_with_a_wrong_sum", "latest.h5", [](Contents& f) { put(f, 9 + 2, 1, 1); },
     "the sum of the superblock is wrong"},
    {"header_with_a_wrong_sum", "latest.h5",
     [](Contents& f) { put(f, messages(f, find(f, "OHDR")) + 3, 9, 1); },
     "the sum of an object header is wrong"},
    {"header_of_the_future", "latest.h5", [](Contents& f) { put(f, find(f, "OHDR") + 4, 3, 1); },
     "an object header has version 3"},
    {"header_beyond_the_end", "latest.h5",
     [](Contents& f) { put(f, find(f, "OHDR") + 5, get(f, find(f, "OHDR") + 5, 1) | 3, 1); },
     "an object header"},
    {"message_larger_than_its_block", "latest.h5",
     [](Contents& f) {
       const size_t at = find(f, "OHDR");
       put(f, messages(f, at) + 1, 60000, 2);
       sum_header(f, at);
     },
     "a message of 60000 bytes does not fit its block"},
    {"continuation_to_itself", "latest.h5",
     [](Contents& f) {
       const size_t at = find(f, "OHDR"), first = messages(f, at);
       put(f, first, 0x10, 1);
       put(f, first + 4, at, 8);
       put(f, first + 12, 64, 8);
       sum_header(f, at);
     },
     "addresses form a loop"},
    {"shared_message", "latest.h5",
     [](Contents& f) {
       const size_t header = find(f, "OHDR");
       size_t m = messages(f, header);
       while (get(f, m, 1) != 0x0C) m += 4 + get(f, m + 1, 2);
       put(f, m + 3, 2, 1);
       sum_header(f, header);
     },
     "shared with other objects"},
};

INSTANTIATE_TEST_SUITE_P(Files, HostileNew, ::testing::ValuesIn(kDamages),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace horngate::files
