#include "files/hdf5_reader.h"

#include <algorithm>

#include "files/hdf5_file.h"

namespace horngate::files::hdf5 {
namespace {

// Elements that are not in the file take memory that the file does not justify.
constexpr uint64_t kMostUnwritten = 1 << 20;
constexpr ptrdiff_t kMostDepth = 512;

Cursor cursor_of(const Source& source, const Message& m, std::string_view what) {
  if (m.shared())
    source.unsupported(m.place, what,
                       " is shared with other objects (a committed type), which is not read. ",
                       kRemedy);
  return Cursor(source, m.data, m.place, what);
}

const Message& required(const Source& source, const Header& header, MessageType type,
                        std::string_view what) {
  const Message* m = header.find(type);
  if (!m) source.malformed(header.place, "a data set has no ", what, ".");
  return *m;
}

bool is_dataset(const Header& header) { return header.find(MessageType::layout) != nullptr; }
bool is_group(const Header& header) {
  return header.find(MessageType::symbol_table) != nullptr ||
         header.find(MessageType::link_info) != nullptr;
}

}  // namespace

Attribute::Attribute(FilePtr file, std::string label, std::string name, Cursor c, uint8_t version)
    : Values(std::move(file), std::move(label)), name_(std::move(name)) {
  const Source& source = *file_->source;
  const uint64_t place = c.place();
  c.skip(1);
  const uint8_t flags = c.u8();
  if (version > 1 && flags != 0)
    source.unsupported(place, label_, " has a committed type, which is not read. ", kRemedy);
  const uint16_t name_size = c.u16(), type_size = c.u16(), space_size = c.u16();
  if (version == 3) c.skip(1);
  const auto padded = [&](uint64_t size) { return version == 1 ? (size + 7) / 8 * 8 : size; };
  c.skip(padded(name_size));
  Cursor type = c.part(padded(type_size), "the type of an attribute");
  Cursor space = c.part(padded(space_size), "the shape of an attribute");
  const Type element = read_type(type);
  set(element, read_space(space), place);
  const Bytes data = c.bytes(bytes_);
  held_.assign(data.begin(), data.end());
}

Object::Object(FilePtr file, uint64_t address, std::string path, bool first)
    : file_(std::move(file)), path_(std::move(path)) {
  const Source& source = *file_->source;
  header_ =
      std::make_shared<const Header>(read_header(source, address, first ? &file_->parts : nullptr));
  for (const Message& m : header_->messages) {
    if (m.type == MessageType::attribute) attributes_.emplace_back(name_of(m), &m);
    if (m.type == MessageType::attribute_info) {
      Cursor c(source, m.data, m.place, "an attribute info message");
      if (const int version = c.u8(); version != 0)
        c.malformed("an attribute info message has version ", version, ".");
      if (c.u8() & 1) c.skip(2);
      if (c.u64() != kUndefined)
        source.unsupported(m.place, "the attributes of ", shown(path_),
                           " are in dense storage (a fractal heap), which is not read. ", kRemedy);
    }
  }
  const auto by_name = [](const auto& a, const auto& b) { return a.first < b.first; };
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  std::sort(attributes_.begin(), attributes_.end(), by_name);
  if (const auto twice = std::adjacent_find(attributes_.begin(), attributes_.end(), same);
      twice != attributes_.end())
    source.malformed(address, "two attributes of ", shown(path_), " have the name ",
                     shown(twice->first), ".");
}

std::string_view Object::name_of(const Message& m) const {
  Cursor c = cursor_of(*file_->source, m, "an attribute");
  const int version = c.u8();
  if (version < 1 || version > 3) c.malformed("an attribute has version ", version, ".");
  c.skip(1);
  const uint16_t size = c.u16();
  c.skip(version == 3 ? 5 : 4);
  Cursor name = c.part(size, "the name of an attribute");
  return name.text();
}

std::vector<std::string> Object::attribute_names() const {
  std::vector<std::string> names;
  for (const auto& [name, message] : attributes_) names.emplace_back(name);
  return names;
}

const Message* Object::find(std::string_view wanted) const {
  const auto found =
      std::lower_bound(attributes_.begin(), attributes_.end(), wanted,
                       [](const auto& entry, std::string_view name) { return entry.first < name; });
  return found != attributes_.end() && found->first == wanted ? found->second : nullptr;
}

Attribute Object::attribute(std::string_view name) const {
  const Source& source = *file_->source;
  const Message* m = find(name);
  if (!m)
    throw ValueError(
        join(source.name(), ": ", shown(path_), " has no attribute ", shown(name), "."));
  return Attribute(file_, join("attribute ", shown(name), " of ", shown(path_)), std::string(name),
                   cursor_of(source, *m, "an attribute"), static_cast<uint8_t>(m->data[0]));
}

Dataset::Dataset(const Object& object)
    : Object(object), Values(Object::file_, join("data set ", shown(object.path()))) {
  const Source& source = *Values::file_->source;
  if (const Message* m = header_->find(MessageType::filters))
    source.unsupported(m->place, label_,
                       " goes through filters (compression), which are not read. ", kRemedy);
  if (const Message* m = header_->find(MessageType::external_files))
    source.unsupported(m->place, label_, " has its data in other files, which are not read. ",
                       kRemedy);
  const Message& type_message = required(source, *header_, MessageType::type, "type");
  Cursor type = cursor_of(source, type_message, "a type");
  Cursor space =
      cursor_of(source, required(source, *header_, MessageType::space, "shape"), "a shape");
  const Type element = read_type(type);
  set(element, read_space(space), type_message.place);
  read_layout(required(source, *header_, MessageType::layout, "layout"));
}

void Dataset::read_layout(const Message& message) {
  const Source& source = *Values::file_->source;
  Cursor c = cursor_of(source, message, "a layout");
  const int version = c.u8();
  if (version < 3 || version > 5)
    source.unsupported(message.place, label_, " has a layout of version ", version,
                       ", which is not read. ", kRemedy);
  const int layout = c.u8();
  if (layout == 2)
    source.unsupported(message.place, label_, " is chunked, which is not read. ", kRemedy);
  if (layout == 3)
    source.unsupported(message.place, label_, " is virtual, which is not read. ", kRemedy);
  if (layout > 3) source.malformed(message.place, label_, " has a layout of class ", layout, ".");
  if (layout == 0) {
    const Bytes data = c.bytes(c.u16());
    if (data.size() != bytes_)
      source.malformed(message.place, label_, " needs ", bytes_, " bytes; ", data.size(),
                       " are there.");
    held_.assign(data.begin(), data.end());
    return;
  }
  const uint64_t address = c.u64(), size = c.u64();
  if (bytes_ == 0) return;
  if (address == kUndefined) {
    if (bytes_ > kMostUnwritten)
      source.unsupported(message.place, label_, " was never written and has ", bytes_, " bytes; ",
                         kMostUnwritten, " are the most. Write it through h5py.");
    read_fill();
    return;
  }
  if (size != bytes_)
    source.malformed(message.place, label_, " needs ", bytes_, " bytes; ", size, " are there.");
  source.check_extent(address, size, "the data of a data set");
  if (Values::file_->claimed_data.insert(header_->place).second)
    Values::file_->parts.claim(address, size, "the data of a data set");
  data_ = address;
}

// What elements are that were never written.
void Dataset::read_fill() {
  const Source& source = *Values::file_->source;
  const Message* m = header_->find(MessageType::fill_value);
  if (!m || type_.kind != Kind::number) return;
  Cursor c = cursor_of(source, *m, "a fill value");
  const int version = c.u8();
  bool defined = true;
  if (version == 1 || version == 2) {
    c.skip(2);
    defined = c.u8() != 0;
  } else if (version == 3) {
    defined = (c.u8() & 0x20) != 0;
  } else {
    c.malformed("a fill value has version ", version, ".");
  }
  if (!defined) return;
  const uint32_t size = c.u32();
  if (size == 0) return;
  if (size != type_.size)
    c.malformed("a fill value has ", size, " bytes; elements have ", type_.size, ".");
  const Bytes value = c.bytes(size);
  fill_.assign(value.begin(), value.end());
}

Group::Group(const Object& object) : Object(object) {
  std::shared_ptr<const Links>& known = file_->links[header_->place];
  if (!known)
    known = std::make_shared<const Links>(
        read_links(*file_->source, *header_, file_->parts, file_->links_left));
  links_ = known;
}

Object Group::member(std::string_view name) const {
  const Source& source = *file_->source;
  const auto found = links_->find(name);
  if (found == links_->end())
    throw ValueError(join(source.name(), ": ", shown(path_), " has no member ", shown(name), "."));
  const Link& link = found->second;
  if (link.kind != Link::Kind::hard)
    source.unsupported(link.place, shown(path_), " has ",
                       link.kind == Link::Kind::soft       ? "a soft link"
                       : link.kind == Link::Kind::external ? "an external link"
                                                           : "a link of a user's own kind",
                       ", ", shown(name), ", which is not followed. ", kRemedy);
  std::string inner = join(path_ == "/" ? "" : path_, "/", name);
  if (std::count(inner.begin(), inner.end(), '/') > kMostDepth)
    source.malformed(link.place, "groups are nested deeper than ", kMostDepth, ".");
  const bool first = file_->enter(link.address, header_->place, name, link.place);
  return Object(file_, link.address, std::move(inner), first);
}

Object Group::follow(std::string_view path) const {
  Group at = *this;
  while (true) {
    const size_t slash = path.find('/');
    Object object = at.member(path.substr(0, slash));
    if (slash == path.npos) return object;
    path.remove_prefix(slash + 1);
    at = as_group(object);
  }
}

Group Group::as_group(const Object& object) const {
  if (!hdf5::is_group(*object.header_))
    throw ValueError(join(file_->source->name(), ": ", shown(object.path_), " must be a group."));
  return Group(object);
}

bool Group::has(std::string_view path) const {
  Group at = *this;
  while (true) {
    const size_t slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    if (!at.links_->contains(name)) return false;
    if (slash == path.npos) return true;
    path.remove_prefix(slash + 1);
    const Object object = at.member(name);
    if (!hdf5::is_group(*object.header_)) return false;
    at = Group(object);
  }
}

bool Group::is_group(std::string_view path) const { return hdf5::is_group(*follow(path).header_); }

Group Group::group(std::string_view path) const { return as_group(follow(path)); }

Dataset Group::dataset(std::string_view path) const {
  const Object object = follow(path);
  if (!is_dataset(*object.header_))
    throw ValueError(
        join(file_->source->name(), ": ", shown(object.path_), " must be a data set."));
  return Dataset(object);
}

Group open_root(FilePtr file) {
  file->enter(file->root, kUndefined, "/", 0);
  const Object object(file, file->root, "/", true);
  if (!is_group(*object.header_)) file->source->malformed(file->root, "the root must be a group.");
  return Group(object);
}

Group open(std::shared_ptr<const Source> source) { return open_root(open_file(std::move(source))); }
Group open(const std::string& path) { return open(Source::open(path)); }

void walk(const Group& root, const std::function<void(const Group&)>& on_group,
          const std::function<void(const Dataset&)>& on_dataset) {
  struct Level {
    Group group;
    Links::const_iterator next;
  };
  on_group(root);
  std::vector<Level> levels = {{root, root.links().begin()}};
  while (!levels.empty()) {
    Level& level = levels.back();
    if (level.next == level.group.links().end()) {
      levels.pop_back();
      continue;
    }
    const std::string& name = (level.next++)->first;
    if (level.group.is_group(name)) {
      const Group group = level.group.group(name);
      on_group(group);
      levels.push_back({group, group.links().begin()});
    } else {
      on_dataset(level.group.dataset(name));
    }
  }
}

}  // namespace horngate::files::hdf5
