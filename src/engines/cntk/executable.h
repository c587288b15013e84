// A compiled graph: the CNTK function, and how buffers become its values.
#pragma once

#include "cntk/lower.h"

namespace horngate::cntk {

/// A value that enters or leaves: its dtype, and the float that carries it.
struct Port {
  Variable variable;
  DataType carrier = DataType::kFloat;
  int32_t dtype = HG_FLOAT32;
  NDShape shape;
  int64_t n = 0;
  uint32_t at = 0;                         // position among the graph's inputs or outputs
  bool is_direct = false;                  // carrier and dtype are the same
  std::shared_ptr<unsigned char[]> stage;  // of inputs always, of outputs unless direct
  void* seen = nullptr;                    // of outputs: the memory that the map has a value for
  size_t bytes() const { return static_cast<size_t>(n) * size_of(carrier); }
};

class Executable {
 public:
  Executable(const Library& library, const hg_graph& graph);
  void run(const hg_buffer* in, hg_buffer* out, int threads);

 private:
  /// An output that is only a copy, of an input, a constant or another output.
  struct Copy {
    enum { kInput, kConstant, kOutput } kind;
    size_t from;
    uint32_t to;
  };
  void lower(const hg_graph& graph, Lowering& to);
  void add_outputs(const hg_graph& graph, Lowering& to);
  void feed(const hg_buffer* in);
  void check_computed() const;

  const Library& l_;
  FunctionPtr function_;
  std::vector<Port> in_, out_, hidden_;
  std::vector<Copy> copies_;
  std::vector<std::vector<unsigned char>> constants_;
  std::vector<IndexCheck> checks_;
  Memory memory_;
  ValueMap out_map_;
  double work_ = 0;
};

}  // namespace horngate::cntk
