// Operations on a thread of their own, deadlines and errors.
#include "comm/communicator.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "ir/check.h"
#include "ir/environment.h"
#include "ir/fork.h"
#include "ir/interrupt.h"

namespace horngate::comm {
namespace {

using namespace std::chrono_literals;

constexpr int64_t kReport = 400;       // milliseconds of waiting after which the others hear of it
constexpr auto kCause = 500ms;         // within which the watch says who is behind an error
constexpr double kShrinkSeconds = 10;  // that survivors have for coming to shrink
constexpr int kMostTries = 7;          // of shrinking; plug-ins tell 8 groups apart

uint32_t current_generation() { return detail::fork_generation.load(std::memory_order_relaxed); }

}  // namespace

struct Communicator::Job {
  Operation op;
  bool is_done = false;
  std::exception_ptr error;
};

Communicator::Settings Communicator::Settings::from_environment() {
  Settings s;
  if (const int64_t seconds = environment_count("HORNGATE_COMM_TIMEOUT", 1 << 30))
    s.timeout = static_cast<double>(seconds);
  return s;
}

std::shared_ptr<Communicator> Communicator::open(const std::string& plugin, const Options& options,
                                                 const Settings& settings,
                                                 const std::string& origin) {
  const hg_comm_api* api = load_plugin(plugin, origin);
  auto group = Group::open(api, options, {settings.timeout, shall_stop});
  auto out = std::shared_ptr<Communicator>(new Communicator(std::move(group), settings));
  out->introduce();
  return out;
}

std::shared_ptr<Communicator> Communicator::alone() {
  return std::shared_ptr<Communicator>(new Communicator(nullptr, Settings()));
}

Communicator::Communicator(std::unique_ptr<Group> group, const Settings& settings)
    : settings_(settings), group_(std::move(group)), generation_(current_generation()) {
  if (!group_) {
    all_ = {own_identity()};
    return;
  }
  rank_ = group_->rank();
  ranks_ = group_->ranks();
}

/// All ranks get to know what each has written about itself.
void Communicator::gather_identities() {
  Operation op;
  op.kind = Kind::all_gather;
  op.in = &all_[static_cast<size_t>(rank_)];
  op.out = all_.data();
  op.count = sizeof all_[0];
  op.dtype = DType::uint8;
  try {
    perform(*group_, op, {settings_.timeout, shall_stop}, scratch_);
  } catch (const CommError& e) {
    if (e.trouble() == Trouble::interrupted) throw Interrupted("communicator: interrupted.");
    throw;
  }
}

/// Tells the others who we are, and begins to watch them.
void Communicator::introduce() {
  all_.resize(static_cast<size_t>(ranks_));
  Identity& self = all_[static_cast<size_t>(rank_)];
  self = own_identity();
  gather_identities();
  // Only if there are other hosts do they need to reach us: then all get to know the port.
  const bool has_hosts = std::any_of(all_.begin(), all_.end(), [&](const Identity& other) {
    return other.network != self.network;
  });
  Socket listener = listen_on_free_port(has_hosts, self.port);
  gather_identities();
  local_ranks_ = 0;
  for (int r = 0; r < ranks_; ++r)
    if (all_[static_cast<size_t>(r)].machine == self.machine) {
      if (r == rank_) local_rank_ = local_ranks_;
      ++local_ranks_;
    }
  if (ranks_ == 1) return;
  watch_ = std::make_unique<Watch>(
      rank_, all_, std::move(listener), [this](const Event& e) { on_event(e); },
      [this] {
        const std::lock_guard lock(mutex_);
        return place_;
      });
  // From here on everybody has a line to the hub: nobody can end unnoticed.
  try {
    perform(*group_, Operation(), {settings_.timeout, shall_stop}, scratch_);
  } catch (const CommError& e) {
    // Others may be through already, and fail: then this one is open too, the first operation says what happened, and
    // the rest can be shrunk to.
    try {
      explain(Operation(), e);
    } catch (const CommError& cause) {
      if (cause.trouble() == Trouble::timeout || cause.rank() == rank_) throw;
    }
  }
}

Communicator::~Communicator() {
  if (generation_ !=
      current_generation()) {  // a forked child has neither the threads nor the others
    if (thread_.joinable()) thread_.detach();
    if (watch_) watch_->forget_thread();
    (void)group_.release();
    (void)watch_.release();
    return;
  }
  end_thread();
  watch_.reset();
}

bool Communicator::is_here() const { return generation_ == current_generation(); }

void Communicator::check_process() const {
  check<RuntimeError>(
      is_here() || !group_, "distributed",
      "a process that was forked from a rank is not a rank and cannot communicate.");
}

std::string Communicator::host(int rank) const { return all_.at(static_cast<size_t>(rank)).host; }

std::string Communicator::name_of(int rank) const {
  return rank < 0 ? "a rank" : text_of("rank ", rank, " (host ", host(rank), ")");
}

// Faults.

void Communicator::set_fault(const Event& fault) {
  if (fault_.trouble == Trouble::none) fault_ = fault;
  changed_.notify_all();
}

/// Whether the ranks that shrink builds a communicator of cannot meet. Under the lock. What is said late of ranks that
/// are not among them does not count: they would begin again for nothing.
bool Communicator::ends_successor(const Event& event) const {
  if (!successor_.group) return false;
  if (event.trouble == Trouble::lost || event.trouble == Trouble::left)
    return std::find(successor_.ranks.begin(), successor_.ranks.end(), event.rank) !=
           successor_.ranks.end();
  return unmet_ >= successor_.number;
}

void Communicator::on_event(const Event& event) {
  {
    const std::lock_guard lock(mutex_);
    if (event.trouble == Trouble::left) {
      // A fault for those that go on longer than it did.
      if (left_.trouble == Trouble::none || event.operations < left_.operations) left_ = event;
      if (event.is_well && place_.operations <= event.operations) return;
      set_fault(left_);  // who left first, perhaps because of whom this one leaves
    }
    set_fault(event);
    if (event.trouble == Trouble::given_up) unmet_ = std::max(unmet_, event.operations);
    if (ends_successor(event)) successor_.group->abort();
  }
  group_->abort();
}

bool Communicator::is_broken() {
  const std::lock_guard lock(mutex_);
  return fault_.trouble != Trouble::none;
}

/// Under the lock.
std::string Communicator::text_of_fault(const Operation& op) const {
  const std::string what =
      text_of(comm::name_of(op.kind), op.name.empty() ? "" : " \"" + op.name + "\"", ": ");
  const std::string who = name_of(fault_.rank);
  switch (fault_.trouble) {
    case Trouble::left: return what + who + " has ended its program, and this rank has not.";
    case Trouble::given_up:
      return what + (fault_.rank == rank_ ? "this rank" : who) + " gave up: " + fault_.text;
    case Trouble::timeout:
      return text_of(what, "not done after ", settings_.timeout, " s (HORNGATE_COMM_TIMEOUT); ",
                     fault_.rank < 0 ? "all ranks answer" : who + " " + fault_.text, ".");
    case Trouble::mismatch: return what + fault_.text;
    case Trouble::interrupted: return what + "interrupted.";
    default: return what + who + " " + fault_.text + ".";
  }
}

void Communicator::tell_interrupted() {
  if (watch_) watch_->tell({Trouble::given_up, rank_, "it was interrupted."});
}

/// Finds out who is behind an error, and throws.
void Communicator::explain(const Operation& op, const CommError& from) {
  Event late;
  if (from.trouble() == Trouble::timeout && watch_) late = watch_->find_late();
  std::unique_lock lock(mutex_);
  const auto is_known = [&] { return fault_.trouble != Trouble::none; };
  switch (from.trouble()) {
    case Trouble::interrupted:
      if (!is_known()) set_fault({Trouble::interrupted, rank_, ""});
      break;
    case Trouble::timeout:
      set_fault({late.trouble == Trouble::lost ? Trouble::lost : Trouble::timeout,
                 late.rank >= 0 ? late.rank : from.rank(), late.text});
      break;
    default:
      // The library only knows that something is wrong; the watch knows more, a little later.
      if (watch_) changed_.wait_for(lock, kCause, is_known);
      if (from.rank() < 0)
        set_fault({Trouble::given_up, rank_, from.what()});
      else
        set_fault({Trouble::lost, from.rank(), text_of("cannot be reached: ", from.what())});
  }
  const Event fault = fault_;
  const bool is_found = from.trouble() == Trouble::timeout || fault.rank == rank_;
  const std::string text = text_of_fault(op);
  lock.unlock();
  group_->abort();
  if (fault.trouble == Trouble::interrupted) {
    tell_interrupted();
    throw Interrupted(text);
  }
  if (watch_ && is_found) watch_->tell(fault);
  throw CommError(fault.trouble, fault.rank, text);
}

void Communicator::execute(Job& job) {
  {
    const std::lock_guard lock(mutex_);
    const bool goes_on = left_.trouble != Trouble::none && place_.operations >= left_.operations;
    if (fault_.trouble == Trouble::none && goes_on) set_fault(left_);
    if (fault_.trouble != Trouble::none)
      throw CommError(fault_.trouble, fault_.rank, text_of_fault(job.op));
    ++place_.operations;
    place_.waits_in = signature_of(job.op);
  }
  const int64_t began = milliseconds_now();
  bool is_reported = false;
  const auto stopped = [&] {
    if (!is_reported && watch_ && milliseconds_now() - began > kReport) {
      is_reported = true;
      watch_->report_waiting(place_);
    }
    return shall_stop();
  };
  try {
    perform(*group_, job.op, {settings_.timeout, stopped}, scratch_);
  } catch (const CommError& e) {
    explain(job.op, e);
  } catch (const std::exception& e) {  // no memory: the others would wait for this rank
    give_up(e.what());
    throw;
  }
  const std::lock_guard lock(mutex_);
  place_.waits_in.clear();
}

// Operations.

void Communicator::loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ends_ || (!queue_.empty() && !busy_); });
    if (ends_) return;
    const Ticket job = queue_.front();
    queue_.pop_front();
    busy_ = true;
    lock.unlock();
    try {
      execute(*job);
    } catch (...) {
      job->error = std::current_exception();
    }
    lock.lock();
    busy_ = false;
    job->is_done = true;
    job->op.keep.reset();
    changed_.notify_all();
  }
}

/// Under the lock.
void Communicator::check_start(const Operation& op) const {
  check(op.root >= 0 && op.root < ranks_, comm::name_of(op.kind), "root must be in [0, ", ranks_,
        "); got ", op.root, ".");
  // It would wait for the operation that waits for it.
  check<RuntimeError>(runs_on_ != std::this_thread::get_id(), comm::name_of(op.kind),
                      "this thread is in another operation; a signal handler cannot begin one.");
}

Communicator::Ticket Communicator::start(Operation op) {
  check_process();
  auto job = std::make_shared<Job>();
  job->op = std::move(op);
  const std::lock_guard lock(mutex_);
  check_start(job->op);
  check<RuntimeError>(!closed_, comm::name_of(job->op.kind), "the communicator is closed.");
  if (!group_) {
    perform_alone(job->op);
    job->is_done = true;
    return job;
  }
  if (!thread_.joinable()) thread_ = std::thread([this] { loop(); });
  queue_.push_back(job);
  changed_.notify_all();
  return job;
}

bool Communicator::is_done(const Ticket& ticket) {
  const std::lock_guard lock(mutex_);
  return ticket->is_done;
}

void Communicator::wait(const Ticket& ticket) {
  check_process();
  std::unique_lock lock(mutex_);
  bool is_stopped = false;
  while (!changed_.wait_for(lock, 10ms, [&] { return ticket->is_done; })) {
    if (is_stopped || !shall_stop()) continue;
    is_stopped = true;
    set_fault({Trouble::interrupted, rank_, ""});
    lock.unlock();
    group_->abort();
    tell_interrupted();
    lock.lock();
  }
  lock.unlock();
  if (is_stopped) throw Interrupted(text_of(comm::name_of(ticket->op.kind), ": interrupted."));
  if (ticket->error) std::rethrow_exception(ticket->error);
}

void Communicator::run(Operation op) {
  check_process();
  std::unique_lock lock(mutex_);
  if (!group_ || busy_ || !queue_.empty() || closed_) {
    lock.unlock();
    return wait(start(std::move(op)));
  }
  check_start(op);
  busy_ = true;
  runs_on_ = std::this_thread::get_id();
  lock.unlock();
  Job job;
  job.op = std::move(op);
  const auto free = [&] {
    lock.lock();
    busy_ = false;
    runs_on_ = {};
    changed_.notify_all();
  };
  try {
    execute(job);
  } catch (...) {
    free();
    throw;
  }
  free();
}

// Ends.

void Communicator::give_up(const std::string& why) {
  check_process();
  if (!group_) return;
  {
    const std::lock_guard lock(mutex_);
    set_fault({Trouble::given_up, rank_, why});
  }
  group_->abort();
  if (watch_) watch_->tell({Trouble::given_up, rank_, why});
}

Watch::Survivors Communicator::agree(uint64_t flags) {
  check_process();
  if (!watch_) return {{0}, flags};
  return watch_->agree(flags, std::min(settings_.timeout, kShrinkSeconds), shall_stop);
}

/// A communicator of these ranks; null if one of them was lost meanwhile, or cannot reach another one.
std::shared_ptr<Communicator> Communicator::try_shrink(const std::vector<int>& ranks,
                                                       uint64_t number) {
  auto now = std::shared_ptr<Communicator>(new Communicator(group_->shrink(ranks), settings_));
  const auto set_successor = [&](const Successor& successor) {
    const std::lock_guard lock(mutex_);
    successor_ = successor;
    return unmet_ >= number;
  };
  const bool is_unmet = set_successor({now->group_.get(), ranks, number});
  if (is_unmet || (watch_ && watch_->has_lost(ranks))) now->group_->abort();
  std::exception_ptr error;
  try {
    now->introduce();
  } catch (const Interrupted&) {
    error = std::current_exception();
  } catch (const Error&) {
    // A rank that is stopped leaves: it would be counted, and fail, in every try.
    if (shall_stop())
      error = std::current_exception();
    else
      now->give_up("the others could not be reached.");
  }
  set_successor({});
  if (error) std::rethrow_exception(error);
  if (!now->is_broken()) return now;
  // The others may wait for this one, and have no line to it yet but the old one.
  if (watch_)
    watch_->tell({Trouble::given_up, rank_, "it does not meet the others that are left.", number});
  return nullptr;
}

/// A rank may be lost while the rest meets. So all of them say through the old watch whether they have met: either all go
/// on with the same communicator, or all try again without whom they have lost.
std::shared_ptr<Communicator> Communicator::meet_survivors() {
  Watch::Survivors left = agree(1);
  end_thread();
  for (int tries = 1;; ++tries) {
    check<RuntimeError>(tries <= kMostTries, "shrink", "the ranks that are left do not meet.");
    for (int r = 0; r < ranks_; ++r)
      if (std::find(left.ranks.begin(), left.ranks.end(), r) == left.ranks.end())
        end_process(all_[static_cast<size_t>(rank_)], all_[static_cast<size_t>(r)]);
    auto now = try_shrink(left.ranks, static_cast<uint64_t>(tries));
    const Watch::Survivors met = agree(now ? 1 : 0);
    if ((met.flags & 1) && met.ranks == left.ranks) return now;
    left = met;
  }
}

std::shared_ptr<Communicator> Communicator::shrink() {
  check<RuntimeError>(group_ && group_->can_shrink(), "shrink",
                      "this communicator cannot go on without a rank.");
  std::shared_ptr<Communicator> now;
  try {
    now = meet_survivors();
  } catch (...) {
    // The others need not wait for this one.
    if (watch_) watch_->leave(false, place_.operations);
    throw;
  }
  // The end of its lines is the end of this rank for those that close the old communicator.
  watch_.reset();
  const std::lock_guard lock(mutex_);
  closed_ = true;
  return now;
}

void Communicator::end_thread() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Communicator::close() {
  if (!is_here() || !group_) return;
  uint64_t operations = 0;
  {
    std::unique_lock lock(mutex_);
    if (closed_) return;
    closed_ = true;
    changed_.wait(lock, [&] { return !busy_ && queue_.empty(); });
    operations = place_.operations;
  }
  end_thread();
  bool is_well = !is_broken();
  if (fault_.trouble == Trouble::lost && fault_.rank != rank_)
    end_process(all_[static_cast<size_t>(rank_)], all_[static_cast<size_t>(fault_.rank)]);
  bool is_stopped = false;
  const auto stopped = [&] { return is_stopped = is_stopped || shall_stop(); };
  if (watch_) {
    watch_->leave(is_well, operations);
    Operation closing;
    closing.form = "the end";  // which is not what a rank waits for that goes on
    try {
      // A library may still have to send what we gave it: it does so while we wait in one of its operations.
      if (is_well) perform(*group_, closing, {-1, stopped}, scratch_);
    } catch (const CommError&) {
      is_well = false;
    }
    is_well = watch_->wait_for_all(stopped) && is_well;
    watch_.reset();  // its thread uses the group
  }
  group_->close(is_well);
  if (is_stopped) throw Interrupted("shutdown: interrupted.");
}

}  // namespace horngate::comm
