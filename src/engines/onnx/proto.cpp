// Writing protobuf: a tag (field * 8 + wire type), then a varint, four bytes, or a length and bytes.
#include "proto.h"

#include <cstring>

#include "horngate/engine.h"

namespace horngate::onnx {

void Message::varint(uint64_t value) {
  for (; value > 127; value >>= 7) data_ += static_cast<char>((value & 127) | 128);
  data_ += static_cast<char>(value);
}

Message& Message::number(int field, int64_t value) {
  varint(static_cast<uint64_t>(field) << 3);
  varint(static_cast<uint64_t>(value));
  return *this;
}

Message& Message::real(int field, float value) {
  varint(static_cast<uint64_t>(field) << 3 | 5);
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  data_.append(raw, sizeof raw);
  return *this;
}

Message& Message::bytes(int field, std::string_view value) {
  varint(static_cast<uint64_t>(field) << 3 | 2);
  varint(value.size());
  data_ += value;
  return *this;
}

Attributes& Attributes::number(std::string_view name, int64_t value) {
  all_.push_back(Message().bytes(1, name).number(3, value).number(20, 2));
  return *this;
}

Attributes& Attributes::real(std::string_view name, double value) {
  all_.push_back(Message().bytes(1, name).real(2, static_cast<float>(value)).number(20, 1));
  return *this;
}

Attributes& Attributes::text(std::string_view name, std::string_view value) {
  all_.push_back(Message().bytes(1, name).bytes(4, value).number(20, 3));
  return *this;
}

Attributes& Attributes::ints(std::string_view name, const Ints& values) {
  Message m;
  m.bytes(1, name);
  for (int64_t v : values) m.number(8, v);
  all_.push_back(m.number(20, 7));
  return *this;
}

Attributes& Attributes::graph(std::string_view name, const Message& graph) {
  all_.push_back(Message().bytes(1, name).message(6, graph).number(20, 5));
  return *this;
}

int onnx_type(int32_t dtype) {
  switch (dtype) {
    case HG_FLOAT16: return 10;
    case HG_BFLOAT16: return 16;
    case HG_FLOAT32: return 1;
    case HG_FLOAT64: return 11;
    case HG_INT8: return 3;
    case HG_INT16: return 5;
    case HG_INT32: return 6;
    case HG_INT64: return 7;
    case HG_UINT8: return 2;
    case HG_UINT16: return 4;
    case HG_UINT32: return 12;
    case HG_UINT64: return 13;
    case HG_BOOL: return 9;
    default: return 0;
  }
}

size_t bytes_of(int32_t dtype) {
  switch (dtype) {
    case HG_FLOAT64:
    case HG_INT64:
    case HG_UINT64: return 8;
    case HG_FLOAT32:
    case HG_INT32:
    case HG_UINT32: return 4;
    case HG_FLOAT16:
    case HG_BFLOAT16:
    case HG_INT16:
    case HG_UINT16: return 2;
    default: return 1;
  }
}

Message make_node(std::string_view op, const std::vector<std::string>& in,
                  const std::vector<std::string>& out, const Attributes& attributes,
                  std::string_view name) {
  Message m;
  for (const std::string& i : in) m.bytes(1, i);
  for (const std::string& o : out) m.bytes(2, o);
  m.bytes(3, name).bytes(4, op);
  for (const Message& a : attributes.all()) m.message(5, a);
  return m;
}

Message make_tensor(std::string_view name, int32_t dtype, const Ints& dims, std::string_view raw) {
  Message m;
  for (int64_t d : dims) m.number(1, d);
  return m.number(2, onnx_type(dtype)).bytes(8, name).bytes(9, raw);
}

Message make_value_info(std::string_view name, int32_t dtype, const Ints& dims,
                        const std::vector<std::string>& names) {
  Message shape;
  for (size_t i = 0; i < dims.size(); ++i) {
    Message dim;
    if (dims[i] >= 0)
      dim.number(1, dims[i]);
    else if (i < names.size() && !names[i].empty())
      dim.bytes(2, names[i]);
    shape.message(1, dim);
  }
  const Message tensor = Message().number(1, onnx_type(dtype)).message(2, shape);
  return Message().bytes(1, name).message(2, Message().message(1, tensor));
}

Message make_model(const Message& graph, std::string_view version) {
  return Message()
      .number(1, kIrVersion)
      .bytes(2, "horngate")
      .bytes(3, version)
      .message(7, graph)
      .message(8, Message().bytes(1, "").number(2, kOpset));
}

}  // namespace horngate::onnx
