// check(condition, function, message parts...): one line per check, text as style says.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "horngate/dtype.h"
#include "horngate/error.h"
#include "horngate/shape.h"

namespace horngate {

inline void append(std::string& out, std::string_view text) { out += text; }
inline void append(std::string& out, const char* text) { out += text; }
inline void append(std::string& out, char c) { out += c; }
inline void append(std::string& out, bool b) { out += b ? "true" : "false"; }
inline void append(std::string& out, DType t) { out += name_of(t); }
inline void append(std::string& out, const Shape& s) { out += s.str(); }
void append(std::string& out, const Ints& v);  // "(1, 2)"
void append(std::string& out, double v);       // shortest text that reads back
template <std::integral T>
void append(std::string& out, T v) {
  out += std::to_string(v);
}

template <class... P>
std::string text_of(const P&... parts) {
  std::string out;
  (append(out, parts), ...);
  return out;
}

template <class E = ValueError, class... P>
[[noreturn, gnu::noinline, gnu::cold]] void fail(std::string_view function, const P&... parts) {
  throw E(text_of(function, ": ", parts...));
}

template <class E = ValueError, class... P>
void check(bool ok, std::string_view function, const P&... parts) {
  if (!ok) [[unlikely]]
    fail<E>(function, parts...);
}

/// A broken invariant: our fault, never the user's.
template <class... P>
void invariant(bool ok, const P&... parts) {
  if (!ok) [[unlikely]]
    throw RuntimeError(text_of("this is a bug in horngate: ", parts...));
}

/// Makes an axis in [-rank, rank) non-negative, or gives the error that all functions share.
int64_t normalize_axis(std::string_view function, int64_t axis, const Shape& shape,
                       std::string_view argument = "axis", std::string_view tensor = "x");

}  // namespace horngate
