// A graph as the worker gets it, and the shared memory through which its arrays pass.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "horngate/engine.h"

namespace horngate::theano {

/// The graph as text (JSON), followed by its constants: all that a worker needs to build it, also a later one.
std::string write_program(const hg_graph& graph, const std::vector<size_t>& in_at,
                          const std::vector<size_t>& out_at);

/// One executable. Its arrays have fixed places in memory that the worker maps too.
class Program {
 public:
  explicit Program(const hg_graph& graph);
  ~Program();
  Program(const Program&) = delete;

  const uint32_t id;
  std::string text;
  std::vector<size_t> in_at, out_at, in_bytes, out_bytes;
  std::vector<uint64_t> stamps;  // of what lies in the places of the inputs
  uint64_t generation = 0;       // of the worker that has built it; 0: none

  /// New shared memory; nothing of the old is kept. False when there is none.
  bool make_memory();
  int memory_fd() const { return fd_; }
  void close_file();  // once the worker has mapped it
  char* memory() const { return map_; }

 private:
  void drop_memory();
  size_t size_ = 0;
  int fd_ = -1;
  char* map_ = nullptr;
};

/// A file in memory with these bytes; -1 when there is none.
int file_in_memory(const std::string& bytes);

}  // namespace horngate::theano
