// What a primitive is: a shape rule, a gradient, a decomposition. Each file in prims/ defines one.
#pragma once

#include <optional>
#include <span>

#include "ir/check.h"
#include "ir/node.h"

namespace horngate {

/// How a primitive runs on the native engine (second column of prims.def).
enum class How : uint8_t { elementwise, reduction, kernel, alias, core };

enum PrimFlags : uint32_t {
  kPure = 0,
  kRandom = 1,      // never merged, folded or recomputed
  kEffect = 2,      // never duplicated or dropped
  kNoGradient = 4,  // disconnects: what passes through it has no derivative
};

struct InferCall {
  std::span<const TensorType> in;
  std::span<const BodyRef> bodies;
};

/// The cotangent of a value inside the body of a scan, over all steps (see tape).
struct TapeCotangent {
  Tensor inner;
  Tensor dy;
};

/// A node to differentiate: operands, results and the cotangent of each result (empty where none).
struct GradCall {
  const Node& node;
  std::span<const Tensor> dy;
  std::span<const TapeCotangent> tapes;  // of a scan
  /// The walk that is under way (grad/reverse.h), for rules that differentiate a graph of their own, such as
  /// a body.
  Tensors (*reverse)(const Tensors& roots, const Tensors& seeds, const Tensors& targets, bool cut);
  const Tensor& in(size_t i) const { return node.in[i]; }
  Tensor out(size_t i = 0) const { return Tensor::share(&node, static_cast<uint32_t>(i)); }
};

template <class A>
struct PrimitiveDef {
  Types (*infer)(const InferCall&, const A&) = nullptr;
  /// One tensor per operand; empty where nothing flows. Without this rule the decomposition is
  /// differentiated.
  Tensors (*grad)(const GradCall&, const A&) = nullptr;
  /// One tensor per result, built from simpler primitives.
  Tensors (*decompose)(std::span<const Tensor> in, const A&) = nullptr;
  uint32_t flags = kPure;
};

/// The same, type-erased.
struct Primitive {
  const char* name;
  How how;
  uint32_t flags;
  Types (*infer)(const InferCall&, const Attrs*);
  Tensors (*grad)(const GradCall&);
  Tensors (*decompose)(std::span<const Tensor>, const Attrs*);
  void (*visit)(const Attrs*, AttrVisitor&);
  AttrRef (*read)(AttrReader&);
  bool (*equal)(const Attrs*, const Attrs*);
  /// The attribute of that name, or nullptr when there is none.
  const Ints* (*ints)(const Attrs*, std::string_view name);
  /// A copy with one attribute replaced.
  AttrRef (*with_ints)(const Attrs*, std::string_view name, const Ints& value);
};

const Primitive& primitive(Prim prim);
/// Empty when there is none of that name.
std::optional<Prim> find_primitive(std::string_view name);

/// Comparison for CSE and caches; arrays by content.
inline bool attr_equal(const Array& a, const Array& b) { return same_contents(a, b); }
template <class T>
bool attr_equal(const T& a, const T& b) {
  return a == b;
}
template <class A>
bool attrs_equal(const Attrs* x, const Attrs* y) {
  if (x == y) return true;
  const A &a = attrs_as<A>(x), &b = attrs_as<A>(y);
  bool equal = true;
  // Both visits see the fields in the same order; offsets pair them.
  attrs::visit(a, [&](const char*, const auto& field) {
    using F = std::remove_cvref_t<decltype(field)>;
    const auto offset = reinterpret_cast<const char*>(&field) - reinterpret_cast<const char*>(&a);
    equal =
        equal &&
        attr_equal(field, *reinterpret_cast<const F*>(reinterpret_cast<const char*>(&b) + offset));
  });
  return equal;
}

constexpr How how_of(Prim prim) {
  switch (prim) {
#define PRIM(name, how, attributes) \
  case Prim::name: return How::how;
#include "ir/prims.def"
  }
  return How::core;
}

/// The cost per element of an element-wise primitive, in additions; 0 when the list does not say.
constexpr int cost_of(Prim prim) {
  switch (prim) {
#define UNARY(name, cost) \
  case Prim::name: return cost;
#define BINARY(name, cost) UNARY(name, cost)
#define PRIM(name, how, attributes)
#include "ir/prims.def"
    default: return 0;
  }
}

template <class A, const PrimitiveDef<A>* kDef>
constexpr Primitive erase(const char* name, How how) {
  Primitive p{name,    how,     kDef->flags, nullptr, nullptr, nullptr,
              nullptr, nullptr, nullptr,     nullptr, nullptr};
  p.infer = [](const InferCall& c, const Attrs* a) { return kDef->infer(c, attrs_as<A>(a)); };
  if (kDef->grad) p.grad = [](const GradCall& c) { return kDef->grad(c, c.node.as<A>()); };
  if (kDef->decompose)
    p.decompose = [](std::span<const Tensor> in, const Attrs* a) {
      return kDef->decompose(in, attrs_as<A>(a));
    };
  p.visit = [](const Attrs* a, AttrVisitor& v) { attrs::visit(attrs_as<A>(a), v); };
  p.read = [](AttrReader& r) {
    A value;
    attrs::visit(value, r);
    return AttrRef(new AttrsOf<A>(std::move(value)));
  };
  p.equal = attrs_equal<A>;
  p.ints = [](const Attrs* a, std::string_view field) {
    const Ints* found = nullptr;
    attrs::visit(attrs_as<A>(a), [&](const char* n, const auto& v) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(v)>, Ints>)
        if (field == n) found = &v;
    });
    return found;
  };
  p.with_ints = [](const Attrs* a, std::string_view field, const Ints& value) {
    A copy = attrs_as<A>(a);
    attrs::visit(copy, [&](const char* n, auto& v) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(v)>, Ints>)
        if (field == n) v = value;
    });
    return AttrRef(new AttrsOf<A>(std::move(copy)));
  };
  return p;
}

/// Ends the file of each primitive: HORNGATE_PRIMITIVE(softmax, {.infer = infer, .grad = grad});
#define HORNGATE_PRIMITIVE(name, ...)                                                            \
  namespace prim_defs {                                                                          \
  extern const PrimitiveDef<attrs::name> name##_def;                                             \
  constexpr PrimitiveDef<attrs::name> name##_def __VA_ARGS__;                                    \
  extern const Primitive name##_primitive;                                                       \
  const Primitive name##_primitive = erase<attrs::name, &name##_def>(#name, how_of(Prim::name)); \
  }

}  // namespace horngate
