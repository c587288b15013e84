// Prefix beam search over one sample. A beam holds the best prefixes with log p(prefix, last step
// blank) and log p(prefix, last step its last label). Prefixes are nodes of a tree that also keeps
// those that have left the beam: one that comes back must be recognised as the parent of longer
// ones. All memory is taken beforehand.
#pragma once

#include <cstdint>

#include "engines/native/kernels/ctc.h"

namespace horngate::native::kernels::ctc {

class BeamSearch {
 public:
  BeamSearch(Scratch& scratch, const Sizes& sizes, int64_t beam_width);

  void start();
  /// One step in time: scores + offset are the log-probabilities of the classes, none of them NaN.
  template <class R>
  void step(const R* scores, double offset);

  int64_t size() const { return size_; }
  /// Of the prefix at a place; 0 is the best.
  double log_probability(int64_t place) const { return beam_[place].total; }
  /// Writes the labels of a prefix and returns their number; merges equal neighbours if asked to.
  int64_t labels(int64_t place, bool merge_repeated, int64_t* out) const;

 private:
  struct Node {
    int32_t parent, label;
    int32_t place;  // in the beam, or -1
  };
  struct Entry {
    int32_t node;
    int32_t next_child;  // next entry of the beam with the same parent, -1 at the end
    double blank, label, total;
  };
  // A candidate for the next beam: an entry that stays (label -1) or grows by a label.
  struct Candidate {
    double score;
    int64_t order;  // decides ties
    int32_t place, label;
  };
  static bool better(const Candidate& a, const Candidate& b) {
    return a.score != b.score ? a.score > b.score : a.order < b.order;
  }

  void link_children();
  void stay(const Entry& from, double blank, double repeat, double grown, Entry& to) const;
  void offer(double score, int64_t place, int64_t label);
  void keep_best();
  void commit();
  int32_t child(int32_t parent, int32_t label);
  template <class R>
  int64_t best_classes(const R* scores);

  int64_t width_, classes_, blank_;
  uint32_t hash_mask_;
  Node* nodes_;
  int32_t* table_;  // hash of (parent, label) -> node; 0 is free, since the root is nobody's child
  Entry *beam_, *next_;
  Entry* stayed_;      // entry i of the beam one step later
  int32_t* children_;  // first child of entry i inside the beam
  Candidate* pool_;    // at most 2 width
  int32_t* classes_by_score_;
  uint32_t* seen_;  // class c is a child of the current entry: seen_[c] == mark_
  uint32_t mark_ = 0;
  int32_t node_count_ = 0;
  int64_t size_ = 0, pool_size_ = 0;
  double least_ = 0;  // scores up to here can no longer enter
};

}  // namespace horngate::native::kernels::ctc
