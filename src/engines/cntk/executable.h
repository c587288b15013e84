// A compiled graph: CNTK functions one after another, and how buffers become their values.
#pragma once

#include "cntk/lower.h"

namespace horngate::cntk {

/// A value that enters or leaves: its dtype, and the float that carries it.
struct Port {
  static constexpr uint32_t kNowhere = ~0u;
  Variable variable;
  DataType carrier = DataType::kFloat;
  int32_t dtype = HG_FLOAT32;
  NDShape shape;
  int64_t n = 0;
  uint32_t at = kNowhere;                  // position among the graph's inputs or outputs
  bool is_direct = false;                  // uses the caller's memory directly
  std::shared_ptr<unsigned char[]> stage;  // for inputs always, for outputs unless direct
  void* seen = nullptr;  // for direct outputs: the memory for which the map has a value
  size_t bytes() const { return static_cast<size_t>(n) * size_of(carrier); }
};

/// A part of the graph. The library walks its graphs recursively and takes more than linear time to build them, so
/// long ones are cut; what later pieces read stays in our memory.
struct Piece {
  FunctionPtr function;
  ValueMap map;                 // of all outputs
  std::vector<Port> out;        // the graph's outputs among them, and hidden ones
  std::vector<Variable> fresh;  // what later pieces read, as they see it
};

/// An output that is only a copy, of an input, a constant or another output.
struct Copy {
  enum { kInput, kConstant, kOutput } kind;
  size_t from;
  uint32_t to;
};

class Executable {
 public:
  explicit Executable(const Library& library) : l_(library) {}
  void run(const hg_buffer* const* in, hg_buffer* const* out, int threads);
  /// The approximate memory it holds: from its first run on, the library keeps memory for every value of a graph.
  size_t bytes() const { return bytes_; }

 private:
  friend class Compiler;
  void feed(const hg_buffer* const* in);
  void run_piece(Piece& piece, hg_buffer* const* out);
  void check_computed() const;

  const Library& l_;
  std::vector<Port> in_;
  std::vector<Piece> pieces_;
  std::vector<Copy> copies_;
  std::vector<std::vector<unsigned char>> constants_;
  std::vector<IndexCheck> checks_;
  std::vector<Port> hidden_;  // memory that the checks look at
  Memory memory_;
  double work_ = 0;
  size_t bytes_ = 0;
};

std::unique_ptr<Executable> compile(const Library& library, const hg_graph& graph);

}  // namespace horngate::cntk
