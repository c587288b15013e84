// The worker process: started, watched, talked to over one socket, never left behind.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>

#include "find.h"

namespace horngate::theano {

class Process {
 public:
  /// Starts it without waiting until it is ready. Null, and an error text, if it cannot be started.
  static std::unique_ptr<Process> start(const Installation& where, std::string& why);
  ~Process();  // ends it

  bool is_dead() const;
  /// How it ended, for a message: "was killed by signal 9". Waits a moment for the answer.
  std::string how_it_ended() const;

  /// One message, with file descriptors if `n_fd` > 0. False if the process is gone.
  bool send(const void* data, size_t size, const int* fds = nullptr, int n_fd = 0);
  enum class Got { message, nothing_yet, end };
  /// Waits up to 50 ms for one message. `expected`: when it should come, if known. Shortly before, sleeping ends and
  /// polling begins, for a bounded time: being woken takes longer than many a call.
  Got receive(std::string& message, std::chrono::nanoseconds expected = {});
  void signal(int number);

  /// In the child of a fork: forgets the process, which is the parent's.
  void abandon();

 private:
  struct Watch;
  Process() = default;
  ssize_t look(char* buffer, std::chrono::nanoseconds expected);
  std::shared_ptr<Watch> watch_;
  int socket_ = -1, log_ = -1;
};

}  // namespace horngate::theano
