// Names, addresses and sockets of ranks.
#include "comm/identity.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>

#include "ir/fork.h"

namespace horngate::comm {
namespace {

// Sockets that a forked child must not have. A child may call nothing that locks, so it is a plain table.
constexpr size_t kMostSockets = 1 << 16;
constinit std::atomic<int> open_sockets[kMostSockets];  // fd + 1; 0: free

void close_all() {
  for (std::atomic<int>& entry : open_sockets) {
    const int fd = entry.load(std::memory_order_relaxed) - 1;
    if (fd < 0) continue;
    ::close(fd);
    entry.store(0, std::memory_order_relaxed);
  }
}

[[maybe_unused]] const bool watching = (in_forked_child(close_all), true);

void note(int fd) {
  if (static_cast<size_t>(fd) < kMostSockets) open_sockets[fd].store(fd + 1);
}

/// A namespace of this process, as a number.
uint64_t space_of(const char* link) {
  struct stat s{};
  return ::stat(link, &s) == 0 ? s.st_ino * 0x9e3779b97f4a7c15u : 0;
}

/// Field 22 of /proc/<pid>/stat; the name before it may hold anything but ends with the last bracket. 0: it is gone.
uint64_t began_of(int32_t pid) {
  std::string all;
  std::getline(std::ifstream("/proc/" + std::to_string(pid) + "/stat"), all);
  const size_t bracket = all.rfind(')');
  if (bracket == std::string::npos) return 0;
  std::istringstream rest(all.substr(bracket + 2));
  std::string word;
  for (int field = 3; field <= 22; ++field) rest >> word;
  return std::strtoull(word.c_str(), nullptr, 10);
}

sockaddr_in address_of(uint32_t address, uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_addr.s_addr = address;
  out.sin_port = htons(port);
  return out;
}

Socket connect_one(uint32_t address, uint16_t port, int milliseconds, bool* is_silent) {
  Socket s(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!s) return s;
  const sockaddr_in to = address_of(address, port);
  if (::connect(s.fd(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
    if (errno != EINPROGRESS) return {};
    pollfd p = {s.fd(), POLLOUT, 0};
    int wrong = 0;
    socklen_t size = sizeof wrong;
    const bool is_over = ::poll(&p, 1, milliseconds) == 1;
    if (!is_over && is_silent) *is_silent = true;
    if (!is_over || ::getsockopt(s.fd(), SOL_SOCKET, SO_ERROR, &wrong, &size) != 0 || wrong != 0)
      return {};
  }
  const int on = 1;
  ::setsockopt(s.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(s.fd(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  return s;
}

}  // namespace

Identity own_identity() {
  Identity id;
  ::gethostname(id.host, sizeof id.host - 1);
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  id.machine = std::hash<std::string>()(boot.empty() ? id.host : boot);
  id.network = id.machine ^ space_of("/proc/self/ns/net");
  id.processes = id.machine ^ space_of("/proc/self/ns/pid");
  id.pid = ::getpid();
  id.began = began_of(id.pid);
  ifaddrs* all = nullptr;
  size_t n = 0;
  if (::getifaddrs(&all) == 0) {
    for (const ifaddrs* i = all; i && n < id.addresses.size(); i = i->ifa_next)
      if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET && (i->ifa_flags & IFF_UP) &&
          !(i->ifa_flags & IFF_LOOPBACK))
        id.addresses[n++] = reinterpret_cast<const sockaddr_in*>(i->ifa_addr)->sin_addr.s_addr;
    ::freeifaddrs(all);
  }
  if (::getrandom(id.token.data(), sizeof id.token, 0) != sizeof id.token) id.token = {};
  return id;
}

void end_process(const Identity& self, const Identity& other) {
  const bool is_here = other.processes == self.processes && other.pid != self.pid;
  if (is_here && other.began != 0 && began_of(other.pid) == other.began) ::kill(other.pid, SIGKILL);
}

Socket::Socket(int fd) : fd_(fd) {
  if (fd_ >= 0) note(fd_);
}

Socket& Socket::operator=(Socket&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = other.fd_;
    other.fd_ = -1;
  }
  return *this;
}

void Socket::close() {
  if (fd_ < 0) return;
  // In a forked child it is closed already, and the number may be another file's.
  const bool is_ours =
      static_cast<size_t>(fd_) >= kMostSockets || open_sockets[fd_].exchange(0) != 0;
  if (is_ours) ::close(fd_);
  fd_ = -1;
}

Socket listen_on_free_port(bool for_all_hosts, uint16_t& port) {
  Socket s(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in at = address_of(htonl(for_all_hosts ? INADDR_ANY : INADDR_LOOPBACK), 0);
  socklen_t size = sizeof at;
  if (!s || ::bind(s.fd(), reinterpret_cast<sockaddr*>(&at), size) != 0 ||
      ::listen(s.fd(), 4096) != 0 ||
      ::getsockname(s.fd(), reinterpret_cast<sockaddr*>(&at), &size) != 0)
    return {};
  port = ntohs(at.sin_port);
  return s;
}

Socket connect_to(const Identity& self, const Identity& peer, int milliseconds, bool* is_silent) {
  if (peer.port == 0) return {};
  if (self.network == peer.network)
    return connect_one(htonl(INADDR_LOOPBACK), peer.port, milliseconds, is_silent);
  for (const uint32_t address : peer.addresses)
    if (address != 0)
      if (Socket s = connect_one(address, peer.port, milliseconds, is_silent)) return s;
  return {};
}

}  // namespace horngate::comm
