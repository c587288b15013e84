// Our own declarations with the binary layout of the few CNTK 2.7 types that are held by value. No virtual
// function is called and no vtable is made: the library's own constructors and destructors run on our memory,
// and everything else stays behind shared_ptr.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace horngate::cntk {

enum class DataType : unsigned { kFloat = 1, kDouble = 2 };
enum class VariableKind : unsigned { kInput = 0, kOutput = 1, kParameter = 2, kConstant = 3 };

/// Column-major: the first entry is the axis that varies fastest, so row-major shapes are reversed.
struct NDShape {
  std::vector<size_t> dims;
};

struct Axis {
  int index;
  std::wstring name;
  bool ordered = false;
};

struct Device {
  unsigned id = 0, kind = 0;  // the CPU
};

class Function;
class VariableFields;

struct NDArrayView : std::enable_shared_from_this<NDArrayView> {
  unsigned char rest[64];
};
static_assert(sizeof(NDArrayView) == 80);

struct VirtualHead {
  void* table;
};
struct Value : VirtualHead, std::enable_shared_from_this<Value> {
  std::shared_ptr<NDArrayView> data;
  std::shared_ptr<void> mask;
};
static_assert(sizeof(Value) == 56);

/// The vtable pointer is copied from objects that the library made and never followed.
struct Variable {
  void* table = nullptr;
  std::shared_ptr<VariableFields> fields;
  std::shared_ptr<const Function> composite;
  bool operator==(const Variable& other) const { return fields == other.fields; }
};
static_assert(sizeof(Variable) == 40);

using FunctionPtr = std::shared_ptr<Function>;
using ValuePtr = std::shared_ptr<Value>;
using ViewPtr = std::shared_ptr<NDArrayView>;

}  // namespace horngate::cntk

// Not noexcept, as in the library: that decides whether a map's nodes store their hash.
template <>
struct std::hash<horngate::cntk::Variable> {
  size_t operator()(const horngate::cntk::Variable& v) const {
    return std::hash<const void*>()(v.fields.get());
  }
};

namespace horngate::cntk {
using ValueMap = std::unordered_map<Variable, ValuePtr>;
}
