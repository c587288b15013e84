#include "engines/native/bodies.h"

#include <atomic>

#include "ir/fork.h"
#include "passes/rewriter.h"

namespace horngate::native {
namespace {

uint64_t mix(uint64_t h, uint64_t v) { return (h ^ v) * 0x9e3779b97f4a7c15ull ^ (h >> 29); }

uint64_t hash_of(const Graph& g) {
  uint64_t h = mix(g.inputs.size(), g.outputs.size());
  for (const TensorType& t : g.values) {
    h = mix(h, static_cast<uint64_t>(t.dtype));
    for (int64_t d : t.shape.dims()) h = mix(h, static_cast<uint64_t>(d));
  }
  for (const GraphNode& n : g.nodes) {
    h = mix(h, hash_attrs(n.prim, n.attrs.get()));
    for (ValueId v : n.in) h = mix(h, v);
    for (const GraphRef& b : n.bodies) h = mix(h, hash_of(*b));
  }
  return h;
}

/// The bodies held by some plan. An entry goes with its last plan.
struct Table {
  struct Entry {
    Graph graph;
    std::weak_ptr<Executable> executable;
  };
  std::unordered_multimap<uint64_t, std::shared_ptr<Entry>> entries;
  std::atomic<size_t> compiled{0};
};

constinit std::mutex table_mutex;
const AtFork at_fork{table_mutex, ForkOrder::last};

Table& table() {
  static auto* t = new Table;  // executables may outlive the statics
  return *t;
}

}  // namespace

std::shared_ptr<Executable> compile_body(const Graph& body) {
  Table& t = table();
  const uint64_t h = hash_of(body);
  {
    // Declared before the lock: freeing the last reference takes the lock again.
    std::vector<std::shared_ptr<Executable>> others;
    std::lock_guard lock(table_mutex);
    others.reserve(t.entries.count(h));
    const auto [first, last] = t.entries.equal_range(h);
    for (auto it = first; it != last; ++it)
      if (auto exe = it->second->executable.lock()) {
        others.push_back(std::move(exe));
        if (same_graph(it->second->graph, body)) return others.back();
      }
  }
  auto entry = std::make_shared<Table::Entry>();
  entry->graph = body;
  ++t.compiled;
  const auto forget = [h, raw = entry.get()](Executable* exe) {
    Table& table_now = table();
    {
      std::lock_guard lock(table_mutex);
      const auto [first, last] = table_now.entries.equal_range(h);
      for (auto it = first; it != last; ++it)
        if (it->second.get() == raw) {
          table_now.entries.erase(it);
          break;
        }
    }
    delete exe;
  };
  std::shared_ptr<Executable> exe(new Executable(body), forget);
  entry->executable = exe;
  std::lock_guard lock(table_mutex);
  t.entries.emplace(h, std::move(entry));
  return exe;
}

size_t bodies_compiled() { return table().compiled; }

}  // namespace horngate::native
