// The attributes of every primitive, generated from prims.def: attrs::softmax{.axis = 1}.
#pragma once

#include <string>

#include "horngate/array.h"
#include "horngate/tensor.h"
#include "ir/ref.h"
#include "ir/variable.h"

namespace horngate {

using Text = std::string;
using VariableRef = Ref<VariableState>;
using DrawRef = Ref<DrawState>;

/// A value inside the body of a scan, referred to from outside (see tape).
struct Inner {
  Tensor tensor;
  friend bool operator==(const Inner& a, const Inner& b) { return a.tensor.same_as(b.tensor); }
};

/// Entry of a `shape`, `starts` or `stops` attribute that an operand supplies.
inline constexpr int64_t kFromOperand = INT64_MIN;
/// Entry of reshape's shape: what is left of the element count.
inline constexpr int64_t kInfer = -1;
/// Entry of slice's stops: to the end (or, with a negative step, past the beginning).
inline constexpr int64_t kToEnd = INT64_MAX;

bool same_contents(const Array& a, const Array& b);

/// One number per primitive, in the order of prims.def.
enum class Prim : uint16_t {
#define PRIM(name, how, attributes) name,
#include "ir/prims.def"
};
inline constexpr int kPrimCount = 0
#define PRIM(name, how, attributes) +1
#include "ir/prims.def"
    ;

namespace attrs {
#define ATTR(type, name, value) type name = value;
#define PRIM(name, how, attributes)           \
  struct name {                               \
    static constexpr Prim kPrim = Prim::name; \
    attributes                                \
  };
#include "ir/prims.def"

// visit(a, v) calls v("name", a.name) for each attribute, in order.
#define ATTR(type, name, value) v(#name, a.name);
#define PRIM(prim, how, attributes)                           \
  template <class A, class V>                                 \
    requires std::is_same_v<std::remove_const_t<A>, prim>     \
  void visit([[maybe_unused]] A& a, [[maybe_unused]] V&& v) { \
    attributes                                                \
  }
#include "ir/prims.def"
}  // namespace attrs

/// Type-erased, shared attributes of a node. Null stands for the defaults.
struct Attrs : Counted {
  virtual ~Attrs() = default;
};
template <class A>
struct AttrsOf final : Attrs {
  explicit AttrsOf(A v) : value(std::move(v)) {}
  A value;
};
using AttrRef = Ref<const Attrs>;

template <class A>
const A& attrs_as(const Attrs* attrs) {
  static const A kDefaults{};
  return attrs ? static_cast<const AttrsOf<A>*>(attrs)->value : kDefaults;
}

/// Sees the attributes of any primitive one by one; engines, printers and hashes are visitors.
class AttrVisitor {
 public:
  virtual ~AttrVisitor() = default;
  virtual void operator()(const char* name, const int64_t& v) = 0;
  virtual void operator()(const char* name, const double& v) = 0;
  virtual void operator()(const char* name, const bool& v) = 0;
  virtual void operator()(const char* name, const DType& v) = 0;
  virtual void operator()(const char* name, const Text& v) = 0;
  virtual void operator()(const char* name, const Ints& v) = 0;
  virtual void operator()(const char* name, const Array& v) = 0;
  virtual void operator()(const char*, const VariableRef&) {}
  virtual void operator()(const char*, const DrawRef&) {}
  virtual void operator()(const char*, const Inner&) {}
};

/// Fills attributes one by one; missing ones keep their default.
class AttrReader {
 public:
  virtual ~AttrReader() = default;
  virtual void operator()(const char* name, int64_t& v) = 0;
  virtual void operator()(const char* name, double& v) = 0;
  virtual void operator()(const char* name, bool& v) = 0;
  virtual void operator()(const char* name, DType& v) = 0;
  virtual void operator()(const char* name, Text& v) = 0;
  virtual void operator()(const char* name, Ints& v) = 0;
  virtual void operator()(const char* name, Array& v) = 0;
  virtual void operator()(const char*, VariableRef&) {}
  virtual void operator()(const char*, DrawRef&) {}
  virtual void operator()(const char*, Inner&) {}
};

}  // namespace horngate
