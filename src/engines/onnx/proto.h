// The part of protobuf and of ONNX's message types needed to write a model. Field numbers are those of onnx.proto.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace horngate::onnx {

using Ints = std::vector<int64_t>;

/// The opset of models. 18 (ONNX 1.13) is the first in which all reductions take axes as operands and ScatterND can
/// add; every later runtime reads it.
inline constexpr int64_t kOpset = 18;
inline constexpr int64_t kIrVersion = 8;

/// Bytes of a message, field by field.
class Message {
 public:
  static Message of(std::string fields) {
    Message m;
    m.data_ = std::move(fields);
    return m;
  }
  Message& number(int field, int64_t value);
  Message& real(int field, float value);
  Message& bytes(int field, std::string_view value);
  Message& message(int field, const Message& value) { return bytes(field, value.data_); }
  const std::string& data() const { return data_; }
  bool empty() const { return data_.empty(); }

 private:
  void varint(uint64_t value);
  std::string data_;
};

/// Attributes of a node.
class Attributes {
 public:
  Attributes& number(std::string_view name, int64_t value);
  Attributes& real(std::string_view name, double value);
  Attributes& text(std::string_view name, std::string_view value);
  Attributes& ints(std::string_view name, const Ints& values);
  Attributes& graph(std::string_view name, const Message& graph);
  const std::vector<Message>& all() const { return all_; }

 private:
  std::vector<Message> all_;
};

/// The number of an HG_ dtype in ONNX, and also in ONNX Runtime.
int onnx_type(int32_t dtype);
size_t bytes_of(int32_t dtype);

Message make_node(std::string_view op, const std::vector<std::string>& in,
                  const std::vector<std::string>& out, const Attributes& attributes,
                  std::string_view name);
Message make_tensor(std::string_view name, int32_t dtype, const Ints& dims, std::string_view raw);
/// A dimension below 0 is open: it has no number, or a name if `names` has one for it.
Message make_value_info(std::string_view name, int32_t dtype, const Ints& dims,
                        const std::vector<std::string>& names = {});
Message make_model(const Message& graph, std::string_view version);

}  // namespace horngate::onnx
