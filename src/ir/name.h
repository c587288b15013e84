// NodeName: what messages call a node, and the K function that is being called on this thread.
#pragma once

#include <string>
#include <string_view>

#include "ir/ref.h"

namespace horngate {

/// The user's name of a node (none: made up when asked for) and the K function that made it (a literal; none:
/// the primitive speaks for itself). Passes copy both together. Two words: there is one in every node.
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

/// Opens each K function: const CalledAs called("dot"). Inside of another K function it changes nothing.
class CalledAs {
 public:
  explicit CalledAs(const char* function) : before_(called_function) {
    if (!before_) called_function = function;
  }
  ~CalledAs() { called_function = before_; }
  CalledAs(const CalledAs&) = delete;

 private:
  const char* before_;
};

/// While a user's function runs inside of a K function (a step, a branch), or nodes are made in the name of
/// another function: that name, or none.
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

/// The text of an error with the K function in the place of the name at its beginning ("squeeze: ..").
std::string in_the_name_of(const char* function, std::string_view text);

}  // namespace horngate
