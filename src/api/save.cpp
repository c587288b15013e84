// Arrays and variables in files.
#include "horngate/save.h"

#include "files/npz.h"
#include "files/safetensors.h"
#include "ir/check.h"
#include "ir/variable.h"

namespace horngate {
namespace {

enum class Format { npy, npz, safetensors };

Format format_of(const char* function, const std::string& path) {
  if (path.ends_with(".npy")) return Format::npy;
  if (path.ends_with(".npz")) return Format::npz;
  check(path.ends_with(".safetensors"), function,
        "the file must end in .npz, .safetensors or .npy; got \"", path, "\".");
  return Format::safetensors;
}

files::Bytes bytes_of(const Array& a) {
  return {static_cast<const std::byte*>(a.raw()), a.nbytes()};
}

std::span<std::byte> room_of(const Array& a) {
  return {static_cast<std::byte*>(a.raw()), a.nbytes()};
}

/// As files take it. TypeError for what they cannot hold.
Array storable(const std::string& name, const Array& a) {
  check(a.defined(), "save", "\"", name, "\" is an empty array.");
  check<TypeError>(!a.is_sparse(), "save", "\"", name,
                   "\" is sparse; save its parts, or its dense form (to_dense).");
  return a.contiguous();
}

/// The variables' names, which must differ: files know arrays by name.
std::vector<std::string> names_of(const char* function, const std::vector<Variable>& variables) {
  std::vector<std::string> names;
  std::map<std::string, int> seen;
  for (const Variable& v : variables) {
    names.push_back(variable_state(v, function).name);
    check(++seen[names.back()] == 1, function, "two variables are called \"", names.back(),
          "\"; give them different names, or save arrays by name.");
  }
  return names;
}

template <class Input>
std::vector<Input> inputs_of(const NamedArrays& arrays) {
  std::vector<Input> inputs;
  for (const auto& [name, a] : arrays)
    inputs.push_back({.name = name, .dtype = a.dtype(), .dims = a.dims(), .elements = bytes_of(a)});
  return inputs;
}

}  // namespace

void save(const std::string& path, const NamedArrays& arrays) {
  NamedArrays stored;
  for (const auto& [name, a] : arrays) stored[name] = storable(name, a);
  switch (format_of("save", path)) {
    case Format::npy:
      fail("save", "an .npy file holds one array without a name; got named arrays. Use .npz.");
    case Format::npz: return files::npz::save(path, inputs_of<files::npz::Input>(stored));
    case Format::safetensors:
      return files::safetensors::save(path, inputs_of<files::safetensors::Input>(stored));
  }
}

void save(const std::string& path, const std::vector<Variable>& variables) {
  const std::vector<std::string> names = names_of("save", variables);
  const Arrays values = batch_get_value(variables);
  NamedArrays arrays;
  for (size_t i = 0; i < names.size(); ++i) arrays[names[i]] = values[i];
  save(path, arrays);
}

void save(const std::string& path, const Array& array) {
  check(format_of("save", path) == Format::npy, "save",
        "one array without a name goes to an .npy file; got \"", path, "\".");
  const Array a = storable(path, array);
  files::npy::save(path, a.dtype(), a.dims(), bytes_of(a));
}

Array load_array(const std::string& path) {
  check(format_of("load_array", path) == Format::npy, "load_array",
        "the file must end in .npy; got \"", path, "\". load() reads the others.");
  const auto source = files::Source::open(path);
  const files::npy::Array found = files::npy::read_header(*source, 0, source->size());
  Array a(found.dtype, found.dims);
  files::npy::read(*source, found, room_of(a));
  return a;
}

NamedArrays load(const std::string& path) {
  NamedArrays arrays;
  const auto room = [&](const std::string& name, DType dtype, const Ints& dims) {
    return room_of(arrays[name] = Array(dtype, dims));
  };
  switch (format_of("load", path)) {
    case Format::npy: arrays[""] = load_array(path); break;
    case Format::npz: {
      const files::npz::Reader file(path);
      for (const auto& m : file.members()) file.read(m, room(m.name, m.array.dtype, m.array.dims));
      break;
    }
    case Format::safetensors: {
      const files::safetensors::Reader file(path);
      for (const auto& t : file.tensors()) file.read(t, room(t.name, t.dtype, t.dims));
    }
  }
  return arrays;
}

void load(const std::string& path, const std::vector<Variable>& variables) {
  const std::vector<std::string> names = names_of("load", variables);
  const NamedArrays arrays = load(path);
  std::vector<std::pair<Variable, Array>> values;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto found = arrays.find(names[i]);
    check(found != arrays.end(), "load", path, " has no array named \"", names[i], "\".");
    values.emplace_back(variables[i], found->second);
  }
  batch_set_value(values);
}

}  // namespace horngate
