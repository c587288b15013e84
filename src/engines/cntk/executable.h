// A compiled graph: CNTK functions one after the other, and how buffers become their values.
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
  bool is_direct = false;                  // the caller's memory serves as it is
  std::shared_ptr<unsigned char[]> stage;  // of inputs always, of outputs unless direct
  void* seen = nullptr;  // of direct outputs: the memory that the map has a value for
  size_t bytes() const { return static_cast<size_t>(n) * size_of(carrier); }
};

/// A part of the graph. The library walks its graphs by recursion and builds them in more than linear time, so that
/// long ones are cut; what later pieces read stays in memory of ours.
struct Piece {
  FunctionPtr function;
  ValueMap map;                 // of all outputs
  std::vector<Port> out;        // outputs that the graph has too, and hidden ones
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
  /// What it keeps, about: the library has memory for every value of a graph, from its first run on.
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
  std::vector<Port> hidden_;  // memory of what the checks look at
  Memory memory_;
  double work_ = 0;
  size_t bytes_ = 0;
};

std::unique_ptr<Executable> compile(const Library& library, const hg_graph& graph);

}  // namespace horngate::cntk
