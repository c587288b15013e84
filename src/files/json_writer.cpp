#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "files/bytes.h"
#include "files/json.h"

namespace horngate::files {
namespace {

// The code of the character at `at`, which is passed.
uint32_t take_code(std::string_view text, size_t& at) {
  const auto lead = static_cast<uint8_t>(text[at++]);
  if (lead < 0x80) return lead;
  const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
  uint32_t code = lead & (0x3F >> more);
  for (int i = 0; i < more; ++i) code = code << 6 | (static_cast<uint8_t>(text[at++]) & 0x3F);
  return code;
}

void append_unit(std::string& out, uint32_t unit) {
  constexpr char kDigits[] = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kDigits[unit >> shift & 15];
}

void append_string(std::string& out, std::string_view text) {
  if (!is_utf8(text))
    throw ValueError(join("write_json: a string must be UTF-8; got ", shown(text), "."));
  out += '"';
  for (size_t at = 0; at < text.size();) {
    const uint32_t code = take_code(text, at);
    constexpr std::string_view kNamed = "\"\\\n\r\t\f\b", kNames = "\"\\nrtfb";
    const size_t named = code < 0x80 ? kNamed.find(static_cast<char>(code)) : kNamed.npos;
    if (named != kNamed.npos) {
      out += {'\\', kNames[named]};
    } else if (code >= 0x20 && code < 0x7F) {
      out += static_cast<char>(code);
    } else if (code < 0x10000) {
      append_unit(out, code);
    } else {
      append_unit(out, 0xD800 + ((code - 0x10000) >> 10));
      append_unit(out, 0xDC00 + ((code - 0x10000) & 0x3FF));
    }
  }
  out += '"';
}

void append_simple(std::string& out, const Json& value) {
  switch (value.type()) {
    case Json::value_t::null: out += "null"; break;
    case Json::value_t::boolean: out += value.get<bool>() ? "true" : "false"; break;
    case Json::value_t::number_integer: out += std::to_string(value.get<int64_t>()); break;
    case Json::value_t::number_unsigned: out += std::to_string(value.get<uint64_t>()); break;
    case Json::value_t::number_float: out += float_text(value.get<double>()); break;
    case Json::value_t::string: append_string(out, value.get_ref<const std::string&>()); break;
    default: throw ValueError("write_json: a value must be one that JSON has; got binary data.");
  }
}

}  // namespace

std::string float_text(double x) {
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x > 0 ? "Infinity" : "-Infinity";
  // The shortest digits that read back the same, in the form 1.2345e+06.
  char buffer[40];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, x, std::chars_format::scientific).ptr;
  std::string_view text(buffer, static_cast<size_t>(end - buffer));
  std::string out;
  if (text[0] == '-') {
    out += '-';
    text.remove_prefix(1);
  }
  const size_t e = text.find('e');
  std::string digits(text.substr(0, 1));
  if (e > 2) digits += text.substr(2, e - 2);
  const int exponent = std::atoi(std::string(text.substr(e + 1)).c_str());
  const int count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {  // where repr() changes its form
    out += digits[0];
    if (count > 1) out += "." + digits.substr(1);
    out += exponent < 0 ? "e-" : "e+";
    const int size = std::abs(exponent);
    return out + (size < 10 ? "0" : "") + std::to_string(size);
  }
  if (exponent < 0)
    return out + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  if (count <= exponent + 1)
    return out + digits + std::string(static_cast<size_t>(exponent + 1 - count), '0') + ".0";
  return out + digits.substr(0, static_cast<size_t>(exponent + 1)) + "." +
         digits.substr(static_cast<size_t>(exponent + 1));
}

std::string write_json(const Json& root, bool sort_keys) {
  struct Open {
    const Json* value;
    std::vector<std::pair<const std::string*, const Json*>> members;  // keys are null in lists
    size_t next = 0;
  };
  std::string out;
  std::vector<Open> open;
  const auto begin = [&](const Json& value) {
    if (!value.is_structured()) return append_simple(out, value);
    out += value.is_object() ? '{' : '[';
    Open entry{&value, {}};
    if (value.is_object()) {
      for (const auto& [key, member] : value.get_ref<const Json::object_t&>())
        entry.members.emplace_back(&key, &member);
      // Python compares code points; for UTF-8 that is the order of bytes.
      if (sort_keys)
        std::sort(entry.members.begin(), entry.members.end(),
                  [](auto& a, auto& b) { return *a.first < *b.first; });
    } else {
      for (const Json& element : value) entry.members.emplace_back(nullptr, &element);
    }
    open.push_back(std::move(entry));
  };
  begin(root);
  while (!open.empty()) {
    Open& top = open.back();
    if (top.next == top.members.size()) {
      out += top.value->is_object() ? '}' : ']';
      open.pop_back();
      continue;
    }
    if (top.next > 0) out += ", ";
    const auto [key, member] = top.members[top.next++];
    if (key) {
      append_string(out, *key);
      out += ": ";
    }
    begin(*member);
  }
  return out;
}

}  // namespace horngate::files
