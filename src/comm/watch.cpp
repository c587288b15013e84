// The watch: lines between ranks and the hub, and what is said on them.
#include "comm/watch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>

#include "ir/check.h"

namespace horngate::comm {
namespace {

using namespace std::chrono_literals;

constexpr int kConnect = 3000;   // milliseconds
constexpr int64_t kRound = 350;  // milliseconds that a rank has for answering a ping
constexpr auto kAnswer = 800ms;  // the hub, with a round of its own

}  // namespace

Watch::Watch(int rank, std::vector<Identity> all, Socket listener,
             std::function<void(const Event&)> on_event, std::function<Place()> place)
    : rank_(rank),
      all_(std::move(all)),
      on_event_(std::move(on_event)),
      place_(std::move(place)),
      listener_(std::move(listener)) {
  int both[2];
  if (::pipe2(both, O_CLOEXEC | O_NONBLOCK) != 0)
    throw std::system_error(errno, std::generic_category(), "watch");
  wake_read_ = Socket(both[0]);
  wake_write_ = Socket(both[1]);
  if (!is_hub() && !connect_to_hub())
    fail<RuntimeError>("communicator", "cannot connect to ", name_of(hub_),
                       " for watching each other. Is there a firewall between the hosts?");
  thread_ = std::thread([this] { loop(); });
}

Watch::~Watch() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake();
  if (thread_.joinable()) thread_.join();
}

void Watch::forget_thread() {
  if (thread_.joinable()) thread_.detach();
}

std::string Watch::name_of(int rank) const {
  if (rank < 0 || rank >= ranks()) return "a rank";
  const char* host = all_[static_cast<size_t>(rank)].host;
  return text_of("rank ", rank, " (host ", std::string_view(host), ")");
}

void Watch::wake() {
  const char byte = 0;
  [[maybe_unused]] const auto n = ::write(wake_write_.fd(), &byte, 1);
}

bool Watch::connect_to_hub() {
  const size_t self = static_cast<size_t>(rank_), hub = static_cast<size_t>(hub_);
  auto line = std::make_unique<Line>();
  line->socket = connect_to(all_[self], all_[hub], kConnect);
  line->rank = hub_;
  const auto& token = all_[0].token;
  if (!line->socket || !send(line->socket, {Word::hello, rank_, token[0], token[1]})) return false;
  lines_.push_back(std::move(line));
  return true;
}

void Watch::send_to(int rank, const Message& m) {
  for (const auto& line : lines_)
    if (line->rank == rank && line->socket) send(line->socket, m);
}

void Watch::tell_all(const Message& m, int but) {
  if (m.word != Word::ping) told_.push_back(m);
  for (const auto& line : lines_)
    if (line->rank >= 0 && line->rank != but && line->socket) send(line->socket, m);
}

// The rest is under the lock; on_event_ is called without it, by deliver.

void Watch::mark_lost(int rank, const std::string& text) {
  if (!lost_.insert(rank).second) return;
  waiting_.erase(rank);
  if (is_hub()) tell_all({Word::lost, rank, 0, 0, text});
  for (const auto& line : lines_)
    if (line->rank == rank) line->socket.close();
  // Whoever has left in order may end.
  if (!left_.count(rank)) events_.push_back({Trouble::lost, rank, text});
  if (is_hub()) count_votes(false);
  changed_.notify_all();
}

void Watch::mark_left(const Message& m) {
  if (!left_.insert(m.rank).second) return;
  const bool is_well = m.a != 0;
  all_well_ = all_well_ && is_well;
  waiting_.erase(m.rank);
  if (m.rank != rank_) events_.push_back({Trouble::left, m.rank, "", m.b, is_well});
  if (is_hub()) {
    tell_all({Word::left, m.rank, m.a, m.b}, m.rank);
    count_leavers();
    count_votes(false);
  }
  changed_.notify_all();
}

void Watch::deliver(std::unique_lock<std::mutex>& lock) {
  while (!events_.empty()) {
    const Event event = events_.front();
    events_.erase(events_.begin());
    lock.unlock();
    on_event_(event);
    lock.lock();
  }
}

void Watch::compare_waiting() {
  for (auto a = waiting_.begin(); a != waiting_.end(); ++a)
    for (auto b = std::next(a); b != waiting_.end(); ++b) {
      const auto& [x, there] = *a;
      const auto& [y, here] = *b;
      if (there.operations != here.operations || there.waits_in == here.waits_in) continue;
      const std::string text =
          text_of(name_of(x), " is at ", there.waits_in, ", but ", name_of(y), " at ",
                  here.waits_in, ": operation ", here.operations, " of the program.");
      tell_all({Word::fault, y, static_cast<uint64_t>(Trouble::mismatch), 0, text});
      events_.push_back({Trouble::mismatch, y, text});
      waiting_.clear();
      return;
    }
}

void Watch::report_waiting(const Place& place) {
  std::unique_lock lock(mutex_);
  if (is_hub()) {
    waiting_[rank_] = place;
    compare_waiting();
    if (!events_.empty()) wake();
  } else {
    send_to(hub_, {Word::waiting, rank_, place.operations, 0, place.waits_in});
  }
}

void Watch::tell(const Event& fault) {
  const std::lock_guard lock(mutex_);
  const Message m = {Word::fault, fault.rank, static_cast<uint64_t>(fault.trouble), 0, fault.text};
  if (is_hub())
    tell_all(m);
  else
    send_to(hub_, m);
}

void Watch::begin_round(int asker) {
  round_.askers.insert(asker);
  if (round_.is_on) return;
  round_.is_on = true;
  round_.ends = milliseconds_now() + kRound;
  round_.answers.clear();
  round_.answers[rank_] = place_();
  tell_all({Word::ping});
}

/// Of the ranks that do not answer, or else of those that are behind, the first is to blame.
void Watch::end_round() {
  round_.is_on = false;
  Event found;
  uint64_t most = 0;
  for (const auto& [rank, place] : round_.answers) most = std::max(most, place.operations);
  for (int r = 0; r < ranks() && found.rank < 0; ++r)
    if (!lost_.count(r) && !left_.count(r) && !round_.answers.count(r))
      found = {Trouble::lost, r, "does not answer: it is stopped, or its host is"};
  for (const auto& [rank, place] : round_.answers) {
    if (found.rank >= 0) break;
    if (place.operations < most)
      found = {
          Trouble::timeout, rank,
          text_of("has not come to it: it has begun ", place.operations, " operations of ", most)};
  }
  for (const int asker : round_.askers) {
    if (asker == rank_) {
      answer_ = found;
      has_answer_ = true;
    } else {
      send_to(asker,
              {Word::answer, found.rank, static_cast<uint64_t>(found.trouble), 0, found.text});
    }
  }
  round_.askers.clear();
  // The operation has failed in any case. Nobody waits for it any more.
  if (found.trouble == Trouble::lost) mark_lost(found.rank, found.text);
  changed_.notify_all();
}

Event Watch::find_late() {
  std::unique_lock lock(mutex_);
  has_answer_ = false;
  const bool asks = !is_hub();
  if (asks)
    send_to(hub_, {Word::ask, rank_});
  else
    begin_round(rank_);
  wake();
  if (changed_.wait_for(lock, kAnswer,
                        [&] { return has_answer_ || (asks && lost_.count(hub_)); }) &&
      has_answer_)
    return answer_;
  const Event hub = {Trouble::lost, hub_, "does not answer: it is stopped, or its host is"};
  if (asks) lost_.insert(hub_);
  return asks ? hub : Event{};
}

void Watch::count_leavers() {
  if (all_left_ || static_cast<int>(left_.size()) < ranks()) return;
  all_left_ = true;
  tell_all({Word::all_left, rank_, all_well_});
}

void Watch::leave(bool is_well, uint64_t operations) {
  const std::lock_guard lock(mutex_);
  const Message bye = {Word::bye, rank_, is_well, operations};
  if (is_hub())
    mark_left(bye);
  else
    send_to(hub_, bye);
}

bool Watch::wait_for_all(const std::function<bool()>& stopped) {
  std::unique_lock lock(mutex_);
  const auto is_over = [&] { return all_left_ || !lost_.empty(); };
  while (!changed_.wait_for(lock, 20ms, is_over)) {
    lock.unlock();
    const bool gives_up = stopped && stopped();
    lock.lock();
    if (gives_up) return false;
  }
  return all_left_ && all_well_;
}

bool Watch::has_lost(const std::vector<int>& ranks) {
  const std::lock_guard lock(mutex_);
  return std::any_of(ranks.begin(), ranks.end(), [&](int r) { return lost_.count(r) > 0; });
}

void Watch::count_votes(bool is_late) {
  if (votes_.empty() || !votes_.count(rank_)) return;
  Survivors s{{}, ~uint64_t{0}};
  for (int r = 0; r < ranks(); ++r) {
    if (const auto it = votes_.find(r); it != votes_.end() && !lost_.count(r)) {
      s.ranks.push_back(r);
      s.flags &= it->second;
    } else if (!lost_.count(r) && !left_.count(r) && !is_late) {
      return;
    }
  }
  std::string list(static_cast<size_t>(ranks() + 7) / 8, '\0');
  for (const int r : s.ranks)
    list[static_cast<size_t>(r) / 8] =
        static_cast<char>(list[static_cast<size_t>(r) / 8] | 1 << r % 8);
  for (const int r : s.ranks)
    if (r != rank_) send_to(r, {Word::result, rank_, s.flags, 0, list});
  votes_.clear();
  result_ = std::move(s);
  has_result_ = true;
  changed_.notify_all();
}

Watch::Survivors Watch::agree(uint64_t flags, double seconds,
                              const std::function<bool()>& stopped) {
  std::unique_lock lock(mutex_);
  const int64_t ends = milliseconds_now() + static_cast<int64_t>(seconds * 1000);
  has_result_ = false;
  for (bool is_new = true;;) {
    int hub = 0;
    while (hub < rank_ && (lost_.count(hub) || left_.count(hub))) ++hub;
    if (hub != hub_ || is_new) {
      if (hub != hub_) {
        hub_ = hub;  // the line to the old one stays, or that would take us for lost
        if (!is_hub() && !connect_to_hub()) {
          lost_.insert(hub_);
          continue;
        }
        wake();
      }
      is_new = false;
      if (is_hub()) {
        votes_[rank_] = flags;
        count_votes(false);
      } else {
        send_to(hub_, {Word::vote, rank_, flags});
      }
    }
    changed_.wait_for(lock, 20ms, [&] { return has_result_ || lost_.count(hub_); });
    if (has_result_) return result_;
    if (is_hub() &&
        hub_ != 0) {  // nobody has told us of those that ended together with the old hub
      for (int r = 0; r < ranks(); ++r) {
        const bool is_known = r == rank_ || lost_.count(r) || left_.count(r) || votes_.count(r);
        if (!is_known &&
            !connect_to(all_[static_cast<size_t>(rank_)], all_[static_cast<size_t>(r)], 200))
          mark_lost(r, "ended");
      }
    }
    lock.unlock();
    const bool gives_up = stopped && stopped();
    lock.lock();
    if (gives_up) throw CommError(Trouble::interrupted, rank_, "interrupted.");
    if (milliseconds_now() < ends) continue;
    if (!is_hub())
      throw CommError(Trouble::timeout, hub_, name_of(hub_) + " does not say who is left.");
    count_votes(true);
  }
}

}  // namespace horngate::comm
