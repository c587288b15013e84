// JSON: what is accepted, what is refused and where, numbers as Python writes them.
#include "files/json.h"

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "error_of.h"
#include "sanitizers.h"

namespace horngate::files {
namespace {

using horngate::testing::error_of;

std::string error_in(std::string_view text) {
  return error_of([&] { (void)read_json(text, "net.h5: model_config"); });
}
std::string again(std::string_view text) { return write_json(read_json(text, "text")); }

TEST(KerasJson, IsWrittenAsPythonDoes) {
  EXPECT_EQ(again(" {\"b\":[1,2.0,-0.0,1e400,NaN,-Infinity],\n\t\"a\":{},\"c\":[],\"d\":null,\"e\":"
                  "true}\r "),
            "{\"b\": [1, 2.0, -0.0, Infinity, NaN, -Infinity], \"a\": {}, \"c\": [], \"d\": null, "
            "\"e\": true}");
  EXPECT_EQ(write_json(read_json("{\"b\": {\"z\": 1, \"y\": 2}, \"a\": 3}", "text"), true),
            "{\"a\": 3, \"b\": {\"y\": 2, \"z\": 1}}");
  EXPECT_EQ(again("\"\\u00e9\\ud83d\\ude00\\n\\/\x7f\""), "\"\\u00e9\\ud83d\\ude00\\n/\\u007f\"");
  EXPECT_EQ(again("18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(again("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(float_text(1e16), "1e+16");
  EXPECT_EQ(float_text(1e15), "1000000000000000.0");
  EXPECT_EQ(float_text(0.0001), "0.0001");
  EXPECT_EQ(float_text(0.00001), "1e-05");
  EXPECT_EQ(float_text(0.001f), "0.0010000000474974513");
  EXPECT_EQ(float_text(-1.5e-300), "-1.5e-300");
}

TEST(KerasJson, WhatIsWrongIsNamedWithItsPlace) {
  const std::pair<std::string_view, const char*> cases[] = {
      {"", "at byte 0 (line 1, column 1): there must be a value; got the end of the text."},
      {"{\"a\": 1,\n \"a\": 2}", "at byte 10 (line 2, column 2): key \"a\" is there twice."},
      {"[1, 2",
       "at byte 5 (line 1, column 6): what follows an element of a list must be ','; got the end "
       "of the text."},
      {"[1 2]",
       "at byte 3 (line 1, column 4): what follows an element of a list must be ','; got \"2\"."},
      {"[1,]", "at byte 3 (line 1, column 4): there must be a value; got \"]\"."},
      {"{\"a\":1,}", "at byte 7 (line 1, column 8): a key must be a string; got \"}\"."},
      {"{\"a\" 1}", "at byte 5 (line 1, column 6): what follows a key must be ':'; got \"1\"."},
      {"{1: 2}", "a key must be a string; got \"1\"."},
      {"{} {}", "at byte 3 (line 1, column 4): nothing may follow the value; got \"{\"."},
      {"01", "a number must not begin with 0."},
      {"-", "there must be a value; got the end of the text."},
      {"1.", "a digit must follow the point; got the end of the text."},
      {"1e", "an exponent must have digits"},
      {"+1", "there must be a value; got \"+\"."},
      {".5", "there must be a value"},
      {"0x10", "nothing may follow the value; got \"x\"."},
      {"nan", "there must be a value; got \"n\"."},
      {"18446744073709551616", "an integer must fit 64 bits; got \"18446744073709551616\"."},
      {"-9223372036854775809", "an integer must fit 64 bits"},
      {"'a'", "there must be a value; got \"'\"."},
      {"\"a", "at byte 0 (line 1, column 1): a string has no end."},
      {"\"a\nb\"", "a string has a control character, \"\\x0a\"."},
      {"\"\\x\"", "a string has an unknown escape, \"\\\\x\"."},
      {"\"\\u12g4\"", "\\u must have four hexadecimal digits."},
      {"\"\\u12", "\\u must have four hexadecimal digits."},
      {"\"\\ud800\"", "half of a surrogate pair."},
      {"\"\\ud800\\u0041\"", "half of a surrogate pair."},
      {"\"\\udc00\"", "half of a surrogate pair."},
      {"\"\xff\"", "a string must be UTF-8; got \"\\xff\"."},
      {"/* no */ 1", "there must be a value; got \"/\"."},
      {"\xef\xbb\xbf{}", "there must be a value; got \"\\xef\"."},
      {std::string_view("\0", 1), "there must be a value; got \"\\x00\"."},
      {std::string_view("[1]\0", 4), "nothing may follow the value; got \"\\x00\"."},
  };
  for (const auto& [text, says] : cases) {
    const std::string got = error_in(text);
    EXPECT_TRUE(got.starts_with("net.h5: model_config: at byte ")) << got;
    EXPECT_NE(got.find(says), got.npos) << got << "\nshould say " << says;
  }
}

TEST(KerasJson, DepthSizeAndCountHaveEnds) {
  for (const size_t depth : {512u, 513u, 10'000u, 1'000'000u}) {
    for (const char* open : {"[", "{\"a\":"}) {
      std::string text;
      for (size_t i = 0; i < depth; ++i) text += open;
      text += "1";
      text += std::string(depth, open[0] == '[' ? ']' : '}');
      const std::string got = error_in(text);
      if (depth <= 512)
        EXPECT_EQ(got, "nothing was thrown");
      else
        EXPECT_NE(got.find("values are nested deeper than 512."), got.npos) << got;
    }
  }
  std::string many = "[0";
  for (int i = 0; i < 300'000; ++i) many += ",0";
  EXPECT_NE(error_in(many + "]").find("there are more than 200000 values."), std::string::npos);
  EXPECT_NE(error_in("\"" + std::string(33 << 20, 'a') + "\"").find("are the most."),
            std::string::npos);
  // Keys are not compared each with all.
  std::string keys = "{";
  for (int i = 0; i < 150'000; ++i) keys += (i ? ",\"" : "\"") + std::to_string(i) + "\":0";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(read_json(keys + "}", "text").size(), 150'000u);
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
            testing::kSanitized ? 60 : 10);
}

TEST(KerasJson, OnlyTextIsWritten) {
  EXPECT_EQ(error_of([] { (void)write_json(Json("\xff")); }),
            "write_json: a string must be UTF-8; got \"\\xff\".");
  EXPECT_EQ(error_of([] { (void)write_json(Json::binary({1})); }),
            "write_json: a value must be one that JSON has; got binary data.");
}

}  // namespace
}  // namespace horngate::files
