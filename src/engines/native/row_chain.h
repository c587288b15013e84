// Row chains: neighbouring steps that all work row by row (a variance, a normalisation, a softmax, a dropout) run
// together over a few rows at a time, while those are in the cache. What only the chain reads needs memory for those
// rows only.
#pragma once

#include <optional>
#include <vector>

#include "engines/native/fused/group.h"
#include "engines/native/kernel.h"

namespace horngate::native {

/// A step as a chain sees it: where it reads and writes, over the axes of its extent.
struct RowMember {
  struct Operand {
    ValueId root;          // in whose memory it lies
    fused::Access access;  // elements
    int64_t item = 4;      // bytes of an element
    int64_t size = 0;      // elements of the root
    size_t last_use = 0;   // the step that touches the root last
  };
  const fused::Program* program = nullptr;  // of a fused group
  const GraphNode* node = nullptr;          // or the kernel of this node
  TensorType from, to;                      // of the kernel's operand and result
  Ints extent;
  std::vector<bool> reduced;  // axes of the extent
  std::vector<Operand> in, out;
};

/// A chain begins at a step that reads or writes this many bytes of one value; below that, none pays.
inline constexpr int64_t kWorthAChain = 256 << 10;

/// Members [first, first + count) as a chain over that many rows.
struct RowRange {
  size_t first = 0, count = 0;
  int64_t rows = 0;
};
/// Finds neighbours that make worthwhile chains. Steps that cannot be members are empty.
std::vector<RowRange> find_row_chains(const std::vector<std::optional<RowMember>>& steps);

/// Whether a node's kernel can be part of a chain: random numbers, whose operand is the same for all rows, and softmax
/// or log_softmax along the last axis.
bool is_row_kernel(const GraphNode& node, const TensorType& from);
bool makes_random(const GraphNode& node);

struct RowChain {
  KernelPtr kernel;
  std::vector<ValueId> in, out;  // roots in the order of the kernel's operands and results
};
/// `inside`: roots that only these members read.
RowChain make_row_chain(std::span<const RowMember* const> members, int64_t rows,
                        const std::vector<ValueId>& inside);

}  // namespace horngate::native
