// Who a rank is and where it can be reached; ranks tell each other when they open a group.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>

namespace horngate::comm {

/// Sent as it is.
struct Identity {
  char host[64] = {};
  uint64_t machine = 0, network = 0;  // equal on one machine; in one network of one machine
  uint64_t processes = 0;             // equal where numbers of processes mean the same
  int32_t pid = 0;
  uint64_t began = 0;  // since its machine did; a number of a process may be given again
  std::array<uint32_t, 6> addresses = {};  // IPv4, in network order; 0: none
  uint16_t port = 0;                       // where its watch listens; 0: it has none
  std::array<uint64_t, 2> token = {};      // rank 0's lets others in
};
static_assert(std::is_trivially_copyable_v<Identity>);

/// This process, but for the port.
Identity own_identity();

/// Ends the process of a rank that the others went on without, if it is one of ours and still there: it may only have
/// been stopped.
void end_process(const Identity& self, const Identity& other);

/// A socket that closes when it goes, and in children that are forked: a copy there would hide that this process
/// ended.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd);
  Socket(Socket&& other) noexcept { *this = static_cast<Socket&&>(other); }
  Socket& operator=(Socket&& other) noexcept;
  ~Socket() { close(); }
  void close();
  int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// Listens on a free port, which it sets: for processes of this machine alone, or for all hosts. Empty if that is not
/// possible.
Socket listen_on_free_port(bool for_all_hosts, uint16_t& port);

/// Connects within so many milliseconds; empty if nobody listens there. `is_silent` is set if time ran out: then
/// somebody may.
Socket connect_to(const Identity& self, const Identity& peer, int milliseconds,
                  bool* is_silent = nullptr);

}  // namespace horngate::comm
