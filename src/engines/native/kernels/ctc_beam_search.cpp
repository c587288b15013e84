// Prefix beam search; see ctc_beam_search.h.
#include "engines/native/kernels/ctc_beam_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace horngate::native::kernels::ctc {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kNever ? a : a + std::log1p(std::exp(b - a));
}

}  // namespace

BeamSearch::BeamSearch(Scratch& scratch, const Sizes& sizes, int64_t beam_width)
    : width_(beam_width), classes_(sizes.classes), blank_(sizes.blank()) {
  const int64_t nodes = 1 + beam_width * sizes.time;  // each step makes at most one per place
  const auto slots = std::bit_ceil(static_cast<uint64_t>(2 * nodes));
  hash_mask_ = static_cast<uint32_t>(slots - 1);
  nodes_ = scratch.take<Node>(nodes);
  table_ = scratch.take<int32_t>(static_cast<int64_t>(slots));
  beam_ = scratch.take<Entry>(beam_width);
  next_ = scratch.take<Entry>(beam_width);
  stayed_ = scratch.take<Entry>(beam_width);
  children_ = scratch.take<int32_t>(beam_width);
  pool_ = scratch.take<Candidate>(2 * beam_width);
  classes_by_score_ = scratch.take<int32_t>(sizes.classes);
  seen_ = scratch.take<uint32_t>(sizes.classes);
}

void BeamSearch::start() {
  std::fill(table_, table_ + size_t{hash_mask_} + 1, 0);
  std::fill(seen_, seen_ + classes_, 0);
  mark_ = 0;
  nodes_[0] = {-1, -1, 0};
  node_count_ = 1;
  beam_[0] = {0, -1, 0.0, kNever, 0.0};
  size_ = 1;
}

// The classes in order of their scores, as many as one entry can use: `width_` in addition to those
// already in the beam. The blank is not among them.
template <class R>
int64_t BeamSearch::best_classes(const R* scores) {
  int32_t* first = classes_by_score_;
  int32_t* last = first;
  for (int64_t c = 0; c < classes_; ++c)
    if (c != blank_ && scores[c] > -std::numeric_limits<R>::infinity())
      *last++ = static_cast<int32_t>(c);
  const auto before = [scores](int32_t a, int32_t b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
  };
  const int64_t count = std::min<int64_t>(last - first, 2 * width_ + 1);
  if (count < last - first) std::nth_element(first, first + count, last, before);
  std::sort(first, first + count, before);
  return count;
}

void BeamSearch::link_children() {
  std::fill(children_, children_ + size_, -1);
  for (int64_t i = 0; i < size_; ++i) {
    const Node& node = nodes_[beam_[i].node];
    const int32_t parent = node.parent < 0 ? -1 : nodes_[node.parent].place;
    if (parent < 0) continue;
    beam_[i].next_child = children_[parent];
    children_[parent] = static_cast<int32_t>(i);
  }
}

// Ways to keep the prefix: a blank; its last label again; or its parent, also in the beam, grows
// into it.
void BeamSearch::stay(const Entry& from, double blank, double repeat, double grown,
                      Entry& to) const {
  to = from;
  to.blank = from.total + blank;
  to.label = log_add(from.label + repeat, grown);
  to.total = log_add(to.blank, to.label);
}

void BeamSearch::offer(double score, int64_t place, int64_t label) {
  if (!(score > least_)) return;
  if (pool_size_ == 2 * width_) keep_best();
  if (!(score > least_)) return;
  const int64_t order = label < 0 ? place : width_ + place * classes_ + label;
  pool_[pool_size_++] = {score, order, static_cast<int32_t>(place), static_cast<int32_t>(label)};
}

// Cuts the pool to the best `width_`. From then on a score must beat the last of them.
void BeamSearch::keep_best() {
  if (pool_size_ <= width_) return;
  std::nth_element(pool_, pool_ + width_ - 1, pool_ + pool_size_, better);
  pool_size_ = width_;
  least_ = pool_[width_ - 1].score;
}

template <class R>
void BeamSearch::step(const R* scores, double offset) {
  const auto log_p = [&](int64_t c) { return static_cast<double>(scores[c]) + offset; };
  const int64_t usable = best_classes(scores);
  link_children();
  pool_size_ = 0;
  least_ = kNever;
  for (int64_t i = 0; i < size_; ++i) {
    const Node& node = nodes_[beam_[i].node];
    double repeat = kNever, grown = kNever;
    if (node.parent >= 0) {
      repeat = log_p(node.label);
      if (const int32_t p = nodes_[node.parent].place; p >= 0)
        grown =
            (nodes_[node.parent].label == node.label ? beam_[p].blank : beam_[p].total) + repeat;
    }
    stay(beam_[i], log_p(blank_), repeat, grown, stayed_[i]);
    offer(stayed_[i].total, i, -1);
  }
  for (int64_t i = 0; i < size_; ++i) {
    const int32_t last = nodes_[beam_[i].node].label;
    ++mark_;
    for (int32_t c = children_[i]; c >= 0; c = beam_[c].next_child)
      seen_[nodes_[beam_[c].node].label] = mark_;
    // The same label again makes a longer prefix only after a blank.
    if (last >= 0 && seen_[last] != mark_) offer(beam_[i].blank + log_p(last), i, last);
    for (int64_t k = 0; k < usable; ++k) {
      const int32_t c = classes_by_score_[k];
      const double score = beam_[i].total + log_p(c);
      if (!(score > least_)) break;
      if (c != last && seen_[c] != mark_) offer(score, i, c);
    }
  }
  commit();
}

template void BeamSearch::step<float>(const float* scores, double offset);
template void BeamSearch::step<double>(const double* scores, double offset);

// The best of the pool become the beam, best first.
void BeamSearch::commit() {
  keep_best();
  std::sort(pool_, pool_ + pool_size_, better);
  for (int64_t i = 0; i < pool_size_; ++i) {
    const Candidate& c = pool_[i];
    if (c.label < 0)
      next_[i] = stayed_[c.place];
    else
      next_[i] = {child(beam_[c.place].node, c.label), -1, kNever, c.score, c.score};
  }
  for (int64_t i = 0; i < size_; ++i) nodes_[beam_[i].node].place = -1;
  std::swap(beam_, next_);
  size_ = pool_size_;
  for (int64_t i = 0; i < size_; ++i) nodes_[beam_[i].node].place = static_cast<int32_t>(i);
}

int32_t BeamSearch::child(int32_t parent, int32_t label) {
  const uint64_t key =
      (static_cast<uint64_t>(static_cast<uint32_t>(parent)) << 32) | static_cast<uint32_t>(label);
  auto at = static_cast<uint32_t>((key * 0x9E3779B97F4A7C15ull) >> 32);
  for (;; ++at) {
    int32_t& found = table_[at & hash_mask_];
    if (found == 0) {
      nodes_[node_count_] = {parent, label, -1};
      return found = node_count_++;
    }
    if (nodes_[found].parent == parent && nodes_[found].label == label) return found;
  }
}

int64_t BeamSearch::labels(int64_t place, bool merge_repeated, int64_t* out) const {
  int64_t count = 0;
  int32_t previous = -1;
  for (int32_t n = beam_[place].node; nodes_[n].parent >= 0; n = nodes_[n].parent) {
    if (!merge_repeated || nodes_[n].label != previous) out[count++] = nodes_[n].label;
    previous = nodes_[n].label;
  }
  std::reverse(out, out + count);
  return count;
}

}  // namespace horngate::native::kernels::ctc
