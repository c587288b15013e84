// The ranks of a program as the library sees them: operations that are started and waited for, on a thread of their
// own, with deadlines; errors that name the rank and its host.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "comm/collectives.h"
#include "comm/watch.h"

namespace horngate::comm {

class Communicator {
 public:
  struct Settings {
    double timeout = 600;  // seconds that an operation may take
    /// HORNGATE_COMM_TIMEOUT.
    static Settings from_environment();
  };

  /// Opens a plug-in. All ranks do.
  static std::shared_ptr<Communicator> open(const std::string& plugin, const Options& options,
                                            const Settings& settings,
                                            const std::string& origin = {});
  /// Of this process alone.
  static std::shared_ptr<Communicator> alone();
  /// Closes without waiting for anybody, unless `close` was called.
  ~Communicator();

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  /// Among the ranks on this machine.
  int local_rank() const { return local_rank_; }
  int local_ranks() const { return local_ranks_; }
  std::string host(int rank) const;
  /// False in a process that was forked from a rank.
  bool is_here() const;
  /// "rank 2 (host b)"
  std::string name_of(int rank) const;

  struct Job;
  using Ticket = std::shared_ptr<Job>;
  /// Begins an operation and returns at once. Operations run one after the other, in the order in which they were
  /// started, which must be the same on all ranks.
  Ticket start(Operation op);
  /// Waits for its end. Throws CommError, or Interrupted after Ctrl-C; then the communicator is broken.
  void wait(const Ticket& ticket);
  bool is_done(const Ticket& ticket);
  /// Both; the fastest way for short operations, which run on this thread if nothing else is under way.
  void run(Operation op);

  /// Tells all ranks that this one cannot go on; their operations throw with this text.
  void give_up(const std::string& why);
  bool is_broken();
  /// After a CommError: the ranks that are left go on. All of them call it; the new communicator has them in the same
  /// order, and this one is closed. Throws if the plug-in cannot do so, or if the rest is gone too.
  std::shared_ptr<Communicator> shrink();
  /// As shrink, without a new communicator: the AND of the survivors' flags.
  Watch::Survivors agree(uint64_t flags);
  /// Waits for what is under way and until all ranks close. A communicator that is broken does not wait.
  void close();

 private:
  Communicator(std::unique_ptr<Group> group, const Settings& settings);
  void check_process() const;
  void check_start(const Operation& op) const;
  void gather_identities();
  void introduce();
  void on_event(const Event& event);
  void loop();
  void execute(Job& job);
  [[noreturn]] void explain(const Operation& op, const CommError& from);
  void set_fault(const Event& fault);
  void tell_interrupted();
  std::string text_of_fault(const Operation& op) const;
  void end_thread();
  std::shared_ptr<Communicator> try_shrink(const std::vector<int>& ranks, uint64_t number);
  std::shared_ptr<Communicator> meet_survivors();
  bool ends_successor(const Event& event) const;

  const Settings settings_;
  std::unique_ptr<Group> group_;
  std::unique_ptr<Watch> watch_;
  std::vector<Identity> all_;
  int rank_ = 0, ranks_ = 1, local_rank_ = 0, local_ranks_ = 1;
  const uint32_t generation_;
  Scratch scratch_;

  std::mutex mutex_;
  std::condition_variable changed_;
  struct Successor {  // being built by shrink: faults of its ranks end that too
    Group* group = nullptr;
    std::vector<int> ranks;
    uint64_t number = 0;  // of the try, from 1 on
  };
  Successor successor_;
  uint64_t unmet_ = 0;  // the last try that somebody gave up
  std::deque<Ticket> queue_;
  bool busy_ = false, ends_ = false, closed_ = false;
  std::thread::id runs_on_ = {};  // the thread of a caller that does an operation itself
  Event fault_, left_;
  Watch::Place place_;
  std::thread thread_;
};

/// The communicator of this program: opened at the first call, by HORNGATE_COMM or the launcher's variables, and
/// closed when the program ends. Alone if there is no launcher.
std::shared_ptr<Communicator> world();
bool has_world();
/// After shrink.
void set_world(std::shared_ptr<Communicator> now);
/// Before the program ends. The next call of world opens another one, if the plug-in can.
void close_world();

}  // namespace horngate::comm
