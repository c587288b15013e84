#include "files/hdf5_writer.h"

#include <algorithm>

#include "files/atomic_file.h"
#include "files/hdf5_encode.h"
#include "files/hdf5_layout.h"

namespace horngate::files::hdf5 {
namespace {

constexpr size_t kMostAttribute = 65528, kMostDepth = 512;

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<uint8_t>(c) < 0x80; });
}

void check_name(std::string_view name, std::string_view path, const char* what) {
  if (name.empty() || name == "." || name.find('\0') != name.npos || name.size() > 65000 ||
      !is_utf8(name))
    throw ValueError(
        join(what, " of ", shown(path), " must have a name of UTF-8 text; got ", shown(name), "."));
}

uint64_t checked_size(std::string_view path, DType dtype, const Ints& dims, Bytes elements) {
  const auto bytes = checked_bytes(dims, size_of(dtype));
  if (!bytes || *bytes != elements.size() || dims.size() > 32)
    throw ValueError(join("data of ", shown(path), ": shape and elements must agree; got ",
                          elements.size(), " bytes for ", bytes.value_or(0), "."));
  return *bytes;
}

}  // namespace

void AttributeWriter::add(std::string name, Attribute attribute) {
  check_name(name, path_, "an attribute");
  const bool varying = attribute.type.kind == Kind::varying_text;
  const std::byte reference[16] = {};
  const auto message = encode_attribute(name, attribute.type, attribute.dims,
                                        varying ? Bytes(reference) : Bytes(attribute.data));
  if (message.size() > kMostAttribute)
    throw ValueError(join("attribute ", shown(name), " of ", shown(path_), " must take at most ",
                          kMostAttribute, " bytes; got ", message.size(), "."));
  // The header counts its messages with 16 bits, and has a few of its own.
  if (attributes_.size() >= 65000 && !attributes_.contains(name))
    throw ValueError(join(shown(path_), " must have at most 65000 attributes."));
  attributes_.insert_or_assign(std::move(name), std::move(attribute));
}

void AttributeWriter::set_text(std::string name, std::string text) {
  if (text.find('\0') != text.npos || !is_utf8(text) || text.size() > UINT32_MAX)
    throw ValueError(join("attribute ", shown(name), " of ", shown(path_),
                          " must be UTF-8 text without zeros; got ", shown(text), "."));
  const Bytes bytes = as_bytes(text);
  add(std::move(name), {{.kind = Kind::varying_text, .size = 16, .utf8 = !is_ascii(text)},
                        {},
                        std::vector<std::byte>(bytes.begin(), bytes.end())});
}

void AttributeWriter::set_texts(std::string name, const std::vector<std::string>& texts) {
  if (texts.empty()) return set_numbers(std::move(name), DType::float64, {0}, {});
  size_t width = 1;  // NumPy has no narrower text
  for (const std::string& text : texts) {
    if (text.find('\0') != text.npos)
      throw ValueError(join("attribute ", shown(name), " of ", shown(path_),
                            " must be text without zeros; got ", shown(text), "."));
    width = std::max(width, text.size());
  }
  const auto total = checked_mul(width, texts.size());
  if (!total || *total > kMostAttribute)
    throw ValueError(join("attribute ", shown(name), " of ", shown(path_), " must take at most ",
                          kMostAttribute, " bytes; got ", texts.size(), " texts of up to ", width,
                          " bytes."));
  std::vector<std::byte> data(*total);
  for (size_t i = 0; i < texts.size(); ++i)
    std::copy_n(as_bytes(texts[i]).data(), texts[i].size(), data.data() + i * width);
  add(std::move(name), {{.kind = Kind::fixed_text,
                         .size = static_cast<uint32_t>(width),
                         .padding = TextPadding::zeros},
                        {static_cast<int64_t>(texts.size())},
                        std::move(data)});
}

void AttributeWriter::set_numbers(std::string name, DType dtype, const Ints& dims, Bytes elements) {
  checked_size(name, dtype, dims, elements);
  add(std::move(name), {{.dtype = dtype, .size = static_cast<uint32_t>(size_of(dtype))},
                        dims,
                        std::vector<std::byte>(elements.begin(), elements.end())});
}

GroupWriter& GroupWriter::group(std::string_view path) {
  GroupWriter* at = this;
  while (true) {
    const size_t slash = path.find('/');
    const std::string name(path.substr(0, slash));
    check_name(name, at->path_, "a member");
    auto [found, made] = at->members_.try_emplace(name);
    if (made) {
      auto group = std::make_unique<GroupWriter>();
      group->path_ = (at->path_ == "/" ? "/" : at->path_ + "/") + name;
      if (std::count(group->path_.begin(), group->path_.end(), '/') >
          static_cast<ptrdiff_t>(kMostDepth)) {
        at->members_.erase(found);
        throw ValueError(join("groups must be nested at most ", kMostDepth, " deep."));
      }
      found->second = std::move(group);
    }
    auto* const next = std::get_if<std::unique_ptr<GroupWriter>>(&found->second);
    if (!next)
      throw ValueError(
          join(shown(name), " of ", shown(at->path_), " must be a group; it is a data set."));
    at = next->get();
    if (slash == path.npos) return *at;
    path.remove_prefix(slash + 1);
  }
}

DatasetWriter& GroupWriter::set_data(std::string_view path, DType dtype, const Ints& dims,
                                     Bytes elements) {
  checked_size(path, dtype, dims, elements);
  const size_t slash = path.rfind('/');
  GroupWriter& parent = slash == path.npos ? *this : group(path.substr(0, slash));
  const std::string name(slash == path.npos ? path : path.substr(slash + 1));
  check_name(name, parent.path_, "a member");
  if (parent.members_.contains(name))
    throw ValueError(join(shown(parent.path_), " must not have two members ", shown(name), "."));
  auto data = std::make_unique<DatasetWriter>();
  data->path_ = (parent.path_ == "/" ? "/" : parent.path_ + "/") + name;
  data->type_ = {.dtype = dtype, .size = static_cast<uint32_t>(size_of(dtype))};
  data->dims_ = dims;
  data->data_ = elements;
  DatasetWriter& result = *data;
  parent.members_.emplace(name, std::move(data));
  return result;
}

void Writer::save(const std::string& path) const {
  AtomicFile file(path);
  write_file(root_, file);
  file.finish();
}

}  // namespace horngate::files::hdf5
