#include "files/safetensors.h"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <set>

#include "files/atomic_file.h"
#include "files/json.h"

namespace horngate::files::safetensors {
namespace {

// Elements are copied as they are.
static_assert(std::endian::native == std::endian::little, "safetensors files are little endian");

constexpr uint64_t kMostHeader = 32 << 20;  // the format allows 100 MB; 25,000 tensors take 3
constexpr char kMetadata[] = "__metadata__";

// By DType.
constexpr const char* kNames[kDTypeCount] = {"F16", "BF16", "F32", "F64", "I8",  "I16", "I32",
                                             "I64", "U8",   "U16", "U32", "U64", "BOOL"};

DType dtype_of(const Source& source, const std::string& tensor, const std::string& name) {
  const auto* const found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames))
    throw NotImplementedError(
        join(source.name(), ": tensor ", shown(tensor), " has dtype ", shown(name),
             ", which is not read. Convert it to F32 or F16 and save it again."));
  return static_cast<DType>(found - std::begin(kNames));
}

template <class... Parts>
[[noreturn]] void wrong(const Source& source, const std::string& tensor, const Parts&... parts) {
  throw ValueError(
      join(source.name(), ": tensor ", shown(tensor), " in the header at byte 8: ", parts...));
}

// A size: an integer from 0 on.
uint64_t size_from(const Source& source, const std::string& tensor, const char* what,
                   const Json& value) {
  if (!value.is_number_integer() || (!value.is_number_unsigned() && value.get<int64_t>() < 0))
    wrong(source, tensor, what, " must be integers from 0 on; got ", shown(write_json(value)), ".");
  return value.get<uint64_t>();
}

Tensor read_entry(const Source& source, const std::string& name, const Json& entry,
                  uint64_t begin_of_data) {
  if (!entry.is_object()) wrong(source, name, "it must be an object.");
  for (const auto& [key, value] : entry.items())
    if (key != "dtype" && key != "shape" && key != "data_offsets")
      wrong(source, name, "it must have dtype, shape and data_offsets; got ", shown(key), ".");
  const auto field = [&](const char* key, bool fits, const char* must) -> const Json& {
    if (!entry.contains(key)) wrong(source, name, "it must have ", key, ".");
    if (!fits) wrong(source, name, key, " must be ", must, ".");
    return entry[key];
  };
  const auto is = [&](const char* key, Json::value_t type) {
    return !entry.contains(key) || entry[key].type() == type;
  };
  Tensor tensor;
  tensor.name = name;
  tensor.dtype = dtype_of(
      source, name,
      field("dtype", is("dtype", Json::value_t::string), "a string").get_ref<const std::string&>());
  const Json& shape = field("shape", is("shape", Json::value_t::array), "a list");
  if (shape.size() > 64)
    wrong(source, name, "shape must have at most 64 dimensions; got ", shape.size(), ".");
  for (const Json& dim : shape) {
    const uint64_t size = size_from(source, name, "dimensions", dim);
    if (size > static_cast<uint64_t>(INT64_MAX))
      wrong(source, name, "dimension ", size, " is too large.");
    tensor.dims.push_back(static_cast<int64_t>(size));
  }
  const auto bytes = checked_bytes(tensor.dims, size_of(tensor.dtype));
  if (!bytes) wrong(source, name, "its shape has more bytes than can be counted.");
  tensor.bytes = *bytes;
  const Json& offsets = field("data_offsets", is("data_offsets", Json::value_t::array), "a list");
  if (offsets.size() != 2)
    wrong(source, name, "data_offsets must be two; got ", offsets.size(), ".");
  const uint64_t begin = size_from(source, name, "data_offsets", offsets[0]);
  const uint64_t end = size_from(source, name, "data_offsets", offsets[1]);
  if (end < begin || end - begin != tensor.bytes)
    wrong(source, name, "its shape needs ", tensor.bytes, " bytes; data_offsets are ", begin,
          " and ", end, ".");
  if (end > source.size() - begin_of_data)
    wrong(source, name, "data_offsets end at ", end, "; the file has ",
          source.size() - begin_of_data, " bytes of data.");
  tensor.place = begin_of_data + begin;
  return tensor;
}

void read_metadata(const Source& source, const Json& value, Metadata& metadata) {
  const auto fail = [&] {
    throw ValueError(
        join(source.name(), ": at byte 8: __metadata__ must be an object of strings."));
  };
  if (!value.is_object()) fail();
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) fail();
    metadata.emplace(key, text.get<std::string>());
  }
}

}  // namespace

Reader::Reader(std::shared_ptr<const Source> from) : source_(std::move(from)) {
  const Source& source = *source_;
  const auto length = source.read(0, 8, "the length of the header");
  const uint64_t size = Cursor(source, length, 0, "the length").u64();
  if (size > kMostHeader)
    source.malformed(0, "the header has ", size, " bytes; ", kMostHeader, " are the most.");
  const auto header = source.read(8, size, "the header");
  const std::string_view text = as_text(header);
  if (!text.starts_with('{')) source.malformed(8, "the header must begin with {.");
  const Json entries = read_json(text, join(source.name(), ": header, which begins at byte 8"));
  if (!entries.is_object()) source.malformed(8, "the header must be an object.");
  for (const auto& [name, entry] : entries.items()) {
    if (name == kMetadata)
      read_metadata(source, entry, metadata_);
    else
      tensors_.push_back(read_entry(source, name, entry, 8 + size));
  }
  std::stable_sort(tensors_.begin(), tensors_.end(), [](const Tensor& a, const Tensor& b) {
    return std::pair(a.place, a.bytes) < std::pair(b.place, b.bytes);
  });
  uint64_t at = 8 + size;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const Tensor& t = tensors_[i];
    if (t.place != at)
      source.malformed(std::min(t.place, at), "tensor ", shown(t.name), " must begin at byte ", at,
                       "; got ", t.place,
                       t.place < at ? ": tensors overlap." : ": there is a gap.");
    at += t.bytes;
    by_name_.emplace(t.name, i);
  }
  if (at != source.size()) source.malformed(at, source.size() - at, " bytes belong to no tensor.");
}

const Tensor& Reader::tensor(std::string_view name) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end())
    throw ValueError(join(source_->name(), ": there is no tensor ", shown(name), "."));
  return tensors_[found->second];
}

void Reader::read(const Tensor& tensor, std::span<std::byte> into) const {
  if (into.size() != tensor.bytes)
    throw ValueError(join(source_->name(), ": tensor ", shown(tensor.name), " has ", tensor.bytes,
                          " bytes; the memory for it has ", into.size(), "."));
  source_->read(tensor.place, into, "a tensor");
  if (tensor.dtype == DType::bool_)
    for (size_t i = 0; i < into.size(); ++i)
      if (into[i] > std::byte{1})
        source_->malformed(tensor.place + i, "element ", i, " of tensor ", shown(tensor.name),
                           " must be 0 or 1; got ", static_cast<int>(into[i]), ".");
}

void save(const std::string& path, std::vector<Input> tensors, const Metadata& metadata) {
  // Wide elements first, so that all are aligned; as the format's own library does it.
  std::sort(tensors.begin(), tensors.end(), [](const Input& a, const Input& b) {
    return size_of(a.dtype) != size_of(b.dtype) ? size_of(a.dtype) > size_of(b.dtype)
                                                : a.name < b.name;
  });
  Json header = Json::object();
  if (!metadata.empty()) {
    Json texts = Json::object();
    for (const auto& [key, text] : metadata) texts[key] = text;
    header[kMetadata] = std::move(texts);
  }
  std::set<std::string_view> names;
  auto& members =
      static_cast<std::vector<Json::object_t::value_type>&>(header.get_ref<Json::object_t&>());
  uint64_t at = 0;
  for (const Input& t : tensors) {
    const auto bytes = checked_bytes(t.dims, size_of(t.dtype));
    if (!bytes || *bytes != t.elements.size())
      throw ValueError(join(path, ": tensor ", shown(t.name),
                            ": shape and elements must agree; got ", t.elements.size(), " bytes."));
    if (t.name == kMetadata)
      throw ValueError(join(path, ": a tensor must not have the name ", shown(t.name),
                            ", which the format has for something else."));
    if (!names.insert(t.name).second)
      throw ValueError(join(path, ": two tensors must not have the name ", shown(t.name), "."));
    Json shape = Json::array();
    for (const int64_t dim : t.dims) shape.push_back(dim);
    Json entry = {{"dtype", kNames[static_cast<int>(t.dtype)]},
                  {"shape", std::move(shape)},
                  {"data_offsets", Json::array({at, at + *bytes})}};
    members.emplace_back(t.name, std::move(entry));
    at += *bytes;
  }
  std::string text = write_json(header);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() > kMostHeader)
    throw ValueError(join(path, ": the header must have at most ", kMostHeader, " bytes."));
  AtomicFile file(path);
  const uint64_t size = text.size();
  file.write(std::as_bytes(std::span(&size, 1)));
  file.write(as_bytes(text));
  for (const Input& t : tensors) file.write(t.elements);
  file.finish();
}

}  // namespace horngate::files::safetensors
