// A compiled graph: the CNTK function, and how buffers become its values.
#pragma once

#include "cntk/lower.h"

namespace horngate::cntk {

/// A buffer that CNTK reads or writes: the caller's, or one of ours beside it when the dtype rides in another.
struct Port {
  Variable variable;
  DataType carrier = DataType::kFloat;
  int32_t dtype = HG_FLOAT32;
  Dims dims;
  NDShape shape;
  int64_t n = 0;
  bool is_direct = false;  // carrier and dtype are the same
  std::shared_ptr<unsigned char[]> stage;
  void* seen = nullptr;  // the memory that `map` holds a value for
};

class Executable {
 public:
  Executable(const Library& library, const hg_graph& graph);
  void run(const hg_buffer* in, hg_buffer* out, int threads);

 private:
  /// Where an output comes from.
  struct Source {
    enum { kComputed, kInput, kConstant, kTwin } kind;
    size_t at;  // port, input, constant or earlier output
  };
  void lower(const hg_graph& graph, Lowering& to);
  void set_value(ValueMap& map, Port& port, void* data, bool read_only);
  void check_fed(const hg_buffer* in) const;
  void check_computed() const;

  const Library& l_;
  FunctionPtr function_;
  std::vector<Port> in_, out_;  // inputs that are read; outputs that are computed, then hidden ones
  std::vector<uint32_t> in_at_;  // positions of in_ among the graph's inputs
  std::vector<Source> sources_;  // of the graph's outputs
  std::vector<std::vector<unsigned char>> constants_;
  std::vector<IndexCheck> checks_;
  size_t hidden_at_ = 0;
  Memory memory_;
  ValueMap in_map_, out_map_;
  double work_ = 0;
};

}  // namespace horngate::cntk
