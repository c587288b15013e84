// Operations made of exchanges. The ordered all_reduce of n ranks: each sends part r of its array to rank r, which adds
// the n parts in the order of the ranks and sends the sum to all. That moves 2 (n - 1) / n of the array, as any
// all_reduce that is fast for large arrays does. It goes by chunks: while one is added up the next is on its way.
#include "comm/collectives.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <new>

namespace horngate::comm {
namespace {

using Parts = std::vector<hg_comm_part>;

constexpr size_t kAlign = 64;
constexpr size_t kLeast = size_t{1} << 18,
                 kMost = size_t{1} << 22;  // bytes that a rank adds up at a time
constexpr size_t kSmall = 8192;  // bytes that are sent to everybody, and added up by everybody
constexpr size_t kSlots = 3;     // chunks under way

hg_comm_part part(const void* data, size_t bytes) { return {const_cast<void*>(data), bytes}; }

/// Elements lo .. hi - 1 cut into one piece for each rank, at multiples of a cache line.
struct Cut {
  size_t lo, hi, step;
  Cut(size_t lo, size_t hi, int ranks, size_t element) : lo(lo), hi(hi) {
    const size_t line = kAlign / element, n = static_cast<size_t>(ranks);
    step = ((hi - lo + n - 1) / n + line - 1) / line * line;
  }
  size_t begin(int rank) const { return std::min(hi, lo + step * static_cast<size_t>(rank)); }
  size_t size(int rank) const { return begin(rank + 1) - begin(rank); }
};

class Performer {
 public:
  Performer(Group& group, const Operation& op, const Patience& patience, Scratch& scratch)
      : group_(group),
        op_(op),
        patience_(patience),
        scratch_(scratch),
        n_(group.ranks()),
        me_(group.rank()),
        element_(size_of(op.dtype)),
        chunk_(std::clamp(2 * kMost / static_cast<size_t>(n_), kLeast, kMost) / kAlign * kAlign) {}

  void run() {
    if (n_ == 1) return perform_alone(op_);
    switch (op_.kind) {
      case Kind::all_reduce: return all_reduce();
      case Kind::reduce_scatter: return reduce_scatter();
      case Kind::all_gather: return all_gather();
      case Kind::all_to_all: return all_to_all();
      case Kind::broadcast: return broadcast();
      case Kind::barrier: return barrier();
    }
  }

 private:
  const char* in(size_t element = 0) const {
    return static_cast<const char*>(op_.in) + element * element_;
  }
  char* out(size_t element = 0) const { return static_cast<char*>(op_.out) + element * element_; }
  size_t index(int rank) const { return static_cast<size_t>(rank); }

  /// Memory of our own, which lives as long as the caller's.
  char* memory(size_t bytes) {
    struct Both {
      std::shared_ptr<const void> theirs;
      std::shared_ptr<char[]> ours;
    };
    auto both = std::make_shared<Both>(Both{op_.keep, scratch_.get(bytes)});
    char* const data = both->ours.get();
    keep_ = std::move(both);
    return data;
  }
  const std::shared_ptr<const void>& keep() const { return keep_ ? keep_ : op_.keep; }

  void exchange(const Parts& send, const Parts& recv) {
    group_.exchange(send, recv, keep()).wait(patience_);
  }

  bool is_ordered(Kind kind) const {
    // Of what libraries make of NaN, ranks may get different things.
    const bool may_differ =
        is_float(op_.dtype) && (op_.reduction == Reduction::min || op_.reduction == Reduction::max);
    const bool wants = may_differ || op_.order == Order::ordered ||
                       (op_.order == Order::automatic && n_ <= kMostOrdered);
    return wants || !group_.reduces(kind, op_.dtype, op_.reduction);
  }

  void all_reduce() {
    const size_t bytes = op_.count * element_;
    if (!is_ordered(Kind::all_reduce))
      return group_.start(op_, Kind::all_reduce, keep()).wait(patience_);
    if (bytes <= kSmall)
      reduce_everywhere(bytes);
    else
      reduce_in_parts();
  }

  /// Everybody gets everything: one step instead of two.
  void reduce_everywhere(size_t bytes) {
    const size_t stride = (bytes + kAlign - 1) / kAlign * kAlign;
    char* const theirs = memory(stride * index(n_));
    if (bytes > 0) std::memcpy(theirs + stride * index(me_), op_.in, bytes);
    Parts send(index(n_), part(theirs + stride * index(me_), bytes)), recv(index(n_));
    std::vector<const void*> from(index(n_));
    for (int r = 0; r < n_; ++r) {
      recv[index(r)] = part(theirs + stride * index(r), bytes);
      from[index(r)] = theirs + stride * index(r);
    }
    exchange(send, recv);
    reduce(op_.dtype, op_.reduction, from.data(), index(n_), op_.out, op_.count);
  }

  void reduce_in_parts() {
    const size_t most = chunk_ / element_ * index(n_);  // elements of a chunk
    const size_t chunks = (op_.count + most - 1) / most;
    const size_t slot = chunk_ * index(n_);
    char* const theirs = memory(slot * std::min(chunks, kSlots));
    std::vector<Group::Request> gets(kSlots), puts(kSlots);
    const auto cut_of = [&](size_t c) {
      return Cut(c * most, std::min(op_.count, (c + 1) * most), n_, element_);
    };
    const auto start = [&](size_t c) {
      gets[c % kSlots] = start_scatter(cut_of(c), theirs + c % kSlots * slot);
    };
    for (size_t c = 0; c < std::min(chunks, kSlots - 1); ++c) start(c);
    for (size_t c = 0; c < chunks; ++c) {
      gets[c % kSlots].wait(patience_);
      const Cut cut = cut_of(c);
      add_up(theirs + c % kSlots * slot, in(cut.begin(me_)), out(cut.begin(me_)), cut.size(me_));
      puts[c % kSlots] = start_gather(cut);
      if (c + kSlots - 1 < chunks) start(c + kSlots - 1);
      if (c > 0) puts[(c - 1) % kSlots].wait(patience_);
    }
    if (chunks > 0) puts[(chunks - 1) % kSlots].wait(patience_);
  }

  /// Piece r of ours goes to rank r; theirs of our piece come into `theirs`.
  Group::Request start_scatter(const Cut& cut, char* theirs) {
    Parts send(index(n_)), recv(index(n_));
    const size_t mine = cut.size(me_) * element_;
    for (int r = 0; r < n_; ++r) {
      send[index(r)] = part(in(cut.begin(r)), cut.size(r) * element_);
      recv[index(r)] = part(theirs + index(r) * chunk_, mine);
    }
    return group_.exchange(send, recv, keep());
  }

  Group::Request start_gather(const Cut& cut) {
    Parts send(index(n_)), recv(index(n_));
    for (int r = 0; r < n_; ++r) {
      send[index(r)] = part(out(cut.begin(me_)), cut.size(me_) * element_);
      recv[index(r)] = part(out(cut.begin(r)), cut.size(r) * element_);
    }
    return group_.exchange(send, recv, keep());
  }

  void add_up(const char* theirs, const void* mine, void* to, size_t count) {
    std::vector<const void*> from(index(n_));
    for (int r = 0; r < n_; ++r) from[index(r)] = r == me_ ? mine : theirs + index(r) * chunk_;
    reduce(op_.dtype, op_.reduction, from.data(), index(n_), to, count);
  }

  void reduce_scatter() {
    if (!is_ordered(Kind::reduce_scatter))
      return group_.start(op_, Kind::reduce_scatter, keep()).wait(patience_);
    const size_t most = chunk_ / element_;
    char* const theirs = memory(chunk_ * index(n_) * 2);
    Group::Request gets[2];
    const auto start = [&](size_t at) {
      Parts send(index(n_)), recv(index(n_));
      const size_t m = std::min(most, op_.count - at) * element_;
      char* const slot = theirs + at / most % 2 * chunk_ * index(n_);
      for (int r = 0; r < n_; ++r) {
        send[index(r)] = part(in(index(r) * op_.count + at), m);
        recv[index(r)] = part(slot + index(r) * chunk_, m);
      }
      gets[at / most % 2] = group_.exchange(send, recv, keep());
    };
    // In place the sums go to the beginning, which is a part for rank 0: it must be gone before.
    const bool ahead = op_.in != op_.out;
    if (op_.count > 0 && ahead) start(0);
    for (size_t at = 0; at < op_.count; at += most) {
      if (!ahead) start(at);
      if (ahead && at + most < op_.count) start(at + most);
      gets[at / most % 2].wait(patience_);
      add_up(theirs + at / most % 2 * chunk_ * index(n_), in(index(me_) * op_.count + at), out(at),
             std::min(most, op_.count - at));
    }
  }

  void all_gather() {
    const size_t bytes = op_.count * element_;
    char* const mine = out(index(me_) * op_.count);
    if (bytes > 0 && op_.in != mine) std::memmove(mine, op_.in, bytes);
    Parts send(index(n_), part(mine, bytes)), recv(index(n_));
    for (int r = 0; r < n_; ++r) recv[index(r)] = part(out(index(r) * op_.count), bytes);
    exchange(send, recv);
  }

  void all_to_all() {
    const size_t bytes = op_.count * element_;
    const char* from = in();
    if (op_.in == op_.out) {  // what comes must not overwrite what has to go
      char* const copy = memory(bytes * index(n_));
      if (bytes > 0) std::memcpy(copy, op_.in, bytes * index(n_));
      from = copy;
    }
    const size_t own = index(me_) * bytes;
    if (bytes > 0 && op_.in != op_.out)
      std::memcpy(static_cast<char*>(op_.out) + own, from + own, bytes);
    Parts send(index(n_)), recv(index(n_));
    for (int r = 0; r < n_; ++r) {
      send[index(r)] = part(from + index(r) * bytes, bytes);
      recv[index(r)] = part(out(index(r) * op_.count), bytes);
    }
    exchange(send, recv);
  }

  /// Small arrays go from root to everybody. Of large ones root sends each rank a piece, and all gather them: that is
  /// twice the array and not n times. Root waits until all have it: else it would not notice that others do something else.
  void broadcast() {
    char* const heard = memory(index(n_));
    send_from_root();
    Parts send(index(n_)), recv(index(n_));
    if (me_ != op_.root) send[index(op_.root)] = part(heard, 1);
    for (int r = 0; r < n_ && me_ == op_.root; ++r)
      if (r != me_) recv[index(r)] = part(heard + r, 1);
    exchange(send, recv);
  }

  void send_from_root() {
    const bool is_root = me_ == op_.root;
    Parts send(index(n_)), recv(index(n_));
    const size_t bytes = op_.count * element_;
    if (n_ == 2 || bytes <= kSmall) {
      if (is_root)
        send.assign(index(n_), part(out(), bytes));
      else
        recv[index(op_.root)] = part(out(), bytes);
      return exchange(send, recv);
    }
    const Cut cut(0, op_.count, n_, element_);
    const auto piece = [&](int r) { return part(out(cut.begin(r)), cut.size(r) * element_); };
    if (is_root)
      for (int r = 0; r < n_; ++r) send[index(r)] = piece(r);
    else
      recv[index(op_.root)] = piece(me_);
    exchange(send, recv);
    for (int r = 0; r < n_; ++r) {
      send[index(r)] = r == op_.root ? part(nullptr, 0) : piece(me_);
      recv[index(r)] = is_root ? part(nullptr, 0) : piece(r);
    }
    exchange(send, recv);
  }

  /// In round k everybody hears from the rank 2^k below: after log2 n rounds, indirectly, from all.
  void barrier() {
    char* const bytes = memory(2);
    for (int far = 1; far < n_; far *= 2) {
      Parts send(index(n_)), recv(index(n_));
      send[index((me_ + far) % n_)] = part(bytes, 1);
      recv[index((me_ - far + n_) % n_)] = part(bytes + 1, 1);
      exchange(send, recv);
    }
  }

  Group& group_;
  const Operation& op_;
  const Patience& patience_;
  Scratch& scratch_;
  const int n_, me_;
  const size_t element_, chunk_;
  std::shared_ptr<const void> keep_;
};

}  // namespace

std::shared_ptr<char[]> Scratch::get(size_t bytes) {
  if (bytes > bytes_ || memory_.use_count() > 1) {
    bytes_ = std::bit_ceil(std::max(bytes, size_t{4096}));
    const std::align_val_t align{kAlign};
    memory_.reset(new (align) char[bytes_], [align](char* p) { operator delete[](p, align); });
  }
  return memory_;
}

void perform_alone(const Operation& op) {
  const size_t bytes = op.count * size_of(op.dtype);
  if (op.kind == Kind::broadcast || op.kind == Kind::barrier || op.in == op.out || bytes == 0)
    return;
  std::memcpy(op.out, op.in, bytes);
}

void perform(Group& group, const Operation& op, const Patience& patience, Scratch& scratch) {
  group.set_key(std::hash<std::string>()(signature_of(op)));
  Performer(group, op, patience, scratch).run();
}

}  // namespace horngate::comm
