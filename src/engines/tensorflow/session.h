// Session: a lowered graph that TensorFlow runs.
#pragma once

#include <memory>

#include "lower.h"

namespace horngate::tf {

class Executable {
 public:
  explicit Executable(const hg_graph& graph);
  ~Executable();
  Executable(const Executable&) = delete;

  /// Feeds lie in the caller's memory; results are adopted by outputs without memory, copied into the others.
  void run(const hg_buffer* in, hg_buffer* out, const hg_run* run);

 private:
  struct Feed {
    uint32_t input;  // number among the graph's inputs
    Type type;
    Dims dims;
  };
  void make_session();
  void call(CTensor* const* feeds, CTensor** results);

  Graph graph_;
  CSession* session_ = nullptr;
  std::vector<Feed> feeds_;
  std::vector<COutput> feed_outputs_, fetches_;
};

}  // namespace horngate::tf
