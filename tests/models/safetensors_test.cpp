// Safetensors: what is written is read, what is wrong is named.
#include "files/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>

#include "error_of.h"

namespace horngate::files::safetensors {
namespace {

using horngate::testing::error_of;

std::string file_of(std::string_view header, size_t data, uint64_t length = UINT64_MAX) {
  if (length == UINT64_MAX) length = header.size();
  std::string out(8, '\0');
  std::memcpy(out.data(), &length, 8);
  return out + std::string(header) + std::string(data, '\1');
}
std::string error_in(const std::string& file) {
  return error_of([&] {
    const Reader reader(Source::memory("net.st", as_bytes(file)));
    for (const Tensor& t : reader.tensors()) {
      std::vector<std::byte> data(t.bytes);
      reader.read(t, data);
    }
  });
}
std::string entry(const char* name, const char* dtype, const char* shape, const char* offsets) {
  return join("\"", name, "\":{\"dtype\":\"", dtype, "\",\"shape\":", shape,
              ",\"data_offsets\":", offsets, "}");
}

TEST(Safetensors, RoundTrip) {
  const std::string path = ::testing::TempDir() + "/round.safetensors";
  const std::vector<float> floats = {1, 2, 3, 4, 5, 6};
  const std::vector<int64_t> ints = {7};
  save(path,
       {{"b", DType::float32, {2, 3}, std::as_bytes(std::span(floats))},
        {"a", DType::int64, {}, std::as_bytes(std::span(ints))},
        {"none", DType::bool_, {0, 4}, {}}},
       {{"format", "pt"}});
  const Reader file(path);
  ASSERT_EQ(file.tensors().size(), 3u);
  EXPECT_EQ(file.tensors()[0].name, "a");  // the widest first
  EXPECT_EQ(file.metadata(), (Metadata{{"format", "pt"}}));
  EXPECT_EQ(file.tensor("b").place % 8, 0u);
  EXPECT_EQ(file.tensor("b").dims, (Ints{2, 3}));
  std::vector<float> read(6);
  file.read(file.tensor("b"), std::as_writable_bytes(std::span(read)));
  EXPECT_EQ(read, floats);
  EXPECT_EQ(error_of([&] { (void)file.tensor("c"); }), path + ": there is no tensor \"c\".");
  EXPECT_EQ(error_of([&] {
              file.read(file.tensor("b"), std::as_writable_bytes(std::span(read).first(5)));
            }),
            path + ": tensor \"b\" has 24 bytes; the memory for it has 20.");
  EXPECT_EQ(
      error_of([&] { save(path, {{"a", DType::int64, {2}, std::as_bytes(std::span(ints))}}); }),
      path + ": tensor \"a\": shape and elements must agree; got 8 bytes.");
  EXPECT_EQ(
      error_of([&] { save(path, {{"a", DType::bool_, {0}, {}}, {"a", DType::bool_, {0}, {}}}); }),
      path + ": two tensors must not have the name \"a\".");
  EXPECT_EQ(error_of([&] { save(path, {{"__metadata__", DType::bool_, {0}, {}}}); }),
            path +
                ": a tensor must not have the name \"__metadata__\", which the format has for "
                "something else.");
  EXPECT_EQ(Reader(path).tensors().size(), 3u);  // the old file is still there
  std::remove(path.c_str());
}

TEST(Safetensors, WhatIsWrongIsNamed) {
  const std::string a = entry("a", "F32", "[2]", "[0,8]");
  const std::pair<std::string, std::string> cases[] = {
      {file_of("{" + a + "}", 8), "nothing was thrown"},
      {file_of("{" + a + "}   ", 8), "nothing was thrown"},
      {file_of("{}", 0), "nothing was thrown"},
      {"1234567",
       "net.st: at byte 0: the length of the header of 8 bytes does not lie in the file, which has "
       "7 bytes."},
      {file_of("{}", 0, 100 << 20),
       "net.st: at byte 0: the header has 104857600 bytes; 33554432 are the most."},
      {file_of("{}", 0, UINT64_MAX - 1),
       "net.st: at byte 0: the header has 18446744073709551614 bytes; 33554432 are the most."},
      {file_of("{}", 0, 3),
       "net.st: at byte 8: the header of 3 bytes does not lie in the file, which has 10 bytes."},
      {file_of(" {}", 0), "net.st: at byte 8: the header must begin with {."},
      {file_of("[]", 0), "net.st: at byte 8: the header must begin with {."},
      {file_of("{" + a + "}", 9), "net.st: at byte 70: 1 bytes belong to no tensor."},
      {file_of("{" + a + "}", 7),
       "net.st: tensor \"a\" in the header at byte 8: data_offsets end at 8; the file has 7 bytes "
       "of data."},
      {file_of("{" + a + "," + a + "}", 8),
       "net.st: header, which begins at byte 8: at byte 54 (line 1, column 55): key \"a\" is there "
       "twice."},
      {file_of("{" + entry("a", "F32", "[2]", "[4,12]") + "}", 12),
       "net.st: at byte 63: tensor \"a\" must begin at byte 63; got 67: there is a gap."},
      {file_of("{" + a + "," + entry("b", "F32", "[2]", "[4,12]") + "}", 12), "tensors overlap."},
      {file_of("{" + a + "," + entry("b", "F32", "[2]", "[0,8]") + "}", 8), "tensors overlap."},
      {file_of("{" + entry("a", "F32", "[3]", "[0,8]") + "}", 8),
       "its shape needs 12 bytes; data_offsets are 0 and 8."},
      {file_of("{" + entry("a", "F32", "[2]", "[8,0]") + "}", 8),
       "its shape needs 8 bytes; data_offsets are 8 and 0."},
      {file_of("{" + entry("a", "F32", "[-2]", "[0,8]") + "}", 8),
       "dimensions must be integers from 0 on; got \"-2\"."},
      {file_of("{" + entry("a", "F32", "[2.0]", "[0,8]") + "}", 8),
       "dimensions must be integers from 0 on; got \"2.0\"."},
      {file_of("{" + entry("a", "F32", "[4294967296,4294967296]", "[0,8]") + "}", 8),
       "more bytes than can be counted."},
      {file_of("{" + entry("a", "F32", "[0,4294967296,4294967296]", "[0,0]") + "}", 0),
       "more bytes than can be counted."},
      {file_of("{" + entry("a", "F32", "[18446744073709551615]", "[0,8]") + "}", 8),
       "dimension 18446744073709551615 is too large."},
      {file_of("{" + entry("a", "F32", "[18446744073709551616]", "[0,8]") + "}", 8),
       "an integer must fit 64 bits"},
      {file_of("{" + entry("a", "F32", "[2]", "[0,8,8]") + "}", 8),
       "data_offsets must be two; got 3."},
      {file_of("{" + entry("a", "F32", "[2]", "[0,-8]") + "}", 8),
       "data_offsets must be integers from 0 on; got \"-8\"."},
      {file_of("{" + entry("a", "F8_E4M3", "[2]", "[0,2]") + "}", 2),
       "has dtype \"F8_E4M3\", which is not read. Convert it"},
      {file_of("{" + entry("a", "f32", "[2]", "[0,8]") + "}", 8), "has dtype \"f32\""},
      {file_of("{\"a\":{\"dtype\":\"F32\",\"shape\":[2]}}", 8), "it must have data_offsets."},
      {file_of("{\"a\":{\"shape\":[2],\"data_offsets\":[0,8]}}", 8), "it must have dtype."},
      {file_of("{\"a\":{\"dtype\":4,\"shape\":[2],\"data_offsets\":[0,8]}}", 8),
       "dtype must be a string."},
      {file_of("{\"a\":{\"dtype\":\"F32\",\"shape\":2,\"data_offsets\":[0,8]}}", 8),
       "shape must be a list."},
      {file_of("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"x\":1}}", 8),
       "got \"x\"."},
      {file_of("{\"a\":[]}", 8), "it must be an object."},
      {file_of("{\"__metadata__\":{\"a\":1}}", 0), "__metadata__ must be an object of strings."},
      {file_of("{\"__metadata__\":[]}", 0), "__metadata__ must be an object of strings."},
      {file_of("{\"a\":", 8), "there must be a value; got the end of the text."},
      {file_of(std::string("{\"\xff\":1}"), 0), "a string must be UTF-8"},
      {file_of("{\"a\":" + std::string(10000, '['), 0), "values are nested deeper than 512."},
  };
  for (const auto& [file, says] : cases) {
    const std::string text = error_in(file);
    EXPECT_NE(text.find(says), text.npos) << text << "\nshould say " << says;
    EXPECT_TRUE(text == "nothing was thrown" || text.starts_with("net.st: ")) << text;
  }
  std::string boolean = file_of("{" + entry("a", "BOOL", "[2]", "[0,2]") + "}", 2);
  EXPECT_EQ(error_in(boolean), "nothing was thrown");
  boolean.back() = '\2';
  EXPECT_NE(error_in(boolean).find("element 1 of tensor \"a\" must be 0 or 1; got 2."),
            std::string::npos);
}

}  // namespace
}  // namespace horngate::files::safetensors
