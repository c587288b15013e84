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
  if (!is_hub() && !add_line(open_line(hub_, kConnect)))
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

/// A connection on which the other side gets to know who we are. `is_silent` is set if it may be there, but does not
/// answer in time.
std::unique_ptr<Watch::Line> Watch::open_line(int rank, int milliseconds, bool* is_silent) const {
  auto line = std::make_unique<Line>();
  line->socket = connect_to(all_[static_cast<size_t>(rank_)], all_[static_cast<size_t>(rank)],
                            milliseconds, is_silent);
  line->rank = rank;
  const auto& token = all_[0].token;
  const bool is_open = line->socket && send(line->socket, {Word::hello, rank_, token[0], token[1]});
  return is_open ? std::move(line) : nullptr;
}

bool Watch::add_line(std::unique_ptr<Line> line) {
  if (!line) return false;
  for (const Message& earlier : told_) send(line->socket, earlier);
  lines_.push_back(std::move(line));
  wake();
  return true;
}

bool Watch::has_line(int rank) const {
  return std::any_of(lines_.begin(), lines_.end(),
                     [&](const auto& line) { return line->rank == rank && line->socket; });
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
  const Message m = {Word::lost, rank, 0, 0, text};
  if (is_hub()) {
    tell_all(m);
  } else {
    told_.push_back(m);
    send_to(rank, m);  // it may be there after all
  }
  for (const auto& line : lines_)
    if (line->rank == rank) line->socket.close();
  // Whoever has left in order may end.
  if (!left_.count(rank)) events_.push_back({Trouble::lost, rank, text});
  advance();
  wake();
  changed_.notify_all();
}

void Watch::mark_left(const Message& m) {
  if (!left_.insert(m.rank).second) return;
  const bool is_well = m.a != 0;
  all_well_ = all_well_ && is_well;
  waiting_.erase(m.rank);
  if (m.rank != rank_) events_.push_back({Trouble::left, m.rank, "", m.b, is_well});
  const Message left = {Word::left, m.rank, m.a, m.b};
  if (is_hub()) {
    tell_all(left, m.rank);
    count_leavers();
    advance();
  } else {
    told_.push_back(left);
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
  const Message m = {Word::fault, fault.rank, static_cast<uint64_t>(fault.trouble),
                     fault.operations, fault.text};
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

/// But those that are gone; some of which answer, as the hub does until all have left.
bool Watch::have_all_answered() const {
  for (int r = 0; r < ranks(); ++r)
    if (!is_gone(r) && !round_.answers.count(r)) return false;
  return true;
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
  if (asks) mark_lost(hub.rank, hub.text);
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
  return std::any_of(ranks.begin(), ranks.end(), [&](int r) { return is_gone(r); });
}

}  // namespace horngate::comm
