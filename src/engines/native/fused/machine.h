// Machine: runs a program over one block of elements at a time. It is made for a space whose axes
// [0, inner) count rows and whose axes [inner, rank), flattened, are the elements of a row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engines/native/fused/geometry.h"
#include "engines/native/fused/kernels.h"
#include "engines/native/fused/program.h"
#include "engines/native/fused/strided.h"
#include "engines/native/jit/code.h"

namespace horngate::native::fused {

inline constexpr size_t kMaxRank = 16;

class Machine {
 public:
  /// Blocks are multiples of `unit` elements (which divides the row), at most `limit`. by_columns:
  /// the caller runs one block over all rows before it goes on to the next block.
  Machine(const Program& program, const Space& space, size_t inner, int64_t unit = 1,
          int64_t limit = INT64_MAX, bool by_columns = false);
  // Steps point into constants_.
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  int64_t rows() const { return rows_; }
  int64_t row_length() const { return length_; }
  int64_t block() const { return block_; }
  int64_t blocks_per_row() const { return length_ == 0 ? 0 : (length_ + block_ - 1) / block_; }
  /// Relative cost of one element, 1 for an addition.
  int cost() const { return cost_; }
  const Kernels& kernels() const { return *kernels_; }
  bool is_compiled() const { return block_code_ != nullptr; }

  /// One thread's position in the work. Lives on its stack, with `memory` of memory_bytes(),
  /// 64-byte aligned.
  struct Context {
    void** pointer;  // per operand
    const void* const* in;
    void* const* out;
    int64_t index[kMaxRank];     // of the row
    int64_t* offset;             // per access, of the row's first element
    int64_t tile_row, tile_pos;  // where the tiles of transposed inputs were loaded
  };
  size_t memory_bytes() const { return memory_bytes_; }

  /// Does what is the same in all rows.
  void begin(Context& c, void* memory, const void* const* in, void* const* out) const;
  /// Goes to a row and does what is the same in all of its blocks.
  void seek(Context& c, int64_t row) const;
  void next(Context& c) const;
  /// Runs elements [pos, pos + n) of the row: n <= block(), pos a multiple of block().
  void run(Context& c, int64_t pos, int64_t n) const;

  /// After run: the n lanes of a reduce output.
  const void* reduced(const Context& c, size_t output) const {
    return c.pointer[fold_operand_[output]];
  }
  int64_t offset(const Context& c, size_t output) const {
    return c.offset[program_inputs_ + output];
  }

 private:
  friend class MachineBuilder;

  /// A kernel call; operands index Context::pointer.
  struct Step {
    Kernel kernel;
    uint16_t dst, a, b, c;
    uint32_t flags;
    uint32_t count;  // elements; 0: the whole block
  };
  struct Direct {  // operand = start of the block in a buffer
    uint16_t operand, access;
    uint32_t size;
    uint32_t step;  // bytes per element of the row: size, or 0 if the same for the whole row
  };
  struct RepeatedLoad {
    uint16_t operand, access;
    DType dtype;
  };
  struct StridedMove {
    uint16_t operand, access;
    uint32_t size;  // of a stored element
    Strided where;
  };
  /// A transposed input, with by_columns: loaded for kTileRows rows at once.
  struct TileLoad {
    uint16_t operand, access;
    DType dtype;
    int64_t along, across;  // strides: in a row, and from row to row
  };
  static constexpr int64_t kTileRows = 16;
  struct Stage {
    std::vector<RepeatedLoad> repeated;
    std::vector<StridedMove> loads;
    std::vector<Step> steps;
    std::vector<StridedMove> stores;  // only of the last stage
    bool empty() const { return repeated.empty() && loads.empty() && steps.empty(); }
  };

  void clear();
  void run_stage(const Stage& stage, Context& c, int64_t pos, int64_t n) const;
  void run_steps(const Stage& stage, Context& c, int64_t n) const;
  const void* source(const Context& c, uint16_t access, uint32_t size, int64_t pos) const;
  void point_inputs(Context& c, int64_t pos) const;
  void enter_row(Context& c) const;
  void load_tiles(Context& c, int64_t pos, int64_t n) const;

  const Kernels* kernels_;
  size_t program_inputs_;
  int64_t rows_ = 1, length_ = 0, block_ = 1;
  int cost_ = 1;
  // The axes that count rows.
  Ints outer_extent_;
  std::vector<std::vector<int64_t>> outer_stride_;  // [axis][access]
  std::vector<int64_t> base_offset_;
  std::vector<TileLoad> tiles_;
  // Memory of a context: registers, repeated values, tiles, operand pointers, offsets.
  size_t register_bytes_ = 0, registers_ = 0, repeated_ = 0, operands_ = 0;
  size_t pointer_bytes_ = 0, memory_bytes_ = 0;
  std::vector<unsigned char> constant_bytes_;
  unsigned char* constants_ = nullptr;  // 64 aligned bytes each, within constant_bytes_
  size_t constant_count_ = 0;
  std::vector<Direct> direct_in_, direct_out_;
  Stage once_, row_, block_stage_;
  std::shared_ptr<const jit::Code> block_code_;  // instead of the steps of block_stage_
  std::vector<uint16_t> fold_operand_;           // per output
};

}  // namespace horngate::native::fused
