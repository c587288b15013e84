// A file that is written whole or not at all, whatever ends the process meanwhile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "files/bytes.h"

namespace horngate::files {

/// Writes beside the target and takes its name at the end. The decisions are those of
/// python/horngate/keras_compat/_saving.py, and each cleans up after the other: data go to a file without a
/// name where the file system has such, so that a process that is killed leaves nothing behind; elsewhere, and
/// for the moment before an old file is replaced, there is a locked draft `.net.h5.1a2b3c4d.horngate-save`.
/// Unlike there, a folder in which no file can be made is an error: nobody would see a warning.
/// Example: AtomicFile file("net.h5"); file.write(bytes); file.finish();
class AtomicFile {
 public:
  /// Symbolic links are followed, also ones to files that do not exist yet.
  explicit AtomicFile(const std::string& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  /// Without finish() the target stays as it was and nothing else is left.
  ~AtomicFile();

  void write(Bytes bytes);
  /// Zeros up to `place`, which is not before what was written.
  void fill_to(uint64_t place);
  /// Bytes written so far.
  uint64_t size() const { return size_; }
  /// On disk, under its name, with mode and owner of the file that was there.
  void finish();

 private:
  [[noreturn]] void fail(const char* what, int error) const;
  void open();
  void flush();
  void keep_owner();
  bool link(const std::string& name) const;

  std::string shown_path_;            // as the user said it
  std::string path_, folder_, name_;  // behind symbolic links
  std::string draft_;                 // the temporary name, if there is one
  int fd_ = -1;
  uint64_t size_ = 0;
  std::vector<std::byte> buffer_;  // small pieces wait here
};

}  // namespace horngate::files
