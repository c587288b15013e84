// The watch's thread: what comes over the lines.
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "comm/watch.h"
#include "ir/check.h"

namespace horngate::comm {
namespace {

constexpr size_t kMostText = 1024;

/// What goes over a line; the text follows.
struct Head {
  uint32_t word;
  int32_t rank;
  uint64_t a, b;
  uint32_t bytes, unused;
};

}  // namespace

bool Watch::send(const Socket& to, const Message& m) const {
  const size_t bytes = std::min(m.text.size(), kMostText);
  const Head head = {static_cast<uint32_t>(m.word), m.rank, m.a, m.b,
                     static_cast<uint32_t>(bytes),  0};
  char data[sizeof head + kMostText];
  std::memcpy(data, &head, sizeof head);
  std::memcpy(data + sizeof head, m.text.data(), bytes);
  // Words are few and short: they fit, unless the other side has been stopped for long.
  const auto sent = ::send(to.fd(), data, sizeof head + bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
  return sent == static_cast<ssize_t>(sizeof head + bytes);
}

/// Words that are complete are handled; an end of the line is the end of the rank.
void Watch::read(Line& line) {
  char data[4096];
  for (;;) {
    const auto n = ::recv(line.socket.fd(), data, sizeof data, MSG_DONTWAIT);
    if (n > 0) {
      line.unread.append(data, static_cast<size_t>(n));
      continue;
    }
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) break;
    line.socket.close();
    break;
  }
  size_t at = 0;
  Head head;
  while (line.unread.size() - at >= sizeof head) {
    std::memcpy(&head, line.unread.data() + at, sizeof head);
    if (head.bytes > kMostText) {  // not one of us
      line.socket.close();
      line.rank = -1;
      break;
    }
    if (line.unread.size() - at < sizeof head + head.bytes) break;
    handle(line, {static_cast<Word>(head.word), head.rank, head.a, head.b,
                  line.unread.substr(at + sizeof head, head.bytes)});
    at += sizeof head + head.bytes;
  }
  line.unread.erase(0, at);
  if (!line.socket && line.rank >= 0) mark_lost(line.rank, "ended");
}

void Watch::handle(Line& line, const Message& m) {
  const auto& token = all_[0].token;
  if (m.word == Word::hello) {
    const bool is_known = m.a == token[0] && m.b == token[1] && m.rank >= 0 && m.rank < ranks();
    if (!is_known) return line.socket.close();
    line.rank = m.rank;
    for (const Message& earlier : told_) send(line.socket, earlier);
    return;
  }
  if (line.rank < 0) return line.socket.close();
  switch (m.word) {
    case Word::hello: break;
    case Word::bye:
    case Word::left: return mark_left(m);
    case Word::fault:
      if (is_hub()) tell_all(m, line.rank);
      events_.push_back({static_cast<Trouble>(m.a), m.rank, m.text, m.b});
      break;
    case Word::lost:
      if (m.rank != rank_) return mark_lost(m.rank, m.text);
      lost_.insert(rank_);
      events_.push_back(
          {Trouble::lost, rank_, "did not answer, and the others went on without it"});
      break;
    case Word::all_left:
      all_left_ = true;
      all_well_ = m.a != 0;
      break;
    case Word::waiting:
      waiting_[line.rank] = {m.a, m.text};
      compare_waiting();
      break;
    case Word::ask: begin_round(line.rank); break;
    case Word::answer:
      answer_ = {static_cast<Trouble>(m.a), m.rank, m.text};
      has_answer_ = true;
      break;
    case Word::ping: {
      const Place place = place_();
      send(line.socket, {Word::pong, rank_, place.operations, 0, place.waits_in});
      break;
    }
    case Word::pong: round_.answers[line.rank] = {m.a, m.text}; break;
    case Word::vote:
    case Word::held:
    case Word::proposal:
    case Word::accept:
    case Word::result: hear(line, m); break;
  }
  changed_.notify_all();
}

void Watch::loop() {
  std::unique_lock lock(mutex_);
  std::vector<pollfd> fds;
  while (!ends_) {
    fds.assign({{wake_read_.fd(), POLLIN, 0}, {listener_.fd(), POLLIN, 0}});
    for (const auto& line : lines_) fds.push_back({line->socket.fd(), POLLIN, 0});
    const int64_t left = round_.is_on ? std::max<int64_t>(0, round_.ends - milliseconds_now()) : -1;
    lock.unlock();
    ::poll(fds.data(), fds.size(), static_cast<int>(left));
    lock.lock();
    if (ends_) break;
    char bytes[64];
    while (::read(wake_read_.fd(), bytes, sizeof bytes) > 0) {
    }
    // Lines may have come and gone meanwhile.
    for (size_t i = 2; i < fds.size(); ++i)
      if (fds[i].revents)
        for (size_t k = 0; k < lines_.size(); ++k)
          if (lines_[k]->socket && lines_[k]->socket.fd() == fds[i].fd) read(*lines_[k]);
    if (fds[1].revents)
      for (int fd;
           (fd = ::accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0;) {
        lines_.push_back(std::make_unique<Line>());
        lines_.back()->socket = Socket(fd);
      }
    if (round_.is_on && (milliseconds_now() >= round_.ends || have_all_answered())) end_round();
    std::erase_if(lines_, [](const auto& line) { return !line->socket; });
    deliver(lock);
  }
}

}  // namespace horngate::comm
