// The watch: a thread in each rank that notices when another rank ends, stops, leaves or gives up, whatever the
// communicator notices. Each rank has a connection to one of them, the hub (rank 0), which tells the others. When a
// process ends, its system closes the connection. After a fault the survivors agree through the watch on who is left;
// watch_agree.cpp says how.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "comm/group.h"
#include "comm/identity.h"

namespace horngate::comm {

inline int64_t milliseconds_now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// What befell another rank.
struct Event {
  Trouble trouble = Trouble::none;
  int rank = -1;
  std::string text = {};  // what rank did, if it said so
  // Of a rank that leaves: how many operations it took part in, and whether all was well. Of a rank that gave up: which
  // try of meeting the other survivors; 0: none.
  uint64_t operations = 0;
  bool is_well = true;
};

class Watch {
 public:
  /// Where this rank is: how many operations it has begun, and the signature of the one it waits in, if it does.
  struct Place {
    uint64_t operations = 0;
    std::string waits_in;
  };

  /// `on_event` comes from the watch's thread, also for ranks that leave in order.
  Watch(int rank, std::vector<Identity> all, Socket listener,
        std::function<void(const Event&)> on_event, std::function<Place()> place);
  ~Watch();
  Watch(const Watch&) = delete;

  /// "rank 2 (host b)"
  std::string name_of(int rank) const;

  /// This rank waits for long: if another one waits elsewhere, that is a mismatch.
  void report_waiting(const Place& place);
  /// Tells everybody of a fault that this rank has found, or is.
  void tell(const Event& fault);
  /// At a deadline: who is to blame. Takes up to 0.8 s.
  Event find_late();
  /// This rank ends, well or not, after so many operations.
  void leave(bool is_well, uint64_t operations);
  /// Waits until all ranks have left; true if all of them are well.
  bool wait_for_all(const std::function<bool()>& stopped);
  /// After a fault: the ranks that are left and the AND of their flags. All of them call it, and all get the same. Those
  /// that do not within so many seconds are given up: theirs throws, and so does that of a rank whom `stopped` ends.
  struct Survivors {
    std::vector<int> ranks;
    uint64_t flags = 0;
  };
  Survivors agree(uint64_t flags, double seconds, const std::function<bool()>& stopped);
  /// Whether one of these is known to be lost or to have left.
  bool has_lost(const std::vector<int>& ranks);
  /// In a forked child the thread does not exist.
  void forget_thread();

 private:
  enum class Word : uint32_t {
    hello,
    bye,
    all_left,
    left,
    lost,
    waiting,
    fault,
    ask,
    answer,
    ping,
    pong,
    vote,
    held,
    proposal,
    accept,
    result
  };
  struct Message {
    Word word = Word::hello;
    int32_t rank = -1;
    uint64_t a = 0, b = 0;
    std::string text = {};
  };
  struct Line {  // a connection
    Socket socket;
    int rank = -1;  // unknown before its hello
    std::string unread;
  };
  struct Round {  // of pings
    bool is_on = false;
    int64_t ends = 0;
    std::set<int> askers;
    std::map<int, Place> answers;
  };
  struct Agreement {  // the one under way
    std::map<int, uint64_t> votes;
    int hub = -1;  // whose proposal this rank holds; -1: none
    Survivors proposal;
    std::set<int> accepted;  // by whom, if it is ours
    int64_t since = 0;       // when waiting for votes, for acceptance or for the hub began
  };

  void loop();
  void handle(Line& line, const Message& m);
  void read(Line& line);
  bool send(const Socket& to, const Message& m) const;
  void send_to(int rank, const Message& m);
  void tell_all(const Message& m, int but = -1);
  void mark_lost(int rank, const std::string& text);
  void mark_left(const Message& m);
  void compare_waiting();
  void begin_round(int asker);
  void end_round();
  bool have_all_answered() const;
  void count_leavers();
  bool is_hub() const { return hub_ == rank_; }
  bool is_gone(int rank) const { return lost_.count(rank) > 0 || left_.count(rank) > 0; }
  bool has_line(int rank) const;
  std::unique_ptr<Line> open_line(int rank, int milliseconds, bool* is_silent = nullptr) const;
  bool add_line(std::unique_ptr<Line> line);
  // Of agreements.
  Message message_of(Word word, int hub, uint64_t number, const Survivors& what) const;
  Survivors survivors_of(const Message& m) const;
  void hear(Line& line, const Message& m);
  void cast(int rank, uint64_t flags);
  void advance(bool is_late = false);
  void decide(const Survivors& what);
  bool follow_hub(std::unique_lock<std::mutex>& lock);
  void vote(uint64_t flags);
  void reach_all(std::unique_lock<std::mutex>& lock);
  int ranks() const { return static_cast<int>(all_.size()); }
  void wake();
  void deliver(std::unique_lock<std::mutex>& lock);

  const int rank_;
  const std::vector<Identity> all_;
  const std::function<void(const Event&)> on_event_;
  const std::function<Place()> place_;

  std::mutex mutex_;
  std::condition_variable changed_;
  int hub_ = 0;
  Socket listener_, wake_read_, wake_write_;
  std::vector<std::unique_ptr<Line>> lines_;
  std::set<int> lost_, left_;
  std::map<int, Place> waiting_;
  std::vector<Event> events_;  // not delivered yet
  std::vector<Message>
      told_;  // to all, or heard of ranks that are gone; said again on each new line
  Round round_;
  bool has_answer_ = false, all_left_ = false, all_well_ = true, ends_ = false;
  Event answer_;
  Agreement agreement_;
  std::vector<Survivors> decisions_;  // of all agreements so far
  size_t taken_ = 0;                  // of them, by callers of agree
  std::thread thread_;
};

}  // namespace horngate::comm
