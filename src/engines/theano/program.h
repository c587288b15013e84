// A graph in the form that the worker gets, and the shared memory through which its arrays pass.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "horngate/engine.h"
#include "results.h"

namespace horngate::theano {

/// One executable. Its arrays lie in memory that the worker maps too.
class WorkerGraph {
 public:
  explicit WorkerGraph(const hg_graph& graph);
  ~WorkerGraph();
  WorkerGraph(const WorkerGraph&) = delete;

  const uint32_t id;
  const std::string
      text;  // the graph (JSON), then its constants: all that a worker needs to build it
  std::vector<size_t> in_at, out_at, in_bytes, out_bytes;
  std::vector<uint64_t> stamps;                    // of the contents at the places of the inputs
  uint64_t generation = 0;                         // of the worker that has built it; 0: none
  bool is_placed = false;                          // a worker knows the places:
  uint64_t placed_for = 0;                         // the one of this generation
  std::array<std::chrono::nanoseconds, 2> took{};  // duration of the last runs, as seen from here

  /// Gives the arrays of a run their places; throws if there is no memory. False if they are as in the
  /// previous run. Arrays without open sizes keep their places while the memory stays the same.
  bool place(const hg_buffer* const* in, const hg_buffer* const* out);
  std::string places(const hg_buffer* const* in,
                     const hg_buffer* const* out) const;  // for the worker
  void forget_places();
  std::vector<int> new_memory()
      const;  // files that the worker has not mapped yet, in the order of `places`
  void close_files();
  char* memory() const { return map_; }  // of the inputs
  Results& results() const { return *results_; }

 private:
  void make_memory();
  void drop_memory();
  std::vector<uint8_t> in_open_, out_open_;
  std::vector<int64_t> sizes_;  // open values: their dimensions in the last run
  size_t capacity_ = 0, mapped_ = 0;
  int fd_ = -1;
  char* map_ = nullptr;
  std::shared_ptr<Results> results_;
};

/// A file in memory with these bytes; -1 on failure.
int file_in_memory(const std::string& bytes);

}  // namespace horngate::theano
