// Files that somebody damaged on purpose. Each is refused with a text that names file and byte; none takes
// memory that it does not have, or time.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <functional>

#include "files/hdf5_writer.h"
#include "hostile.h"
#include "mutate.h"

namespace horngate::files {
namespace {

/// A model's file as our writer makes it: texts, names, numbers, nested groups, several nodes.
Contents model_file() {
  hdf5::Writer file;
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const Bytes bytes = std::as_bytes(std::span(values));
  file.root().set_text("model_config", "{\"class_name\": \"Model\"}");
  file.root().set_texts("layer_names", {"dense_1", "dense_2"});
  file.root().set_texts("empty", {});
  hdf5::GroupWriter& weights = file.root().group("model_weights");
  for (int i = 0; i < 300; ++i)
    weights.group("layer_" + std::to_string(i))
        .set_numbers("index", DType::int32, {}, bytes.first(4));
  weights.set_data("layer_0/layer_0/kernel:0", DType::float32, {2, 3}, bytes)
      .set_text("note", "first");
  // Tests that make it may run at once.
  const std::string path = ::testing::TempDir() + "/hostile_" + std::to_string(::getpid()) + ".h5";
  file.save(path);
  Contents contents = read_file(path);
  std::remove(path.c_str());
  return contents;
}

/// The message of the header at `header` that has this type: where its data begin.
size_t message(const Contents& file, uint64_t header, uint16_t type) {
  size_t at = header + 16;
  while (get(file, at, 2) != type) {
    at += 8 + get(file, at + 2, 2);
    EXPECT_LT(at, file.size()) << type;
    if (at >= file.size()) return 0;
  }
  return at + 8;
}
uint64_t root_header(const Contents& file) { return get(file, 64); }
/// The object header of the only data set.
uint64_t data_header(const Contents& file) {
  for (size_t at = 96; at + 24 < file.size(); at += 8)
    if (get(file, at, 4) == 0x00050001u && get(file, at + 16, 2) == 1) return at;
  ADD_FAILURE() << "no data set";
  return 0;
}

struct Damage {
  const char* name;
  std::function<void(Contents&)> make;
  const char* says;
};
std::ostream& operator<<(std::ostream& out, const Damage& damage) { return out << damage.name; }

class HostileHdf5 : public ::testing::TestWithParam<Damage> {};

TEST_P(HostileHdf5, IsRefusedByName) {
  Contents file = model_file();
  ASSERT_EQ(error(file), "nothing was thrown");
  GetParam().make(file);
  const std::string text = error(file);
  EXPECT_NE(text.find(GetParam().says), text.npos) << text;
  EXPECT_EQ(text.find("net.h5: at byte "), 0u) << text;
}

const Damage kDamages[] = {
    {"nothing_at_all", [](Contents& f) { f.clear(); }, "of 8 bytes does not lie in the file"},
    {"no_signature", [](Contents& f) { f[1] = std::byte{'h'}; }, "no HDF5 file"},
    {"user_block",
     [](Contents& f) {
       f.insert(f.begin(), 512, std::byte{0});
       f[0] = std::byte{0x89};
     },
     "user block of 512 bytes"},
    {"superblock_of_the_future", [](Contents& f) { put(f, 8, 9, 1); },
     "the superblock has version 9"},
    {"narrow_addresses", [](Contents& f) { put(f, 13, 4, 1); }, "addresses have 4 bytes"},
    {"other_base", [](Contents& f) { put(f, 24, 8, 8); }, "addresses begin at byte 8"},
    {"longer_than_it_is", [](Contents& f) { put(f, 40, f.size() + 1, 8); }, "the file is cut off"},
    {"several_files", [](Contents& f) { put(f, 48, 96, 8); }, "one of several"},
    {"root_outside", [](Contents& f) { put(f, 64, f.size() - 2, 8); },
     "an object header of 4 bytes does not lie"},
    {"root_beyond_all", [](Contents& f) { put(f, 64, UINT64_MAX - 3, 8); },
     "does not lie in the file"},
    {"root_in_the_superblock", [](Contents& f) { put(f, 64, 8, 8); }, "no object header"},
    {"root_is_text", [](Contents& f) { put(f, 64, find(f, "GCOL"), 8); },
     "there is no object header"},
    {"root_is_data", [](Contents& f) { put(f, 64, data_header(f), 8); },
     "the root must be a group"},
    {"more_messages_than_there_are", [](Contents& f) { put(f, root_header(f) + 2, 500, 2); },
     "says that it has 500 messages"},
    {"header_to_the_end_of_time", [](Contents& f) { put(f, root_header(f) + 8, 0xFFFFFFFF, 4); },
     "of 4294967295 bytes does not lie"},
    {"message_that_does_not_fit",
     [](Contents& f) { put(f, message(f, root_header(f), 0x11) - 6, 0xFFF8, 2); },
     "ends too early"},
    {"continuation_of_itself",
     [](Contents& f) {
       const size_t at = message(f, root_header(f), 0x11);
       put(f, at - 8, 0x10, 2);
       put(f, at, root_header(f) + 16, 8);
       put(f, at + 8, 64, 8);
     },
     "addresses form a loop"},
    {"continuation_outside",
     [](Contents& f) {
       const size_t at = message(f, root_header(f), 0x11);
       put(f, at - 8, 0x10, 2);
       put(f, at, INT64_MAX, 8);
       put(f, at + 8, INT64_MAX, 8);
     },
     "does not lie in the file"},
    {"tree_outside", [](Contents& f) { put(f, message(f, root_header(f), 0x11), f.size(), 8); },
     "does not lie in the file"},
    {"tree_is_a_heap",
     [](Contents& f) { put(f, message(f, root_header(f), 0x11), find(f, "HEAP"), 8); },
     "must begin with \"TREE\""},
    {"tree_of_chunks", [](Contents& f) { put(f, find(f, "TREE") + 4, 1, 1); }, "is of type 1"},
    {"tree_that_leads_to_itself",
     [](Contents& f) {
       const size_t tree = find(f, "TREE", 1);  // of model_weights: two levels
       put(f, tree + 32, tree, 8);
       put(f, tree + 5, 0, 1);
     },
     "must begin with \"SNOD\""},
    {"tree_with_a_loop",
     [](Contents& f) {
       const size_t tree = find(f, "TREE", 1);
       ASSERT_EQ(get(f, tree + 5, 1), 1u);
       put(f, tree + 48, get(f, tree + 32), 8);
     },
     "addresses form a loop"},
    {"tree_with_a_wrong_level", [](Contents& f) { put(f, find(f, "TREE", 2) + 5, 7, 1); },
     "is of level 7; must be 0"},
    {"tree_of_256_levels", [](Contents& f) { put(f, find(f, "TREE") + 5, 255, 1); },
     "must begin with \"TREE\""},
    {"tree_with_65535_children", [](Contents& f) { put(f, find(f, "TREE") + 6, 65535, 2); },
     "does not lie in the file"},
    {"table_with_65535_entries", [](Contents& f) { put(f, find(f, "SNOD") + 6, 65535, 2); },
     "does not lie in the file"},
    {"table_of_the_future", [](Contents& f) { put(f, find(f, "SNOD") + 4, 2, 1); },
     "has version 2"},
    {"heap_outside",
     [](Contents& f) { put(f, message(f, root_header(f), 0x11) + 8, f.size() - 8, 8); },
     "a local heap of 32 bytes does not lie"},
    {"heap_of_all_memory", [](Contents& f) { put(f, find(f, "HEAP") + 8, INT64_MAX, 8); },
     "does not lie in the file"},
    {"heap_data_outside", [](Contents& f) { put(f, find(f, "HEAP") + 24, UINT64_MAX - 7, 8); },
     "does not lie in the file"},
    {"heap_data_in_the_superblock", [](Contents& f) { put(f, find(f, "HEAP") + 24, 8, 8); },
     "overlaps"},
    {"heaps_of_two_groups_are_one",
     [](Contents& f) { put(f, find(f, "HEAP", 1) + 24, get(f, find(f, "HEAP") + 24), 8); },
     "overlaps"},
    {"heap_of_the_future", [](Contents& f) { put(f, find(f, "HEAP") + 4, 1, 1); },
     "a local heap has version 1"},
    {"name_outside_of_its_heap", [](Contents& f) { put(f, find(f, "SNOD") + 8, 1 << 20, 8); },
     "a name is at byte 1048576"},
    {"name_without_an_end",
     [](Contents& f) {
       const size_t at = find(f, "model_weights") + 13;
       put(f, at, 0x787878, 3);
     },
     "a text without an end"},
    {"link_without_a_name", [](Contents& f) { put(f, find(f, "SNOD") + 8, 0, 8); },
     "must have a name"},
    {"link_with_a_slash", [](Contents& f) { put(f, find(f, "model_weights") + 5, '/', 1); },
     "a name without \"/\""},
    {"two_links_of_one_name",
     [](Contents& f) {
       const size_t table = find(f, "SNOD", 1);
       put(f, table + 48, get(f, table + 8), 8);
     },
     "two links of a group have the name"},
    {"names_that_overlap",
     [](Contents& f) {
       const size_t heap = find(f, "HEAP", 1);
       const size_t table = find(f, "SNOD", 1);
       const uint64_t name = get(f, table + 8);
       const size_t data = get(f, heap + 24);
       for (size_t at = data + name; at < data + get(f, heap + 8) - 1; ++at) put(f, at, 'x', 1);
       for (int i = 0; i < 8; ++i) put(f, table + 8 + 40 * i, name + i, 8);
     },
     "names of links share bytes"},
    {"soft_link", [](Contents& f) { put(f, find(f, "SNOD") + 24, 2, 4); },
     "a soft link, \"model_weights\", which is not followed. Rewrite it through h5py"},
    {"link_of_an_unknown_kind", [](Contents& f) { put(f, find(f, "SNOD") + 24, 77, 4); },
     "is of type 77"},
    {"link_to_the_root", [](Contents& f) { put(f, find(f, "SNOD") + 16, root_header(f), 8); },
     "as another link does"},
    {"two_links_to_one_object",
     [](Contents& f) {
       const size_t table = find(f, "SNOD", 1);
       put(f, table + 56, get(f, table + 16), 8);
     },
     "as another link does"},
    {"attribute_that_is_shared",
     [](Contents& f) { put(f, message(f, root_header(f), 0x0C) - 4, 2, 1); },
     "shared with other objects"},
    {"attribute_of_the_future", [](Contents& f) { put(f, message(f, root_header(f), 0x0C), 4, 1); },
     "an attribute has version 4"},
    {"attribute_with_a_long_name",
     [](Contents& f) { put(f, message(f, root_header(f), 0x0C) + 2, 65535, 2); }, "ends too early"},
    {"two_attributes_of_one_name",
     [](Contents& f) {
       const size_t at = find(f, "layer_names");
       const std::string_view other("empty\0\0\0\0\0\0\0", 12);
       for (size_t i = 0; i < other.size(); ++i) put(f, at + i, static_cast<uint8_t>(other[i]), 1);
     },
     "two attributes of \"/\" have the name \"empty\""},
    {"collection_outside",
     [](Contents& f) { put(f, find(f, "model_config") + 16 + 24 + 8 + 4, f.size(), 8); },
     "does not lie in the file"},
    {"collection_of_another_kind", [](Contents& f) { put(f, find(f, "GCOL"), 'g', 1); },
     "must begin with \"GCOL\""},
    {"collection_of_all_memory", [](Contents& f) { put(f, find(f, "GCOL") + 8, UINT64_MAX, 8); },
     "does not lie in the file"},
    {"collection_of_nothing", [](Contents& f) { put(f, find(f, "GCOL") + 8, 8, 8); },
     "has 8 bytes"},
    {"text_that_is_not_there", [](Contents& f) { put(f, find(f, "GCOL") + 16, 999, 2); },
     "none of that number"},
    {"texts_with_one_number", [](Contents& f) { put(f, find(f, "{\"class_name") + 24, 1, 2); },
     "two objects with number 1"},
    {"text_of_two_attributes",
     [](Contents& f) {
       const size_t note = find(f, "note") + 8 + 24 + 8;
       const size_t config = find(f, "model_config") + 16 + 24 + 8;
       for (size_t i = 0; i < 16; ++i) f[note + i] = f[config + i];
     },
     "belongs to another attribute too"},
    {"text_larger_than_its_collection",
     [](Contents& f) { put(f, find(f, "GCOL") + 24, 1 << 30, 8); }, "does not fit its collection"},
    {"text_longer_than_its_object",
     [](Contents& f) { put(f, find(f, "model_config") + 16 + 24 + 8, 3000, 4); },
     "its object in the global heap has 23"},
    {"data_without_a_type", [](Contents& f) { put(f, message(f, data_header(f), 3) - 8, 0, 2); },
     "has no type"},
    {"data_without_a_shape", [](Contents& f) { put(f, message(f, data_header(f), 1) - 8, 0, 2); },
     "has no shape"},
    {"type_of_the_future", [](Contents& f) { put(f, message(f, data_header(f), 3), 0xF1, 1); },
     "a type has version 15"},
    {"type_of_size_0", [](Contents& f) { put(f, message(f, data_header(f), 3) + 4, 0, 4); },
     "a type has size 0"},
    {"compound_type", [](Contents& f) { put(f, message(f, data_header(f), 3), 0x16, 1); },
     "data are a compound"},
    {"references", [](Contents& f) { put(f, message(f, data_header(f), 3), 0x17, 1); },
     "data are a reference"},
    {"floats_of_80_bits", [](Contents& f) { put(f, message(f, data_header(f), 3) + 4, 10, 4); },
     "in a format of its own"},
    {"committed_type", [](Contents& f) { put(f, message(f, data_header(f), 3) - 4, 3, 1); },
     "committed type"},
    {"shape_of_the_future", [](Contents& f) { put(f, message(f, data_header(f), 1), 3, 1); },
     "a shape has version 3"},
    {"shape_with_200_dimensions",
     [](Contents& f) { put(f, message(f, data_header(f), 1) + 1, 200, 1); },
     "a shape has 200 dimensions"},
    {"shape_that_overflows",
     [](Contents& f) {
       const size_t at = message(f, data_header(f), 1);
       for (int i = 0; i < 4; ++i) put(f, at + 8 + 8 * i, uint64_t{1} << 40, 8);
     },
     "more elements than can be counted"},
    {"shape_whose_bytes_overflow",
     [](Contents& f) {
       const size_t at = message(f, data_header(f), 1);
       for (int i = 0; i < 4; ++i) put(f, at + 8 + 8 * i, i % 2 ? 2 : uint64_t{1} << 61, 8);
     },
     "more bytes than can be counted"},
    {"negative_dimension",
     [](Contents& f) { put(f, message(f, data_header(f), 1) + 8, UINT64_MAX, 8); },
     "which is too large"},
    {"shape_above_its_most", [](Contents& f) { put(f, message(f, data_header(f), 1) + 8, 3, 8); },
     "above its most"},
    {"shape_that_the_data_do_not_fill",
     [](Contents& f) {
       put(f, message(f, data_header(f), 1) + 2, 0, 1);
       put(f, message(f, data_header(f), 1) + 8, 2000, 8);
     },
     "needs 24000 bytes; 24 are there"},
    {"layout_of_the_past", [](Contents& f) { put(f, message(f, data_header(f), 8), 1, 1); },
     "a layout of version 1"},
    {"chunks", [](Contents& f) { put(f, message(f, data_header(f), 8) + 1, 2, 1); },
     "is chunked, which is not read. Rewrite it"},
    {"virtual_data", [](Contents& f) { put(f, message(f, data_header(f), 8) + 1, 3, 1); },
     "is virtual, which is not read. Rewrite it"},
    {"layout_of_no_kind", [](Contents& f) { put(f, message(f, data_header(f), 8) + 1, 9, 1); },
     "a layout of class 9"},
    {"compact_data_too_short",
     [](Contents& f) {
       put(f, message(f, data_header(f), 8) + 1, 0, 1);
       put(f, message(f, data_header(f), 8) + 2, 4, 2);
     },
     "needs 24 bytes; 4 are there"},
    {"data_outside",
     [](Contents& f) { put(f, message(f, data_header(f), 8) + 2, f.size() - 23, 8); },
     "does not lie in the file"},
    {"data_at_the_end_of_time",
     [](Contents& f) { put(f, message(f, data_header(f), 8) + 2, UINT64_MAX - 1, 8); },
     "does not lie in the file"},
    {"data_are_a_header",
     [](Contents& f) { put(f, message(f, data_header(f), 8) + 2, data_header(f), 8); }, "overlaps"},
    {"data_in_the_midst_of_others",
     [](Contents& f) { put(f, message(f, data_header(f), 8) + 2, data_header(f) + 8, 8); },
     "overlaps"},
    {"filters", [](Contents& f) { put(f, message(f, data_header(f), 5) - 8, 0x0B, 2); },
     "goes through filters"},
    {"data_in_other_files", [](Contents& f) { put(f, message(f, data_header(f), 5) - 8, 0x07, 2); },
     "has its data in other files"},
    {"never_written_and_huge",
     [](Contents& f) {
       const size_t at = message(f, data_header(f), 1);
       put(f, at + 2, 0, 1);
       put(f, at + 8, 1 << 30, 8);
       put(f, message(f, data_header(f), 8) + 2, UINT64_MAX, 8);
     },
     "was never written"},
    {"message_that_must_be_understood",
     [](Contents& f) {
       const size_t at = message(f, data_header(f), 5);
       put(f, at - 8, 0x77, 2);
       put(f, at - 4, 0x80, 1);
     },
     "a message of type 119"},
};

INSTANTIATE_TEST_SUITE_P(Files, HostileHdf5, ::testing::ValuesIn(kDamages),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Hostile, EveryTruncationIsRefused) {
  for (const char* name : {"weights.h5", "texts.h5", "latest.h5", "dense.h5", "many.h5",
                           "small.safetensors", "config.json", "small.npz", "small.npy"}) {
    const Contents whole = corpus(name);
    ASSERT_EQ(error(whole), "nothing was thrown") << name;
    for (size_t size = 0; size < whole.size(); ++size) {
      const Contents part(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
      const std::string text = error(part);
      EXPECT_TRUE(text.starts_with("net.h5: ") && text.find("at byte ") != text.npos)
          << name << " " << size << ": " << text;
    }
  }
}

TEST(Hostile, EveryFlippedBitIsReadOrRefused) {
  const auto flips = [](const Contents& whole, size_t step) {
    int refused = 0;
    for (size_t bit = 0; bit < whole.size() * 8; bit += step) {
      Contents flipped = whole;
      flipped[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
      const std::string text = error(flipped);
      EXPECT_EQ(text.find("another exception"), text.npos) << bit << ": " << text;
      refused += text != "nothing was thrown";
    }
    return refused;
  };
  EXPECT_GT(flips(corpus("weights.h5"), testing::kSanitized ? 7 : 1), 100);
  EXPECT_GT(flips(corpus("texts.h5"), testing::kSanitized ? 7 : 1), 100);
  EXPECT_GT(flips(corpus("small.safetensors"), 1), 100);
  EXPECT_GT(flips(corpus("config.json"), 1), 100);
  // Sums find all that is in a structure with one.
  EXPECT_GT(flips(corpus("latest.h5"), testing::kSanitized ? 7 : 1), 500);
}

TEST(Hostile, DamageAtRandom) {
  horngate::testing::Corpus files;
  for (const char* name : {"weights.h5", "texts.h5", "latest.h5", "dense.h5", "many.h5",
                           "small.safetensors", "config.json", "small.npz", "small.npy"})
    files.push_back(corpus(name));
  const uint64_t seed = std::random_device()();
  std::mt19937_64 random(seed);
  for (int i = 0; i < 20000; ++i) {
    const std::string text = error(horngate::testing::mutated(files, random));
    ASSERT_EQ(text.find("another exception"), text.npos)
        << "seed " << seed << ", run " << i << ": " << text;
  }
}

}  // namespace
}  // namespace horngate::files
