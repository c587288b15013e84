// Name scopes, unique names, the function being called.
#include "ir/scope.h"

#include "ir/fork.h"
#include "ir/name.h"
#include "ir/per_thread.h"

#include <mutex>
#include <unordered_map>
#include <vector>

namespace horngate {
namespace {

struct Scopes {
  std::string path;
  std::vector<size_t> lengths;  // of `path` before each open scope
  uint32_t level = 0;
};
thread_local PerThread<Scopes> scopes;

constinit std::mutex names_mutex;
const AtFork at_fork{names_mutex, ForkOrder::last};
std::unordered_map<std::string, int64_t>& names() {
  static auto* map = new std::unordered_map<std::string, int64_t>;
  return *map;
}

}  // namespace

constinit thread_local const char* called_function = nullptr;

std::string in_the_name_of(const char* function, std::string_view text) {
  const size_t end = text.find(": ");
  const bool named = end != std::string_view::npos && end > 0 &&
                     text.substr(0, end).find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
  if (!function || !named) return std::string(text);
  return function + std::string(text.substr(end));
}

const std::string& current_scope() { return scopes->path; }

void push_scope(std::string_view name) {
  scopes->path.reserve(scopes->path.size() + name.size() +
                       1);  // what follows all happens, or nothing
  scopes->lengths.push_back(scopes->path.size());
  scopes->path += name;
  scopes->path += '/';
}

void pop_scope() {
  scopes->path.resize(scopes->lengths.back());
  scopes->lengths.pop_back();
}

std::string unique_name(std::string_view name) {
  std::lock_guard lock(names_mutex);
  std::string full = scopes->path + std::string(name);
  const int64_t used = names()[full]++;
  if (used == 0) return full;
  // The suffixed name may itself have been given out before, so it is registered as well.
  for (int64_t i = used;; ++i) {
    std::string candidate = full + "_" + std::to_string(i);
    if (names()[candidate]++ == 0) return candidate;
  }
}

void reset_names() {
  std::lock_guard lock(names_mutex);
  names().clear();
}

uint32_t trace_level() { return scopes->level; }
void set_trace_level(uint32_t level) { scopes->level = level; }

}  // namespace horngate
