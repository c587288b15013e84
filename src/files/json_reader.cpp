#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <vector>

#include "files/bytes.h"
#include "files/json.h"

namespace horngate::files {
namespace {

// Containers that are open are on a stack of ours, so depth costs no call stack. Names of one object
// are in a set while it is open: ordered_json would compare each with all.
class JsonReader {
 public:
  JsonReader(std::string_view text, std::string_view name, const JsonLimits& limits)
      : text_(text), name_(name), limits_(limits) {}

  Json read() {
    if (text_.size() > limits_.bytes)
      fail(0, "the text has ", text_.size(), " bytes; ", limits_.bytes, " are the most.");
    Json root = begin_value();
    if (root.is_structured()) {
      open(&root);
      while (!open_.empty()) step();
    }
    skip_space();
    if (at_ < text_.size()) fail(at_, "nothing may follow the value; got ", next(), ".");
    return root;
  }

 private:
  struct Open {
    Json* value;
    std::unordered_set<std::string> keys;
    bool first = true;
  };

  template <class... Parts>
  [[noreturn]] void fail(size_t place, const Parts&... parts) const {
    const std::string_view before = text_.substr(0, place);
    const size_t line = 1 + static_cast<size_t>(std::count(before.begin(), before.end(), '\n'));
    const size_t begin = before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1;
    throw ValueError(join(name_, ": at byte ", place, " (line ", line, ", column ",
                          place - begin + 1, "): ", parts...));
  }
  std::string next() const {
    return at_ < text_.size() ? shown(text_.substr(at_, 1)) : "the end of the text";
  }
  void skip_space() {
    while (at_ < text_.size() && std::strchr(" \t\n\r", text_[at_]) && text_[at_] != '\0') ++at_;
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void expect(char c, const char* where) {
    if (peek() != c || at_ >= text_.size())
      fail(at_, where, " must be '", c, "'; got ", next(), ".");
    ++at_;
  }
  bool take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  void open(Json* value) {
    if (open_.size() >= limits_.depth)
      fail(at_, "values are nested deeper than ", limits_.depth, ".");
    open_.push_back({value, {}});
  }

  // One element of the innermost container, or its end.
  void step() {
    Open& top = open_.back();
    const bool object = top.value->is_object();
    skip_space();
    if (peek() == (object ? '}' : ']')) {
      ++at_;
      open_.pop_back();
      return;
    }
    if (!top.first) {
      expect(',',
             object ? "what follows a member of an object" : "what follows an element of a list");
      skip_space();
    }
    top.first = false;
    Json* child;
    if (object) {
      const size_t place = at_;
      if (peek() != '"') fail(at_, "a key must be a string; got ", next(), ".");
      std::string key = read_string();
      if (!top.keys.insert(key).second) fail(place, "key ", shown(key), " is there twice.");
      skip_space();
      expect(':', "what follows a key");
      Json value = begin_value();
      // Not operator[], which would look through all keys.
      auto& members = top.value->get_ref<Json::object_t&>();
      static_cast<std::vector<Json::object_t::value_type>&>(members).emplace_back(std::move(key),
                                                                                  std::move(value));
      child = &members.back().second;
    } else {
      auto& elements = top.value->get_ref<Json::array_t&>();
      elements.push_back(begin_value());
      child = &elements.back();
    }
    // The container grows no more until this child is closed, so the pointer stays good.
    if (child->is_structured()) open(child);
  }

  // A whole simple value, or the beginning of a container.
  Json begin_value() {
    skip_space();
    if (++values_ > limits_.values) fail(at_, "there are more than ", limits_.values, " values.");
    if (at_ >= text_.size()) fail(at_, "there must be a value; got the end of the text.");
    switch (peek()) {
      case '{': ++at_; return Json::object();
      case '[': ++at_; return Json::array();
      case '"': return Json(read_string());
      default: break;
    }
    if (take("null")) return Json(nullptr);
    if (take("true")) return Json(true);
    if (take("false")) return Json(false);
    if (take("NaN")) return Json(std::numeric_limits<double>::quiet_NaN());
    if (take("Infinity")) return Json(std::numeric_limits<double>::infinity());
    if (take("-Infinity")) return Json(-std::numeric_limits<double>::infinity());
    return read_number();
  }

  Json read_number() {
    const size_t start = at_;
    const auto digits = [&] {
      const size_t from = at_;
      while (peek() >= '0' && peek() <= '9') ++at_;
      return at_ - from;
    };
    if (peek() == '-') ++at_;
    const size_t first = at_;
    const size_t whole = digits();
    if (whole == 0) fail(at_, "there must be a value; got ", next(), ".");
    if (whole > 1 && text_[first] == '0') fail(start, "a number must not begin with 0.");
    bool is_float = false;
    if (peek() == '.') {
      ++at_;
      is_float = true;
      if (digits() == 0) fail(at_, "a digit must follow the point; got ", next(), ".");
    }
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      is_float = true;
      if (peek() == '+' || peek() == '-') ++at_;
      if (digits() == 0) fail(at_, "an exponent must have digits; got ", next(), ".");
    }
    const char* const begin = text_.data() + start;
    const char* const end = text_.data() + at_;
    if (!is_float) {
      int64_t value = 0;
      if (std::from_chars(begin, end, value).ec == std::errc()) return Json(value);
      uint64_t large = 0;
      if (*begin != '-' && std::from_chars(begin, end, large).ec == std::errc()) return Json(large);
      fail(start, "an integer must fit 64 bits; got ", shown(text_.substr(start, at_ - start)),
           ".");
    }
    double value = 0;
    const auto result = std::from_chars(begin, end, value);
    // Too large or too small: infinity or zero, as in Python.
    if (result.ec == std::errc::result_out_of_range)
      value = out_of_range(text_.substr(start, at_ - start));
    return Json(value);
  }

  static double out_of_range(std::string_view text) {
    const size_t e = text.find_first_of("eE");
    const std::string_view digits = text.substr(0, e);
    const size_t from = digits.find_first_of("123456789");
    const double sign = text[0] == '-' ? -1 : 1;
    if (from == digits.npos) return sign * 0.0;
    // Where the first digit stands decides, together with the exponent.
    const size_t point = std::min(digits.find('.'), digits.size());
    const double position =
        from < point ? static_cast<double>(point - from) : -static_cast<double>(from - point);
    const double exponent =
        e == text.npos ? 0 : std::strtod(std::string(text.substr(e + 1)).c_str(), nullptr);
    return sign * (position + exponent > 0 ? std::numeric_limits<double>::infinity() : 0.0);
  }

  std::string read_string() {
    const size_t start = at_++;
    std::string out;
    while (true) {
      const size_t from = at_;
      while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' &&
             static_cast<uint8_t>(text_[at_]) >= 0x20)
        ++at_;
      out.append(text_.substr(from, at_ - from));
      if (at_ >= text_.size()) fail(start, "a string has no end.");
      if (text_[at_] == '"') break;
      if (text_[at_] != '\\') fail(at_, "a string has a control character, ", next(), ".");
      read_escape(out);
    }
    ++at_;
    if (!is_utf8(out)) fail(start, "a string must be UTF-8; got ", shown(out), ".");
    return out;
  }

  void read_escape(std::string& out) {
    const size_t place = at_++;
    constexpr char kFrom[] = "\"\\/bfnrt", kTo[] = "\"\\/\b\f\n\r\t";
    const char c = peek();
    const char* const found = c ? std::strchr(kFrom, c) : nullptr;
    if (found) {
      out += kTo[found - kFrom];
      ++at_;
      return;
    }
    if (c != 'u')
      fail(place, "a string has an unknown escape, ", shown(text_.substr(place, 2)), ".");
    uint32_t code = read_hex(place);
    if (code >= 0xD800 && code < 0xDC00 && text_.substr(at_).starts_with("\\u")) {
      ++at_;
      const uint32_t low = read_hex(place);
      if (low < 0xDC00 || low > 0xDFFF) fail(place, "a string has half of a surrogate pair.");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xD800 && code < 0xE000) {
      fail(place, "a string has half of a surrogate pair.");
    }
    append_utf8(out, code);
  }

  uint32_t read_hex(size_t place) {
    ++at_;  // u
    uint32_t code = 0;
    const std::string_view digits = text_.substr(at_, 4);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (digits.size() < 4 || error != std::errc() || end != digits.data() + 4)
      fail(place, "\\u must have four hexadecimal digits.");
    at_ += 4;
    return code;
  }

  static void append_utf8(std::string& out, uint32_t code) {
    const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (code >> shift & 0x3F)); };
    if (code < 0x80) {
      out += static_cast<char>(code);
    } else if (code < 0x800) {
      out += static_cast<char>(0xC0 | code >> 6);
      tail(0);
    } else if (code < 0x10000) {
      out += static_cast<char>(0xE0 | code >> 12);
      tail(6), tail(0);
    } else {
      out += static_cast<char>(0xF0 | code >> 18);
      tail(12), tail(6), tail(0);
    }
  }

  std::string_view text_, name_;
  JsonLimits limits_;
  size_t at_ = 0, values_ = 0;
  std::vector<Open> open_;
};

}  // namespace

Json read_json(std::string_view text, std::string_view name, const JsonLimits& limits) {
  return JsonReader(text, name, limits).read();
}

}  // namespace horngate::files
