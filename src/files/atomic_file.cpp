#include "files/atomic_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <random>

namespace horngate::files {
namespace {

constexpr char kSuffix[] = ".horngate-save";
constexpr size_t kBuffer = 1 << 16;

// Where a path leads in the end; the last part need not exist. At most as many links as Linux follows.
std::string behind_links(std::string path) {
  for (int i = 0; i < 40; ++i) {
    std::string target(PATH_MAX, '\0');
    const ssize_t n = ::readlink(path.c_str(), target.data(), target.size());
    if (n < 0) return path;
    target.resize(static_cast<size_t>(n));
    const size_t slash = path.rfind('/');
    path =
        target.starts_with('/') || slash == path.npos ? target : path.substr(0, slash + 1) + target;
  }
  throw RuntimeError(path + ": cannot be written: too many symbolic links.");
}

std::string draft_start(const std::string& name) { return "." + name.substr(0, 200) + "."; }

std::string draft_of(const std::string& folder, const std::string& name) {
  constexpr char kDigits[] = "0123456789abcdef";
  uint32_t number = std::random_device()();
  std::string token;
  for (int i = 0; i < 8; ++i, number >>= 4) token += kDigits[number & 15];
  return folder + "/" + draft_start(name) + token + kSuffix;
}

// The lock belongs to the open file, not to the process: it also tells threads apart.
bool lock(int fd) {
  struct flock whole = {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return ::fcntl(fd, F_OFD_SETLK, &whole) == 0;
}

// Drafts of this file that processes left which were killed.
void remove_drafts(const std::string& folder, const std::string& name) {
  DIR* const entries = ::opendir(folder.c_str());
  if (!entries) return;
  const std::string start = draft_start(name);
  while (const dirent* entry = ::readdir(entries)) {
    const std::string_view found = entry->d_name;
    if (!found.starts_with(start) || !found.ends_with(kSuffix)) continue;
    const std::string draft = folder + "/" + std::string(found);
    const int fd = ::open(draft.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) continue;
    if (lock(fd)) ::unlink(draft.c_str());
    ::close(fd);
  }
  ::closedir(entries);
}

}  // namespace

void AtomicFile::fail(const char* what, int error) const {
  throw RuntimeError(join(shown_path_, ": ", what, ": ", std::strerror(error), "."));
}

AtomicFile::AtomicFile(const std::string& path) : shown_path_(path) {
  if (path.empty() || path.find('\0') != path.npos) fail("cannot be written", EINVAL);
  path_ = behind_links(path);
  const size_t slash = path_.rfind('/');
  folder_ = slash == path_.npos ? "." : slash == 0 ? "/" : path_.substr(0, slash);
  name_ = slash == path_.npos ? path_ : path_.substr(slash + 1);
  struct stat old;
  if (::stat(path_.c_str(), &old) == 0) {
    if (S_ISDIR(old.st_mode)) fail("cannot be written", EISDIR);
    if (!S_ISREG(old.st_mode))
      throw RuntimeError(path + ": cannot be written: it is not a regular file.");
    if (::access(path_.c_str(), W_OK) != 0) fail("cannot be written", errno);
  } else if (errno != ENOENT) {
    fail("cannot be written", errno);
  }
  if (name_.empty()) fail("cannot be written", EISDIR);
  remove_drafts(folder_, name_);
  buffer_.reserve(kBuffer);  // before there is something to close
  open();
}

void AtomicFile::open() {
  constexpr int kFlags = O_RDWR | O_CLOEXEC;
  fd_ = ::open(folder_.c_str(), kFlags | O_TMPFILE, 0666);
  if (fd_ >= 0 && ::access(join("/proc/self/fd/", fd_).c_str(), F_OK) == 0) return;
  if (fd_ >= 0) ::close(fd_);  // without /proc it could get no name
  while (true) {
    const std::string draft = draft_of(folder_, name_);
    fd_ = ::open(draft.c_str(), kFlags | O_CREAT | O_EXCL, 0666);
    if (fd_ < 0 && errno == EEXIST) continue;
    if (fd_ < 0) fail("no file can be made in its folder", errno);
    lock(fd_);
    struct stat info;
    if (::fstat(fd_, &info) == 0 && info.st_nlink > 0) {
      draft_ = draft;
      return;
    }
    ::close(fd_);  // another save took it for a dead one's before it was locked
  }
}

AtomicFile::~AtomicFile() {
  if (!draft_.empty()) ::unlink(draft_.c_str());
  if (fd_ >= 0) ::close(fd_);
}

void AtomicFile::write(Bytes bytes) {
  size_ += bytes.size();
  if (buffer_.size() + bytes.size() > kBuffer) flush();
  if (bytes.size() < kBuffer) {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    return;
  }
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot be written", errno);
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
}

void AtomicFile::flush() {
  Bytes rest = buffer_;
  while (!rest.empty()) {
    const ssize_t n = ::write(fd_, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot be written", errno);
    rest = rest.subspan(static_cast<size_t>(n));
  }
  buffer_.clear();
}

void AtomicFile::fill_to(uint64_t place) {
  static constexpr std::byte kZeros[512] = {};
  if (place < size_)
    throw RuntimeError(shown_path_ + ": bytes are written twice; this is a bug in horngate.");
  while (size_ < place)
    write(Bytes(kZeros).first(std::min<uint64_t>(place - size_, sizeof kZeros)));
}

void AtomicFile::keep_owner() {
  struct stat old, now;
  if (::stat(path_.c_str(), &old) != 0 || ::fstat(fd_, &now) != 0) return;
  if (old.st_uid != now.st_uid || old.st_gid != now.st_gid)
    if (::fchown(fd_, old.st_uid, old.st_gid) != 0 && errno != EPERM)
      fail("cannot get its owner", errno);
  // After chown, which may clear bits.
  if (::fchmod(fd_, old.st_mode & 07777) != 0) fail("cannot get its mode", errno);
}

bool AtomicFile::link(const std::string& name) const {
  const std::string self = join("/proc/self/fd/", fd_);
  if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) return true;
  if (errno != EEXIST) fail("cannot get its name", errno);
  return false;
}

void AtomicFile::finish() {
  flush();
  keep_owner();
  if (::fsync(fd_) != 0) fail("cannot be brought to the disk", errno);
  if (draft_.empty() && !link(path_)) {  // there is an old file, and linking does not replace it
    lock(fd_);
    const std::string draft = draft_of(folder_, name_);
    if (!link(draft)) fail("cannot get its name", EEXIST);
    draft_ = draft;
  }
  if (!draft_.empty()) {
    if (::rename(draft_.c_str(), path_.c_str()) != 0) fail("cannot get its name", errno);
    draft_.clear();
  }
  const int folder = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) fail("its folder cannot be brought to the disk", errno);
  const int error = ::fsync(folder) == 0 ? 0 : errno;
  ::close(folder);
  // Some file systems cannot do that for folders; the file itself is safe.
  if (error != 0 && error != EINVAL && error != ENOTSUP)
    fail("its folder cannot be brought to the disk", error);
  ::close(fd_);
  fd_ = -1;
}

}  // namespace horngate::files
