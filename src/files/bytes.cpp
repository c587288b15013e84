#include "files/bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace horngate::files {

std::string shown(std::string_view text) {
  constexpr size_t kMost = 80;
  const bool readable = is_utf8(text);
  std::string out = "\"";
  size_t n = std::min(text.size(), kMost);
  // Never half a character.
  while (readable && n < text.size() && n > 0 && (static_cast<uint8_t>(text[n]) & 0xC0) == 0x80)
    --n;
  for (const char c : text.substr(0, n)) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte < 0x20 || byte == 0x7F || (byte >= 0x80 && !readable)) {
      constexpr char kDigits[] = "0123456789abcdef";
      out += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + (n < text.size() ? "...\"" : "\"");
}

bool is_utf8(std::string_view text) {
  size_t i = 0;
  const auto follows = [&](size_t k) {
    return i + k < text.size() && (static_cast<uint8_t>(text[i + k]) & 0xC0) == 0x80;
  };
  while (i < text.size()) {
    const auto lead = static_cast<uint8_t>(text[i]);
    size_t length = 1;
    if (lead >= 0x80) {
      length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
      if (lead < 0xC2 || lead > 0xF4) return false;
      for (size_t k = 1; k < length; ++k)
        if (!follows(k)) return false;
      const auto second = static_cast<uint8_t>(text[i + 1]);
      // Longer than needed, halves of surrogate pairs, above U+10FFFF.
      if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
          (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F))
        return false;
    }
    i += length;
  }
  return true;
}

std::shared_ptr<const Source> Source::open(const std::string& path) {
  // O_NONBLOCK: a pipe without a writer is an error below, not a wait for ever.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat info = {};
  std::string why;
  if (fd < 0 || ::fstat(fd, &info) != 0)
    why = std::strerror(errno);
  else if (S_ISDIR(info.st_mode))
    why = std::strerror(EISDIR);
  else if (!S_ISREG(info.st_mode))
    why = "it is not a regular file";
  try {
    if (!why.empty()) throw RuntimeError(join(path, ": cannot be read: ", why, "."));
    const auto size = static_cast<uint64_t>(info.st_size);
    return std::shared_ptr<const Source>(new Source(path, fd, {}, size));
  } catch (...) {
    if (fd >= 0) ::close(fd);
    throw;
  }
}

std::shared_ptr<const Source> Source::memory(std::string name, Bytes bytes) {
  return std::shared_ptr<const Source>(new Source(std::move(name), -1, bytes, bytes.size()));
}

Source::~Source() {
  if (fd_ >= 0) ::close(fd_);
}

void Source::check_extent(uint64_t place, uint64_t size, std::string_view what) const {
  const auto end = checked_add(place, size);
  if (!end || *end > size_)
    malformed(place, what, " of ", size, " bytes does not lie in the file, which has ", size_,
              " bytes.");
}

void Source::read(uint64_t place, std::span<std::byte> into, std::string_view what) const {
  check_extent(place, into.size(), what);
  if (into.empty()) return;
  if (fd_ < 0) {
    std::memcpy(into.data(), bytes_.data() + place, into.size());
    return;
  }
  size_t done = 0;
  while (done < into.size()) {
    const ssize_t n =
        ::pread(fd_, into.data() + done, into.size() - done, static_cast<off_t>(place + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      throw RuntimeError(join(name_, ": at byte ", place + done, ": ", std::strerror(errno), "."));
    if (n == 0) malformed(place + done, "the file became shorter while it was read.");
    done += static_cast<size_t>(n);
  }
}

std::vector<std::byte> Source::read(uint64_t place, uint64_t size, std::string_view what) const {
  check_extent(place, size, what);  // before memory is taken
  std::vector<std::byte> bytes(size);
  read(place, bytes, what);
  return bytes;
}

uint64_t Cursor::uint(size_t width) {
  const Bytes b = bytes(width);
  uint64_t value = 0;
  for (size_t i = width; i-- > 0;) value = value << 8 | static_cast<uint8_t>(b[i]);
  return value;
}

Bytes Cursor::bytes(uint64_t n) {
  if (n > left())
    malformed(what_, " ends too early: ", n, " more bytes are needed, ", left(), " are left.");
  const Bytes b = bytes_.subspan(at_, n);
  at_ += n;
  return b;
}

Cursor Cursor::part(uint64_t n, std::string_view what) {
  const uint64_t start = place();
  return Cursor(*source_, bytes(n), start, what);
}

void Cursor::expect(std::string_view signature) {
  const uint64_t start = place();
  const std::string_view found = as_text(bytes(signature.size()));
  if (found != signature)
    source_->malformed(start, what_, " must begin with ", shown(signature), "; got ", shown(found),
                       ".");
}

std::string_view Cursor::text() {
  const std::string_view rest = as_text(bytes_.subspan(at_));
  const size_t end = rest.find('\0');
  if (end == std::string_view::npos) malformed(what_, " has a text without an end.");
  at_ += end + 1;
  return rest.substr(0, end);
}

}  // namespace horngate::files
