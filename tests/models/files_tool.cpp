// For tests/python/test_keras_files.py: files as text, and text as files. Each line of standard input is a task,
// each line of standard output what came of it; bytes are written in hexadecimal.
//   {"do": "dump", "file": "x.h5"}                       also .safetensors, .npz, .npy
//   {"do": "save", "file": "x.h5", "objects": [...]}     objects as dump writes them
//   {"do": "json", "text": hex, "sort": false}           read and written again
#include <sys/resource.h>

#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

#include "files/hdf5_reader.h"
#include "files/hdf5_writer.h"
#include "files/json.h"
#include "files/npz.h"
#include "files/safetensors.h"

namespace {

using namespace horngate;
using namespace horngate::files;

constexpr const char* kDTypes[kDTypeCount] = {"float16", "bfloat16", "float32", "float64", "int8",
                                              "int16",   "int32",    "int64",   "uint8",   "uint16",
                                              "uint32",  "uint64",   "bool"};

std::string hex(Bytes bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const std::byte b : bytes)
    out += {kDigits[static_cast<int>(b) >> 4], kDigits[static_cast<int>(b) & 15]};
  return out;
}
std::string hex(std::string_view text) { return hex(as_bytes(text)); }
std::string unhex(const Json& value) {
  const std::string& text = value.get_ref<const std::string&>();
  std::string out;
  for (size_t i = 0; i + 1 < text.size(); i += 2)
    out += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  return out;
}
Json dims_json(const Ints& dims) {
  Json out = Json::array();
  for (const int64_t dim : dims) out.push_back(dim);
  return out;
}
Ints dims_from(const Json& value) {
  Ints dims;
  for (const Json& dim : value) dims.push_back(dim.get<int64_t>());
  return dims;
}
DType dtype_from_name(const std::string& name) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (name == kDTypes[i]) return static_cast<DType>(i);
  throw ValueError("no dtype " + name);
}

Json values_json(const hdf5::Values& values) {
  Json out = Json::object();
  out["dims"] = dims_json(values.space().dims);
  out["null"] = values.space().null;
  if (values.type().kind == hdf5::Kind::number) {
    std::vector<std::byte> data(values.nbytes());
    values.read(data);
    out["dtype"] = kDTypes[static_cast<int>(values.type().dtype)];
    out["data"] = hex(data);
  } else {
    out["dtype"] = values.type().kind == hdf5::Kind::fixed_text ? "fixed" : "varying";
    Json texts = Json::array();
    for (const std::string& text : values.texts()) texts.push_back(hex(text));
    out["texts"] = std::move(texts);
  }
  return out;
}

Json object_json(const hdf5::Object& object, const char* kind) {
  Json out = Json::object();
  out["path"] = hex(object.path());
  out["kind"] = kind;
  Json attributes = Json::object();
  for (const std::string& name : object.attribute_names())
    attributes[hex(name)] = values_json(object.attribute(name));
  out["attributes"] = std::move(attributes);
  return out;
}

Json dump_hdf5(const std::string& path) {
  Json out = Json::array();
  hdf5::walk(
      hdf5::open(path),
      [&](const hdf5::Group& group) { out.push_back(object_json(group, "group")); },
      [&](const hdf5::Dataset& data) {
        Json object = object_json(data, "data");
        object["value"] = values_json(data);
        out.push_back(std::move(object));
      });
  return out;
}

void save_hdf5(const std::string& path, const Json& objects) {
  hdf5::Writer file;
  std::vector<std::unique_ptr<std::string>> kept;
  for (const Json& object : objects) {
    const std::string where = unhex(object["path"]).substr(1);
    hdf5::AttributeWriter* target;
    if (object["kind"] == "group") {
      target = where.empty() ? &file.root() : &file.root().group(where);
    } else {
      const Json& value = object["value"];
      kept.push_back(std::make_unique<std::string>(unhex(value["data"])));
      target = &file.root().set_data(where, dtype_from_name(value["dtype"]),
                                     dims_from(value["dims"]), as_bytes(*kept.back()));
    }
    for (const auto& [name, value] : object["attributes"].items()) {
      const std::string plain = unhex(name);
      if (value["dtype"] == "varying") {
        target->set_text(plain, unhex(value["texts"][0]));
      } else if (value["dtype"] == "fixed") {
        std::vector<std::string> texts;
        for (const Json& text : value["texts"]) texts.push_back(unhex(text));
        target->set_texts(plain, texts);
      } else {
        target->set_numbers(plain, dtype_from_name(value["dtype"]), dims_from(value["dims"]),
                            as_bytes(unhex(value["data"])));
      }
    }
  }
  file.save(path);
}

Json dump_safetensors(const std::string& path) {
  const safetensors::Reader file(path);
  Json tensors = Json::array(), metadata = Json::object();
  for (const safetensors::Tensor& t : file.tensors()) {
    std::vector<std::byte> data(t.bytes);
    file.read(t, data);
    tensors.push_back({{"name", hex(t.name)},
                       {"dtype", kDTypes[static_cast<int>(t.dtype)]},
                       {"dims", dims_json(t.dims)},
                       {"data", hex(data)}});
  }
  for (const auto& [key, text] : file.metadata()) metadata[hex(key)] = hex(text);
  return {{"tensors", std::move(tensors)}, {"metadata", std::move(metadata)}};
}

void save_safetensors(const std::string& path, const Json& task) {
  std::vector<safetensors::Input> inputs;
  std::vector<std::unique_ptr<std::string>> kept;
  for (const Json& t : task["tensors"]) {
    kept.push_back(std::make_unique<std::string>(unhex(t["data"])));
    inputs.push_back({unhex(t["name"]), dtype_from_name(t["dtype"]), dims_from(t["dims"]),
                      as_bytes(*kept.back())});
  }
  safetensors::Metadata metadata;
  for (const auto& [key, text] : task["metadata"].items()) metadata[unhex(key)] = unhex(text);
  safetensors::save(path, std::move(inputs), metadata);
}

Json array_json(const Source& source, const npy::Array& array, const std::string& name) {
  std::vector<std::byte> data(array.bytes);
  npy::read(source, array, data);
  return {{"name", hex(name)},
          {"dtype", kDTypes[static_cast<int>(array.dtype)]},
          {"dims", dims_json(array.dims)},
          {"data", hex(data)}};
}

Json dump_numpy(const std::string& path) {
  const auto source = Source::open(path);
  Json tensors = Json::array();
  if (path.ends_with(".npy")) {
    tensors.push_back(array_json(*source, npy::read_header(*source, 0, source->size()), ""));
  } else {
    const npz::Reader file(source);
    for (const npz::Member& member : file.members()) {
      std::vector<std::byte> data(member.array.bytes);
      file.read(member, data);  // checks the sum too
      tensors.push_back(array_json(*source, member.array, member.name));
    }
  }
  Json out = Json::object();
  out["tensors"] = std::move(tensors);
  return out;
}

void save_numpy(const std::string& path, const Json& task) {
  std::vector<npz::Input> inputs;
  std::vector<std::unique_ptr<std::string>> kept;
  for (const Json& t : task["tensors"]) {
    kept.push_back(std::make_unique<std::string>(unhex(t["data"])));
    inputs.push_back({unhex(t["name"]), dtype_from_name(t["dtype"]), dims_from(t["dims"]),
                      as_bytes(*kept.back())});
  }
  if (path.ends_with(".npz")) return npz::save(path, inputs);
  npy::save(path, inputs[0].dtype, inputs[0].dims, inputs[0].elements);
}

Json run(const Json& task) {
  const std::string what = task["do"];
  if (what == "json")
    return hex(write_json(read_json(unhex(task["text"]), "text"), task["sort"].get<bool>()));
  const std::string file = task["file"];
  const bool hdf5_file = file.ends_with(".h5"),
             numpy = file.ends_with(".npz") || file.ends_with(".npy");
  if (what == "dump")
    return hdf5_file ? dump_hdf5(file) : numpy ? dump_numpy(file) : dump_safetensors(file);
  if (what == "save") {
    hdf5_file ? save_hdf5(file, task["objects"])
    : numpy   ? save_numpy(file, task)
              : save_safetensors(file, task);
    return true;
  }
  throw ValueError("no task " + what);
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    Json answer = Json::object();
    const auto start = std::chrono::steady_clock::now();
    try {
      answer["result"] = run(Json::parse(line));
    } catch (const Error& e) {
      answer["error"] = e.what();
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    answer["seconds"] = took.count();
    answer["peak_mb"] = usage.ru_maxrss / 1024.0;
    std::cout << answer.dump(-1, ' ', true, Json::error_handler_t::replace) << std::endl;
  }
}
