// Tensor: a cheap handle to a value of the graph. Variable: one that keeps its value between calls.
#pragma once

#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "horngate/array.h"
#include "horngate/dtype.h"
#include "horngate/shape.h"

namespace horngate {

class Index;  // what may stand in brackets, in ops/shape.h
struct Node;
HORNGATE_API void retain(const Node* node) noexcept;
HORNGATE_API void release(const Node* node) noexcept;

/// One value of the graph: output `index` of a node. Copying adds a reference; an empty Tensor means
/// "none" (what `gradients` returns where nothing connects).
class HORNGATE_API Tensor {
 public:
  Tensor() = default;
  /// Takes over one reference.
  static Tensor adopt(const Node* node, uint32_t index = 0) { return Tensor(node, index); }
  static Tensor share(const Node* node, uint32_t index = 0) {
    retain(node);
    return Tensor(node, index);
  }
  Tensor(const Tensor& other) noexcept : node_(other.node_), index_(other.index_) {
    if (node_) retain(node_);
  }
  Tensor(Tensor&& other) noexcept : node_(other.node_), index_(other.index_) {
    other.node_ = nullptr;
  }
  Tensor& operator=(Tensor other) noexcept {
    std::swap(node_, other.node_);
    std::swap(index_, other.index_);
    return *this;
  }
  ~Tensor() {
    if (node_) release(node_);
  }

  /// False for the empty Tensor. (There is no operator bool: it would make `0.1 * t` ambiguous.)
  bool defined() const { return node_ != nullptr; }
  DType dtype() const;
  const Shape& shape() const;
  size_t ndim() const { return shape().ndim(); }
  bool is_sparse() const;
  std::string name() const;
  const Node* node() const { return node_; }
  uint32_t index() const { return index_; }
  /// Whether it is the same value of the graph; equal contents do not count.
  bool same_as(const Tensor& other) const { return node_ == other.node_ && index_ == other.index_; }
  /// x[i] along the first axis: K::shape(x)[0]. Several axes: getitem.
  Tensor operator[](const Index& i) const;
  /// <K.Tensor "dense/relu" shape=(None, 10) dtype=float32>
  std::string str() const;
  friend HORNGATE_API std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

 protected:
  Tensor(const Node* node, uint32_t index) : node_(node), index_(index) {}

 private:
  const Node* node_ = nullptr;
  uint32_t index_ = 0;
};

using Tensors = std::vector<Tensor>;

/// A tensor whose value updates can change. Slicing it to Tensor is fine: the kind is in the node.
class HORNGATE_API Variable : public Tensor {
 public:
  Variable() = default;
  /// The tensor must come from variable(); TypeError otherwise.
  explicit Variable(const Tensor& t);
  /// As in Python, the name may be given to any tensor later: `auto h = w; h = K::relu(h);`. Functions that need a
  /// variable check that they got one.
  template <std::same_as<Tensor> T>
  Variable& operator=(T t) noexcept {
    Tensor::operator=(std::move(t));
    return *this;
  }
};

}  // namespace horngate
