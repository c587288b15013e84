// Buckets of gradients.
#include "comm/buckets.h"

#include <cstring>

#include "ir/check.h"

namespace horngate::comm {

std::vector<Bucket> make_buckets(std::span<const Gradient> gradients, size_t bytes, size_t last) {
  const auto size = [&](size_t g) { return gradients[g].count * size_of(gradients[g].dtype); };
  // The gradients that are ready last: the first ones.
  size_t tail = 0, tail_bytes = 0;
  while (tail < gradients.size() && (tail == 0 || tail_bytes + size(tail) <= last))
    tail_bytes += size(tail++);
  std::vector<Bucket> out;
  size_t filled = 0;
  for (size_t g = gradients.size(); g-- > 0;) {
    const bool is_new = out.empty() || filled >= bytes || out.back().dtype != gradients[g].dtype ||
                        (g + 1 == tail && filled > last);
    if (is_new) {
      out.push_back({{}, 0, gradients[g].dtype});
      filled = 0;
    }
    out.back().members.push_back(g);
    out.back().count += gradients[g].count;
    filled += size(g);
  }
  return out;
}

BucketSum::BucketSum(std::shared_ptr<Communicator> c, std::span<const Gradient> gradients,
                     std::vector<Bucket> buckets)
    : c_(std::move(c)),
      gradients_(gradients.begin(), gradients.end()),
      buckets_(std::move(buckets)),
      bucket_of_(gradients.size()),
      data_(gradients.size()),
      keep_(gradients.size()),
      states_(buckets_.size()) {
  for (size_t b = 0; b < buckets_.size(); ++b) {
    states_[b].missing = buckets_[b].members.size();
    for (const size_t g : buckets_[b].members) bucket_of_[g] = b;
  }
}

void BucketSum::put(size_t gradient, void* data, const std::shared_ptr<const void>& keep) {
  invariant(data != nullptr || gradients_[gradient].count == 0, "a gradient without data");
  data_[gradient] = data;
  keep_[gradient] = keep;
  --states_[bucket_of_[gradient]].missing;
  while (next_ < states_.size() && states_[next_].missing == 0) begin(next_++);
}

void BucketSum::begin(size_t bucket) {
  const Bucket& b = buckets_[bucket];
  State& state = states_[bucket];
  const size_t element = size_of(b.dtype);
  const char* end = nullptr;
  // Members go from the last gradient to the first; in memory it may be either way.
  bool is_rising = true, is_falling = true;
  for (size_t i = 0; i < b.members.size(); ++i) {
    const char* const at = static_cast<const char*>(data_[b.members[i]]);
    const size_t bytes = gradients_[b.members[i]].count * element;
    if (i > 0) {
      const char* const before = static_cast<const char*>(data_[b.members[i - 1]]);
      is_rising = is_rising && at == end;
      is_falling = is_falling && at + bytes == before;
    }
    end = at + bytes;
  }
  Operation op;
  op.kind = Kind::all_reduce;
  op.dtype = b.dtype;
  op.count = b.count;
  auto keep = std::make_shared<std::vector<std::shared_ptr<const void>>>();
  if (is_rising || is_falling) {
    op.in = op.out = data_[is_rising ? b.members.front() : b.members.back()];
    for (const size_t g : b.members) keep->push_back(keep_[g]);
  } else {
    state.is_packed = true;
    state.memory = std::make_shared<char[]>(b.count * element);
    char* to = state.memory.get();
    for (const size_t g : b.members) {
      const size_t bytes = gradients_[g].count * element;
      if (bytes > 0) std::memcpy(to, data_[g], bytes);
      to += bytes;
    }
    op.in = op.out = state.memory.get();
    keep->push_back(state.memory);
  }
  op.keep = keep;
  op.name = text_of("gradients ", b.members.back(), " to ", b.members.front());
  state.ticket = c_->start(std::move(op));
}

void BucketSum::finish() {
  invariant(next_ == states_.size(), "not all gradients were put");
  for (size_t i = 0; i < buckets_.size(); ++i) {
    c_->wait(states_[i].ticket);
    if (!states_[i].is_packed) continue;
    const char* from = states_[i].memory.get();
    for (const size_t g : buckets_[i].members) {
      const size_t bytes = gradients_[g].count * size_of(buckets_[i].dtype);
      if (bytes > 0) std::memcpy(data_[g], from, bytes);
      from += bytes;
    }
  }
}

}  // namespace horngate::comm
