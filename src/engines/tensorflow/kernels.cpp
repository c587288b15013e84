// Which element types TensorFlow has kernels for. It lists them itself, so this holds for every version.
#include <cstring>
#include <mutex>
#include <set>
#include <string_view>

#include "graph.h"

namespace horngate::tf {
namespace {

/// Reads a message in protocol buffer form, field by field.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

  /// Moves to the next field; false at the end.
  bool next() {
    if (at_ >= end_) return false;
    const uint64_t tag = varint();
    field = static_cast<int>(tag >> 3);
    number = 0;
    bytes = {};
    switch (tag & 7) {
      case 0: number = varint(); return true;
      case 1: return skip(8);
      case 2: {
        const uint64_t n = varint();
        if (n > static_cast<uint64_t>(end_ - at_)) return false;
        bytes = {at_, static_cast<size_t>(n)};
        at_ += n;
        return true;
      }
      case 5: return skip(4);
      default: return false;
    }
  }
  uint64_t varint() {
    uint64_t v = 0;
    for (int shift = 0; at_ < end_ && shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(*at_++);
      v |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) break;
    }
    return v;
  }
  bool at_end() const { return at_ >= end_; }

  int field = 0;
  uint64_t number = 0;
  std::string_view bytes;

 private:
  bool skip(int n) {
    if (end_ - at_ < n) return false;
    at_ += n;
    return true;
  }
  const char *at_, *end_;
};

/// Types of a constraint on an attribute: AttrConstraint { name = 1, allowed_values = 2 { list = 1 { type = 6 } } }.
void read_constraint(std::string_view text, std::string_view attr, std::set<int>& types,
                     bool& named) {
  std::string_view name, values;
  for (Reader r(text); r.next();) (r.field == 1 ? name : values) = r.bytes;
  if (name != attr) return;
  named = true;
  for (Reader r(values); r.next();) {
    if (r.field != 1) continue;
    for (Reader list(r.bytes); list.next();) {
      if (list.field != 6) continue;
      if (list.bytes.empty())
        types.insert(static_cast<int>(list.number));
      else
        for (Reader packed(list.bytes); !packed.at_end();)
          types.insert(static_cast<int>(packed.varint()));
    }
  }
}

struct Types {
  bool any = false;  // a kernel without a constraint takes all types
  std::set<int> types;
};

/// KernelList { kernel = 1 { op = 1, device_type = 2, constraint = 3, label = 5 } }
Types query(const char* op, const char* attr) {
  Types found;
  Status status;
  CBuffer* list = api().GetRegisteredKernelsForOp(op, status);
  if (!status.ok() || !list) return found;
  for (Reader r({static_cast<const char*>(list->data), list->length}); r.next();) {
    std::string_view device, label;
    std::set<int> types;
    bool named = false;
    for (Reader k(r.bytes); k.next();) {
      if (k.field == 2) device = k.bytes;
      if (k.field == 5) label = k.bytes;
      if (k.field == 3) read_constraint(k.bytes, attr, types, named);
    }
    // Kernels with a label are chosen only by TensorFlow's own rewriting.
    if (device != "CPU" || !label.empty()) continue;
    found.any |= !named;
    found.types.insert(types.begin(), types.end());
  }
  api().DeleteBuffer(list);
  return found;
}

const Types& types_of(const char* op, const char* attr) {
  static std::mutex mutex;
  static auto* known = new std::map<std::string, Types>;
  std::lock_guard lock(mutex);
  const std::string key = std::string(op) + "/" + attr;
  auto it = known->find(key);
  if (it == known->end()) it = known->emplace(key, query(op, attr)).first;
  return it->second;
}

}  // namespace

Type kernel_type(const char* op, Type wanted, const char* attr) {
  const Types& t = types_of(op, attr);
  const auto has = [&](Type one) { return t.any || t.types.count(one) != 0; };
  if (has(wanted)) return wanted;
  switch (wanted) {
    case kHalf:
    case kBfloat16:
      if (has(kFloat)) return kFloat;
      break;
    case kBool:
    case kInt8:
    case kUint8:
    case kInt16:
    case kUint16:
      if (has(kInt32)) return kInt32;
      [[fallthrough]];
    case kInt32:
    case kUint32:
    case kUint64:  // the same bits for sums and products
      if (has(kInt64)) return kInt64;
      break;
    default: break;
  }
  return kNoType;
}

}  // namespace horngate::tf
