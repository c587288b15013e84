// Elements of attributes and data sets: numbers into memory, texts.
#include <algorithm>
#include <bit>
#include <cstring>

#include "files/hdf5_file.h"
#include "files/hdf5_reader.h"

namespace horngate::files::hdf5 {
namespace {

// A text costs memory that it does not cost in the file.
constexpr uint64_t kMostTexts = 200'000;

void swap_bytes(std::span<std::byte> bytes, size_t item) {
  for (size_t at = 0; at + item <= bytes.size(); at += item)
    std::reverse(bytes.begin() + static_cast<ptrdiff_t>(at),
                 bytes.begin() + static_cast<ptrdiff_t>(at + item));
}

std::string fixed_text(std::string_view text, TextPadding padding) {
  if (padding == TextPadding::terminated) return std::string(text.substr(0, text.find('\0')));
  const size_t last = text.find_last_not_of(padding == TextPadding::spaces ? ' ' : '\0');
  return std::string(text.substr(0, last == text.npos ? 0 : last + 1));
}

}  // namespace

void Values::set(const Type& type, const Space& space, uint64_t place) {
  type_ = type;
  space_ = space;
  place_ = place;
  bytes_ = bytes_of(*file_->source, place, type, space);
}

uint64_t Values::nbytes() const {
  if (type_.kind != Kind::number)
    throw TypeError(join(file_->source->name(), ": ", label_, " must have numbers; it has texts."));
  return bytes_;
}

void Values::read(std::span<std::byte> into) const {
  if (into.size() != nbytes())
    throw ValueError(join(file_->source->name(), ": ", label_, " has ", bytes_,
                          " bytes; the memory for it has ", into.size(), "."));
  if (into.empty()) return;
  if (data_ != kUndefined) {
    file_->source->read(data_, into, "data");
  } else if (!held_.empty()) {
    std::memcpy(into.data(), held_.data(), into.size());
  } else if (fill_.empty()) {
    std::memset(into.data(), 0, into.size());
  } else {
    for (size_t at = 0; at < into.size(); at += fill_.size())
      std::memcpy(into.data() + at, fill_.data(), fill_.size());
  }
  const bool other = type_.big_endian == (std::endian::native == std::endian::little);
  if (other && type_.size > 1) swap_bytes(into, type_.size);
  // A bool that is neither 0 nor 1 is no bool in C++.
  if (type_.dtype == DType::bool_)
    for (size_t i = 0; i < into.size(); ++i)
      if (into[i] > std::byte{1})
        file_->source->malformed(data_ == kUndefined ? place_ : data_ + i, "element ", i, " of ",
                                 label_, " must be 0 or 1; got ", static_cast<int>(into[i]), ".");
}

std::vector<std::byte> Values::raw() const {
  if (data_ != kUndefined) return file_->source->read(data_, bytes_, "data");
  if (!held_.empty()) return held_;
  return std::vector<std::byte>(bytes_);
}

std::vector<std::string> Values::texts() const {
  std::vector<std::string> out;
  if (space_.count == 0) return out;
  const Source& source = *file_->source;
  if (type_.kind == Kind::number)
    throw TypeError(join(source.name(), ": ", label_, " must have texts; it has numbers."));
  if (space_.count > kMostTexts)
    source.malformed(place_, label_, " has ", space_.count, " texts; ", kMostTexts,
                     " are the most.");
  const auto bytes = raw();
  out.reserve(space_.count);
  if (type_.kind == Kind::fixed_text) {
    for (size_t i = 0; i < space_.count; ++i)
      out.push_back(
          fixed_text(as_text(Bytes(bytes).subspan(i * type_.size, type_.size)), type_.padding));
    return out;
  }
  Cursor c(source, bytes, data_ == kUndefined ? place_ : data_, label_);
  uint64_t total = 0;
  for (size_t i = 0; i < space_.count; ++i) {
    HeapId id{};
    id.length = c.u32();
    id.collection = c.u64();
    id.index = c.u32();
    // Each has bytes of its own in a file that is in order.
    total += id.length;
    if (total > source.size())
      source.malformed(place_, label_, " has more text than the file has bytes.");
    out.push_back(file_->heap_text(id, place_));
  }
  return out;
}

std::string Values::text() const {
  if (space_.count != 1 || type_.kind == Kind::number)
    throw TypeError(join(file_->source->name(), ": ", label_, " must be one text."));
  return std::move(texts().front());
}

}  // namespace horngate::files::hdf5
