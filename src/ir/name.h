// NodeName: what messages call a node; and the K function that is being called on this thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/ref.h"

namespace horngate {

/// The name that the user gave a node (if none, one is made up on demand) and the K function that made it (a
/// literal; if none, the primitive's name is used). Passes copy both together. Only two words, as every node
/// has one.
class NodeName {
 public:
  NodeName() = default;
  NodeName(std::nullptr_t, const char* called = nullptr) : function(called) {}
  void set_text(std::string text) { text_ = make_ref<const Text>(std::move(text)); }
  /// Whether the user gave a name.
  explicit operator bool() const { return static_cast<bool>(text_); }
  const std::string& operator*() const { return text_->text; }
  const std::string* operator->() const { return &text_->text; }

  const char* function = nullptr;

 private:
  struct Text : Counted {
    explicit Text(std::string t) : text(std::move(t)) {}
    const std::string text;
  };
  Ref<const Text> text_;
};

/// The outermost K function that is being called on this thread; null outside.
extern constinit thread_local const char* called_function;

/// The id that the next node will get: those that exist have smaller ones.
uint64_t next_node_id();

/// Stands first in each K function: const CalledAs called("dot"). Inside another K function it changes
/// nothing.
class CalledAs {
 public:
  explicit CalledAs(const char* function)
      : before_(called_function), begin_(before_ ? 0 : next_node_id()) {
    if (!before_) called_function = function;
  }
  ~CalledAs() { called_function = before_; }
  CalledAs(const CalledAs&) = delete;

  /// Whether a node was there before the user called this function; never inside another K function.
  bool has_met(uint64_t node_id) const { return node_id < begin_; }

 private:
  const char* before_;
  const uint64_t begin_;
};

/// Replaces the name, or clears it, while a user's function (a step, a branch) runs inside a K function, or
/// while nodes are made on behalf of another function.
class CalledInstead {
 public:
  explicit CalledInstead(const char* function) : before_(called_function) {
    called_function = function;
  }
  ~CalledInstead() { called_function = before_; }
  CalledInstead(const CalledInstead&) = delete;

 private:
  const char* before_;
};

/// The text of an error with the K function in place of the name at its start ("squeeze: ..").
std::string in_the_name_of(const char* function, std::string_view text);

}  // namespace horngate
