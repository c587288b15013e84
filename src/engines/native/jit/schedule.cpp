// The order of micro code: independent chains side by side, so that the processor has work while one of them
// waits for a result. As recorded, they come one after another.
#include "engines/native/jit/schedule.h"

#include <algorithm>

namespace horngate::native::jit {
namespace {

constexpr int kIssue = 2;  // operations that can start in one cycle

bool is_free(MicroOp op) { return op == MicroOp::constant || op == MicroOp::uniform; }
bool is_load(MicroOp op) { return op == MicroOp::load || op == MicroOp::mask_load; }
bool is_store(MicroOp op) { return op == MicroOp::store || op == MicroOp::mask_store; }

/// Approximate number of cycles until the result can be used.
int latency(MicroOp op) {
  switch (op) {
    case MicroOp::div: return 12;
    case MicroOp::sqrt: return 20;
    case MicroOp::add:
    case MicroOp::sub: return 3;
    case MicroOp::mul:
    case MicroOp::fmadd:
    case MicroOp::fmsub:
    case MicroOp::fnmadd:
    case MicroOp::scalef:
    case MicroOp::round:
    case MicroOp::int_mul: return 4;
    case MicroOp::compare: return 3;
    default: return 1;
  }
}

class Scheduler {
 public:
  Scheduler(const std::vector<Micro>& code, int most_live)
      : code_(code),
        most_live_(most_live),
        waits_(code.size(), 0),
        left_(code.size(), 0),
        path_(code.size(), 0),
        ready_at_(code.size(), 0),
        now_(code.size(), kNoId),
        users_(code.size()) {}

  std::vector<Micro> run() {
    for (size_t i = 0; i < code_.size(); ++i)
      for (Id v : operands(i)) {
        users_[static_cast<size_t>(v)].push_back(static_cast<Id>(i));
        ++left_[static_cast<size_t>(v)];
        waits_[i] += !is_early(v);
      }
    for (size_t i = code_.size(); i-- > 0;) {
      for (Id u : users_[i]) path_[i] = std::max(path_[i], path_[static_cast<size_t>(u)]);
      path_[i] += latency(code_[i].op);
    }
    for (size_t i = 0; i < code_.size(); ++i) {
      if (is_free(code_[i].op)) place(static_cast<Id>(i));
      if (!is_early(static_cast<Id>(i)) && !is_store(code_[i].op) && waits_[i] == 0)
        ready_.push_back(static_cast<Id>(i));
    }
    for (int cycle = 0; !ready_.empty(); ++cycle)
      for (int k = 0; k < kIssue && !ready_.empty(); ++k) issue(cycle);
    // Values stored just as they were loaded: results may overwrite operands, so load them before any store.
    for (size_t i = 0; i < code_.size(); ++i)
      if (is_load(code_[i].op) && left_[i] > 0 && now_[i] == kNoId) place(static_cast<Id>(i));
    for (size_t i = 0; i < code_.size(); ++i)
      if (is_store(code_[i].op)) place(static_cast<Id>(i));
    return std::move(out_);
  }

 private:
  /// Loads are placed with their first user.
  bool is_early(Id v) const {
    const MicroOp op = code_[static_cast<size_t>(v)].op;
    return is_free(op) || is_load(op);
  }
  /// Operands without duplicates.
  struct Operands {
    Id ids[3];
    size_t count = 0;
    const Id* begin() const { return ids; }
    const Id* end() const { return ids + count; }
  };
  Operands operands(size_t i) const {
    Operands o;
    for (Id v : {code_[i].a, code_[i].b, code_[i].c})
      if (v != kNoId && std::find(o.begin(), o.end(), v) == o.end()) o.ids[o.count++] = v;
    return o;
  }

  /// How many more values are live after it.
  int growth(Id id) const {
    int n = 1;
    for (Id v : operands(static_cast<size_t>(id))) {
      if (is_free(code_[static_cast<size_t>(v)].op)) continue;
      n += now_[static_cast<size_t>(v)] == kNoId;
      n -= left_[static_cast<size_t>(v)] == 1;
    }
    return n;
  }

  // Picks, among those whose operands are there, the one with the longest path to the end; if registers run
  // short, the one that frees the most.
  void issue(int cycle) {
    const bool full = live_ >= most_live_;
    size_t best = ready_.size();
    const auto better = [&](Id a, Id b) {
      if (full) {
        const int ga = growth(a), gb = growth(b);
        if (ga != gb) return ga < gb;
        return a < b;
      }
      const size_t x = static_cast<size_t>(a), y = static_cast<size_t>(b);
      return path_[x] != path_[y] ? path_[x] > path_[y] : a < b;
    };
    for (size_t i = 0; i < ready_.size(); ++i) {
      if (!full && ready_at_[static_cast<size_t>(ready_[i])] > cycle) continue;
      if (best == ready_.size() || better(ready_[i], ready_[best])) best = i;
    }
    if (best == ready_.size()) return;
    const Id id = ready_[best];
    ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(best));
    place(id);
    for (Id u : users_[static_cast<size_t>(id)]) {
      const size_t user = static_cast<size_t>(u);
      ready_at_[user] =
          std::max(ready_at_[user], cycle + latency(code_[static_cast<size_t>(id)].op));
      if (--waits_[user] == 0 && !is_store(code_[user].op)) ready_.push_back(u);
    }
  }

  void place(Id id) {
    const size_t i = static_cast<size_t>(id);
    Micro m = code_[i];
    for (Id v : operands(i)) {
      if (is_load(code_[static_cast<size_t>(v)].op) && now_[static_cast<size_t>(v)] == kNoId)
        place(v);
      if (--left_[static_cast<size_t>(v)] == 0 && !is_free(code_[static_cast<size_t>(v)].op))
        --live_;
    }
    for (Id* v : {&m.a, &m.b, &m.c})
      if (*v != kNoId) *v = now_[static_cast<size_t>(*v)];
    now_[i] = static_cast<Id>(out_.size());
    out_.push_back(m);
    if (!is_free(m.op) && !is_store(m.op)) ++live_;
  }

  const std::vector<Micro>& code_;
  const int most_live_;
  int live_ = 0;
  std::vector<int> waits_, left_, path_, ready_at_;
  std::vector<Id> now_;  // new number
  std::vector<std::vector<Id>> users_;
  std::vector<Id> ready_;
  std::vector<Micro> out_;
};

}  // namespace

std::vector<Micro> schedule(const std::vector<Micro>& code, int most_live) {
  return Scheduler(code, most_live).run();
}

}  // namespace horngate::native::jit
