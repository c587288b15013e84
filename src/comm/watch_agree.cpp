// The watch: how the ranks that are left agree on who they are, although any of them may end at any moment.
//
// All vote; the hub, the first rank that is not gone, counts. A rank that has heard a decision goes on and may close its
// lines, which looks like its end to the others. So a decision must not be known to those alone who are gone:
//
//   1. Each rank sends its vote to the hub. When all that are not gone have voted, the hub proposes who is left.
//   2. Each rank holds the proposal and accepts it. When all that are not gone have accepted, it is decided, and the hub
//      says so to all.
//   3. If the hub ends, each rank turns to the next one. Before its vote it says what was decided last and which proposal
//      it holds. The next hub proposes again, as it is, the latest that somebody holds, and only if nobody holds one, a
//      new one.
//
// Why that is enough: once anybody has heard a decision, all that are not gone hold it, so that whoever is hub later
// proposes the same. Hubs only move upwards, and a rank accepts from the hub it follows alone: the number of the hub
// orders the proposals, and an old hub that was given up, but is there, gets no acceptance any more. A decision may name
// a rank that has ended since; whoever tries to meet it fails, and the next agreement leaves it out.
//
// Agreements have numbers. Nobody comes to the next one before all have voted in this one, so that a rank is behind by
// one at most: it is told the result, instead of being counted.
//
// A rank that does not come, or a hub that says nothing, is given up after some time: it is marked as lost, which all
// hear, itself too. The hub waits from the first vote on, the others a little longer, so that they hear of it before they
// give up the hub.
#include <algorithm>
#include <chrono>

#include "comm/watch.h"
#include "ir/check.h"

namespace horngate::comm {
namespace {

using namespace std::chrono_literals;

constexpr int kFollow = 3000;     // milliseconds for connecting to the next hub
constexpr int kReach = 200;       // from it to another rank, again and again
constexpr int64_t kGrace = 4000;  // milliseconds that a hub has for saying whom it has given up

}  // namespace

Watch::Message Watch::message_of(Word word, int hub, uint64_t number, const Survivors& what) const {
  std::string list(static_cast<size_t>(ranks() + 7) / 8, '\0');
  for (const int r : what.ranks) {
    char& byte = list[static_cast<size_t>(r) / 8];
    byte = static_cast<char>(byte | 1 << r % 8);
  }
  return {word, hub, what.flags, number, list};
}

Watch::Survivors Watch::survivors_of(const Message& m) const {
  Survivors out{{}, m.a};
  for (int r = 0; r < ranks(); ++r) {
    const size_t byte = static_cast<size_t>(r) / 8;
    if (byte < m.text.size() && (m.text[byte] >> r % 8 & 1)) out.ranks.push_back(r);
  }
  return out;
}

void Watch::hear(Line& line, const Message& m) {
  const uint64_t number = decisions_.size() + 1;
  if (m.b > number) return;  // comes again on the line that brings the result before it
  if (m.b < number) {
    const bool is_behind = m.b > 0 && (m.word == Word::vote || m.word == Word::proposal);
    if (is_behind) send(line.socket, message_of(Word::result, rank_, m.b, decisions_[m.b - 1]));
    return;
  }
  Agreement& a = agreement_;
  switch (m.word) {
    case Word::vote: return cast(line.rank, m.a);
    case Word::held:
      if (m.rank <= a.hub) return;
      a.hub = m.rank;
      a.proposal = survivors_of(m);
      return;
    case Word::proposal:
      if (m.rank != hub_) return;
      a.hub = m.rank;
      a.proposal = survivors_of(m);
      a.since = milliseconds_now();
      send(line.socket, {Word::accept, rank_, 0, m.b});
      return;
    case Word::accept:
      if (a.hub == rank_) a.accepted.insert(line.rank);
      return advance();
    case Word::result: return decide(survivors_of(m));
    default: return;
  }
}

void Watch::cast(int rank, uint64_t flags) {
  if (agreement_.votes.empty()) agreement_.since = milliseconds_now();
  agreement_.votes[rank] = flags;
  advance();
}

/// The hub proposes or decides, if it has heard of all. When it is late, those it has not heard of are given up.
void Watch::advance(bool is_late) {
  Agreement& a = agreement_;
  if (!is_hub() || !a.votes.count(rank_)) return;
  const bool is_proposed = a.hub == rank_;
  std::vector<int> missing;
  for (int r = 0; r < ranks(); ++r)
    if (!is_gone(r) && !(is_proposed ? a.accepted.count(r) : a.votes.count(r)))
      missing.push_back(r);
  if (!missing.empty()) {
    // The last one comes back here.
    for (const int r : missing)
      if (is_late) mark_lost(r, "did not come when the ranks that are left met");
    return;
  }
  if (is_proposed) return decide(Survivors(a.proposal));
  if (a.hub < 0) {
    a.proposal = {{}, ~uint64_t{0}};
    for (const auto& [r, flags] : a.votes)
      if (!is_gone(r)) {
        a.proposal.ranks.push_back(r);
        a.proposal.flags &= flags;
      }
  }
  a.hub = rank_;
  a.accepted = {rank_};
  a.since = milliseconds_now();
  for (int r = 0; r < ranks(); ++r)
    if (r != rank_ && !is_gone(r))
      send_to(r, message_of(Word::proposal, rank_, decisions_.size() + 1, a.proposal));
  advance();  // nobody else may be left
}

void Watch::decide(const Survivors& what) {
  decisions_.push_back(what);
  agreement_ = {};
  if (is_hub())
    for (int r = 0; r < ranks(); ++r)
      if (r != rank_ && !is_gone(r))
        send_to(r, message_of(Word::result, rank_, decisions_.size(), what));
  changed_.notify_all();
}

/// Turns to the first rank that is not gone; false if it is the same as before.
bool Watch::follow_hub(std::unique_lock<std::mutex>& lock) {
  const int before = hub_;
  for (;;) {
    int hub = hub_;
    while (hub < rank_ && is_gone(hub)) ++hub;
    if (hub == hub_) return hub != before;
    if (hub != rank_) {
      // The lines to the old one stay, or it would take us for lost.
      lock.unlock();
      auto line = open_line(hub, kFollow);
      lock.lock();
      if (!add_line(std::move(line))) {
        mark_lost(hub, "cannot be reached");
        continue;
      }
    }
    hub_ = hub;
  }
}

void Watch::vote(uint64_t flags) {
  const uint64_t number = decisions_.size() + 1;
  if (is_hub()) return cast(rank_, flags);
  if (number > 1) send_to(hub_, message_of(Word::result, rank_, number - 1, decisions_.back()));
  if (agreement_.hub >= 0)
    send_to(hub_, message_of(Word::held, agreement_.hub, number, agreement_.proposal));
  send_to(hub_, {Word::vote, rank_, flags, number});
  agreement_.since = milliseconds_now();
}

/// Nobody has told a new hub of those that ended together with the old one. It has lines to all others from here on.
void Watch::reach_all(std::unique_lock<std::mutex>& lock) {
  for (int r = 0; r < ranks(); ++r) {
    if (r == rank_ || is_gone(r) || has_line(r)) continue;
    bool is_silent = false;
    lock.unlock();
    auto line = open_line(r, kReach, &is_silent);
    lock.lock();
    if (!add_line(std::move(line)) && !is_silent) mark_lost(r, "ended");
  }
}

Watch::Survivors Watch::agree(uint64_t flags, double seconds,
                              const std::function<bool()>& stopped) {
  const auto patience = static_cast<int64_t>(seconds * 1000);
  std::unique_lock lock(mutex_);
  const auto give_up = [&](Trouble trouble, const char* text) {
    agreement_.votes.erase(rank_);
    throw CommError(trouble, rank_, text);
  };
  const auto is_decided = [&] { return decisions_.size() > taken_; };
  constexpr const char* kGivenUp = "the other ranks went on without this one.";
  for (bool has_voted = false; !is_decided();) {
    if (follow_hub(lock) || !has_voted) {
      has_voted = true;
      if (!is_decided()) vote(flags);
      continue;
    }
    if (is_hub()) reach_all(lock);
    changed_.wait_for(lock, 20ms, [&] { return is_decided() || is_gone(hub_); });
    lock.unlock();
    const bool is_stopped = stopped && stopped();
    lock.lock();
    if (is_decided()) break;
    if (lost_.count(rank_)) give_up(Trouble::lost, kGivenUp);
    if (is_stopped) give_up(Trouble::interrupted, "interrupted.");
    if (milliseconds_now() - agreement_.since < patience + (is_hub() ? 0 : kGrace)) continue;
    if (is_hub())
      advance(true);
    else
      mark_lost(hub_, "does not say who is left");
  }
  const Survivors out = decisions_[taken_++];
  if (std::find(out.ranks.begin(), out.ranks.end(), rank_) == out.ranks.end())
    give_up(Trouble::lost, kGivenUp);
  return out;
}

}  // namespace horngate::comm
