// HDF5: what the writer takes, what the reader gives, and what they say about mistakes of their callers.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "error_of.h"
#include "files/hdf5_reader.h"
#include "files/hdf5_writer.h"

namespace horngate::files::hdf5 {
namespace {

using horngate::testing::error_of;

class Hdf5 : public ::testing::Test {
 protected:
  void TearDown() override { std::remove(path.c_str()); }
  Group saved() {
    file.save(path);
    return open(path);
  }
  const std::string path = ::testing::TempDir() + "/" +
                           ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".h5";
  Writer file;
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const Bytes bytes = std::as_bytes(std::span(values));
};

TEST_F(Hdf5, AModelsFile) {
  file.root().set_text("model_config", "{\"é\": 1}");
  file.root().set_text("empty", "");
  file.root().set_texts("layer_names", {"dense_1", "", "drop"});
  file.root().set_texts("no_names", {});
  file.root()
      .group("model_weights/dense_1")
      .set_data("dense_1/kernel:0", DType::float32, {2, 3}, bytes);
  file.root()
      .group("model_weights")
      .set_data("step", DType::int32, {}, bytes.first(4))
      .set_text("note", "x");
  const Group root = saved();
  EXPECT_EQ(root.path(), "/");
  EXPECT_EQ(root.attribute("model_config").text(), "{\"é\": 1}");
  EXPECT_TRUE(root.attribute("model_config").type().utf8);
  EXPECT_EQ(root.attribute("empty").text(), "");
  EXPECT_EQ(root.attribute("layer_names").texts(),
            (std::vector<std::string>{"dense_1", "", "drop"}));
  EXPECT_TRUE(root.attribute("no_names").texts().empty());
  EXPECT_FALSE(root.has_attribute("name"));
  EXPECT_TRUE(root.has("model_weights/dense_1/dense_1/kernel:0"));
  EXPECT_FALSE(root.has("model_weights/dense_2/kernel:0"));
  EXPECT_FALSE(root.has("model_weights/step/kernel:0"));
  EXPECT_TRUE(root.is_group("model_weights/dense_1"));
  EXPECT_FALSE(root.is_group("model_weights/step"));
  const Dataset kernel = root.group("model_weights/dense_1").dataset("dense_1/kernel:0");
  EXPECT_EQ(kernel.path(), "/model_weights/dense_1/dense_1/kernel:0");
  EXPECT_EQ(kernel.space().dims, (Ints{2, 3}));
  std::vector<float> read(6);
  kernel.read(std::as_writable_bytes(std::span(read)));
  EXPECT_EQ(read, values);
  // Again, and by another way: objects may be opened as often as one likes.
  EXPECT_EQ(root.dataset("model_weights/dense_1/dense_1/kernel:0").nbytes(), 24u);
  EXPECT_EQ(root.dataset("model_weights/step").attribute("note").text(), "x");
}

TEST_F(Hdf5, MistakesOfTheReadersCallers) {
  file.root().group("g").set_data("d", DType::float32, {6}, bytes);
  file.root().set_texts("two", {"a", "b"});
  file.root().set_numbers("n", DType::float32, {2}, bytes.first(8));
  const Group root = saved();
  const std::string name = path + ": ";
  EXPECT_EQ(error_of([&] { (void)root.group("h"); }), name + "\"/\" has no member \"h\".");
  EXPECT_EQ(error_of([&] { (void)root.group("g/h/i"); }), name + "\"/g\" has no member \"h\".");
  EXPECT_EQ(error_of([&] { (void)root.group("g/d"); }), name + "\"/g/d\" must be a group.");
  EXPECT_EQ(error_of([&] { (void)root.dataset("g"); }), name + "\"/g\" must be a data set.");
  EXPECT_EQ(error_of([&] { (void)root.dataset("g/d/e"); }), name + "\"/g/d\" must be a group.");
  EXPECT_EQ(error_of([&] { (void)root.attribute("a"); }), name + "\"/\" has no attribute \"a\".");
  EXPECT_EQ(error_of([&] { (void)root.attribute("two").text(); }),
            name + "attribute \"two\" of \"/\" must be one text.");
  EXPECT_EQ(error_of([&] { (void)root.attribute("n").texts(); }),
            name + "attribute \"n\" of \"/\" must have texts; it has numbers.");
  EXPECT_EQ(error_of([&] { (void)root.attribute("two").nbytes(); }),
            name + "attribute \"two\" of \"/\" must have numbers; it has texts.");
  std::vector<std::byte> small(23);
  EXPECT_EQ(error_of([&] { root.dataset("g/d").read(small); }),
            name + "data set \"/g/d\" has 24 bytes; the memory for it has 23.");
}

TEST_F(Hdf5, MistakesOfTheWritersCallers) {
  GroupWriter& root = file.root();
  root.set_data("d", DType::float32, {6}, bytes);
  EXPECT_EQ(error_of([&] { root.set_data("d", DType::float32, {6}, bytes); }),
            "\"/\" must not have two members \"d\".");
  EXPECT_EQ(error_of([&] { root.group("d/e"); }),
            "\"d\" of \"/\" must be a group; it is a data set.");
  EXPECT_EQ(error_of([&] { root.set_data("e", DType::float32, {5}, bytes); }),
            "data of \"e\": shape and elements must agree; got 24 bytes for 20.");
  EXPECT_EQ(error_of([&] { root.group("a//b"); }),
            "a member of \"/a\" must have a name of UTF-8 text; got \"\".");
  EXPECT_EQ(error_of([&] { root.group("."); }),
            "a member of \"/\" must have a name of UTF-8 text; got \".\".");
  EXPECT_EQ(error_of([&] { root.set_text("t", std::string("a\0b", 3)); }),
            "attribute \"t\" of \"/\" must be UTF-8 text without zeros; got \"a\\x00b\".");
  EXPECT_EQ(
      error_of([&] { root.set_texts("t", {std::string(70'000, 'x')}); }),
      "attribute \"t\" of \"/\" must take at most 65528 bytes; got 1 texts of up to 70000 bytes.");
  std::string deep = "a";
  for (int i = 0; i < 600; ++i) deep += "/a";
  EXPECT_EQ(error_of([&] { root.group(deep); }), "groups must be nested at most 512 deep.");
  EXPECT_EQ(error_of([&] { file.save("/no/such/folder/x.h5"); }),
            "/no/such/folder/x.h5: no file can be made in its folder: No such file or directory.");
}

TEST_F(Hdf5, EveryDTypeAndManyAttributes) {
  const std::vector<std::byte> zeros(8 * 3);
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    const Bytes data(zeros.data(), 3 * size_of(dtype));
    file.root()
        .set_data("d" + std::to_string(i), dtype, {3}, data)
        .set_numbers("a", dtype, {3, 1}, data);
  }
  for (int i = 0; i < 3000; ++i)
    file.root().set_text("text " + std::to_string(i), std::string(i % 200, 'x'));
  const Group root = saved();
  for (int i = 0; i < kDTypeCount; ++i) {
    const Dataset data = root.dataset("d" + std::to_string(i));
    EXPECT_EQ(data.type().dtype, static_cast<DType>(i));
    EXPECT_EQ(data.attribute("a").type(), data.type());
  }
  EXPECT_EQ(root.attribute_names().size(), 3000u);
  for (int i = 0; i < 3000; i += 7)
    EXPECT_EQ(root.attribute("text " + std::to_string(i)).text(), std::string(i % 200, 'x'));
}

TEST_F(Hdf5, AttributesAreNotSearchedOneByOne) {
  for (int i = 0; i < 60'000; ++i)
    file.root().set_numbers("n" + std::to_string(i), DType::bool_, {0}, {});
  const Group root = saved();
  const auto start = std::chrono::steady_clock::now();
  for (const std::string& name : root.attribute_names())
    EXPECT_EQ(root.attribute(name).space().count, 0u);
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 10);
  EXPECT_EQ(error_of([&] {
              for (int i = 0; i < 10'000; ++i)
                file.root().set_numbers("m" + std::to_string(i), DType::bool_, {0}, {});
            }),
            "\"/\" must have at most 65000 attributes.");
}

TEST_F(Hdf5, SumsAreLookup3) {
  EXPECT_EQ(checksum(as_bytes("")), 0xdeadbeefu);
  EXPECT_EQ(checksum(as_bytes("Four score and seven years ago")), 0x17770551u);
}

}  // namespace
}  // namespace horngate::files::hdf5
