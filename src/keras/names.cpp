#include "keras/names.h"

#include <cctype>

#include "horngate/error.h"
#include "horngate/ops/variables.h"

namespace horngate::keras {

// An underscore goes before a capital that follows a small letter, and before one that begins a word: two passes, as
// Keras's two regular expressions.
std::string snake_case(const std::string& name) {
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  const auto is_word = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  std::string words;
  for (size_t i = 0; i < name.size();) {
    const bool begins = i > 0 && is_upper(name[i]) && i + 1 < name.size() && is_word(name[i + 1]);
    if (begins) words += '_';
    words += name[i++];
    while (begins && i < name.size() && is_word(name[i])) words += name[i++];
    // What was matched as the end of a word is not also the letter before the next one.
    if (begins && i < name.size()) words += name[i++];
  }
  std::string result;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0 && is_upper(words[i]) && words[i - 1] >= 'a' && words[i - 1] <= 'z') result += '_';
    result += static_cast<char>(std::tolower(static_cast<unsigned char>(words[i])));
  }
  return result.starts_with('_') ? "private" + result : result;
}

std::string default_name(const std::string& class_name) {
  return snake_case(class_name) + "_" + std::to_string(get_uid(class_name));
}

void check_positive(std::string_view who, std::string_view what, int64_t got) {
  if (got < 1)
    throw ValueError(std::string(who) + ": " + std::string(what) + " must be positive; got " +
                     std::to_string(got) + ".");
}

}  // namespace horngate::keras
