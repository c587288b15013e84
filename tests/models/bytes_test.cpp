// The cursor, sizes and texts of errors.
#include "files/bytes.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "error_of.h"

namespace horngate::files {
namespace {

using horngate::testing::error_of;

TEST(Bytes, CursorReadsLittleEndianAndStopsAtTheEnd) {
  const std::string text("\x01\x02\x03\x04\x05\x06\x07\x08\x09x\0y", 12);
  const auto source = Source::memory("net.h5", as_bytes(text));
  const auto bytes = source->read(1, 11, "piece");
  Cursor c(*source, bytes, 1, "header");
  EXPECT_EQ(c.u16(), 0x0302);
  EXPECT_EQ(c.uint(3), 0x060504u);
  EXPECT_EQ(c.place(), 6u);
  EXPECT_EQ(error_of<ValueError>([&] { c.u64(); }),
            "net.h5: at byte 6: header ends too early: 8 more bytes are needed, 6 are left.");
  c.skip(3);
  EXPECT_EQ(c.text(), "x");
  EXPECT_EQ(error_of<ValueError>([&] { c.text(); }),
            "net.h5: at byte 11: header has a text without an end.");
  EXPECT_EQ(error_of<ValueError>([&] { c.expect("z"); }),
            "net.h5: at byte 11: header must begin with \"z\"; got \"y\".");
}

TEST(Bytes, ExtentsLieInTheFile) {
  const auto source = Source::memory("net.h5", as_bytes("12345678"));
  EXPECT_EQ(error_of<ValueError>([&] { (void)source->read(4, 5, "a heap"); }),
            "net.h5: at byte 4: a heap of 5 bytes does not lie in the file, which has 8 bytes.");
  EXPECT_NE(error_of<ValueError>([&] { (void)source->read(UINT64_MAX, 2, "a heap"); }), "");
  EXPECT_NE(error_of<ValueError>([&] { (void)source->read(2, UINT64_MAX, "a heap"); }).find("lie"),
            std::string::npos);
  EXPECT_EQ(source->read(8, 0, "nothing").size(), 0u);
}

TEST(Bytes, SizesOfArrays) {
  using Dims = std::vector<int64_t>;
  EXPECT_EQ(checked_bytes(Dims{}, 4), 4u);
  EXPECT_EQ(checked_bytes(Dims{2, 3}, 4), 24u);
  EXPECT_EQ(checked_bytes(Dims{2, 0, 3}, 4), 0u);
  EXPECT_EQ(checked_bytes(Dims{-1}, 4), std::nullopt);
  EXPECT_EQ(checked_bytes(Dims{int64_t(1) << 62, 2}, 1), std::nullopt);
  EXPECT_EQ(checked_bytes(Dims{int64_t(1) << 61, 0, 8}, 1), std::nullopt);
  EXPECT_EQ(checked_bytes(Dims{INT64_MAX}, 1), uint64_t(INT64_MAX));
}

TEST(Bytes, TextsOfFilesAreShownSafely) {
  EXPECT_EQ(shown("a\"\x1b\n"), "\"a\\\"\\x1b\\x0a\"");
  EXPECT_EQ(shown("\xff"), "\"\\xff\"");
  EXPECT_EQ(shown("caf\xc3\xa9"), "\"caf\xc3\xa9\"");
  EXPECT_EQ(shown(std::string(100, 'a')), "\"" + std::string(80, 'a') + "...\"");
  EXPECT_EQ(shown(std::string(79, 'a') + "\xc3\xa9"), "\"" + std::string(79, 'a') + "...\"");
  for (const char* bad : {"\xc0\x80", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
                          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\x80", "\xc3", "\xe2\x82"})
    EXPECT_FALSE(is_utf8(bad)) << shown(bad);
  for (const char* good : {"", "a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xed\x9f\xbf"})
    EXPECT_TRUE(is_utf8(good)) << shown(good);
}

TEST(Bytes, WhatCannotBeOpenedIsNamed) {
  const std::string folder = ::testing::TempDir();
  EXPECT_EQ(error_of<RuntimeError>([&] { (void)Source::open(folder + "/no.h5"); }),
            folder + "/no.h5: cannot be read: No such file or directory.");
  EXPECT_EQ(error_of<RuntimeError>([&] { (void)Source::open(folder); }),
            folder + ": cannot be read: Is a directory.");
  EXPECT_EQ(error_of<RuntimeError>([&] { (void)Source::open("/dev/null"); }),
            "/dev/null: cannot be read: it is not a regular file.");
}

TEST(Bytes, AFileThatShrinksIsAnError) {
  const std::string path = ::testing::TempDir() + "/shrinks";
  std::ofstream(path) << std::string(10000, 'x');
  const auto source = Source::open(path);
  std::ofstream{path} << "x";
  EXPECT_EQ(error_of<ValueError>([&] { (void)source->read(0, 10000, "it"); }),
            path + ": at byte 1: the file became shorter while it was read.");
  std::remove(path.c_str());
}

}  // namespace
}  // namespace horngate::files
