// Running a machine. Nothing here allocates or fails.
#include "engines/native/fused/machine.h"

#include <algorithm>

namespace horngate::native::fused {

const void* Machine::source(const Context& c, uint16_t access, uint32_t size, int64_t pos) const {
  return static_cast<const char*>(c.in[access]) + (c.offset[access] + pos) * int64_t{size};
}

inline void Machine::point_inputs(Context& c, int64_t pos) const {
  for (const Direct& d : direct_in_)
    c.pointer[d.operand] = const_cast<char*>(static_cast<const char*>(c.in[d.access])) +
                           c.offset[d.access] * int64_t{d.size} + pos * int64_t{d.step};
}

inline void Machine::run_steps(const Stage& stage, Context& c, int64_t n) const {
  void* const* p = c.pointer;
  for (const Step& s : stage.steps)
    s.kernel(p[s.dst], p[s.a], p[s.b], p[s.c], s.count ? s.count : static_cast<size_t>(n), s.flags);
}

void Machine::run_stage(const Stage& stage, Context& c, int64_t pos, int64_t n) const {
  for (const RepeatedLoad& l : stage.repeated)
    load_repeated(l.dtype, c.pointer[l.operand],
                  source(c, l.access, static_cast<uint32_t>(size_of(l.dtype)), 0));
  for (const StridedMove& l : stage.loads)
    l.where.load(c.pointer[l.operand], source(c, l.access, l.size, 0), pos, n);
  run_steps(stage, c, n);
}

void Machine::begin(Context& c, void* memory, const void* const* in, void* const* out) const {
  char* bytes = static_cast<char*>(memory);
  c.pointer = reinterpret_cast<void**>(bytes + memory_bytes_ - pointer_bytes_);
  c.offset = reinterpret_cast<int64_t*>(c.pointer + operands_);
  c.in = in;
  c.out = out;
  void** p = c.pointer;
  for (size_t i = 0; i < registers_; ++i) *p++ = bytes + i * register_bytes_;
  bytes += registers_ * register_bytes_;
  for (size_t i = 0; i < repeated_; ++i) *p++ = bytes + i * 64;
  for (size_t i = 0; i < constant_count_; ++i) *p++ = constants_ + i * 64;
  std::copy(base_offset_.begin(), base_offset_.end(), c.offset);
  point_inputs(c, 0);
  if (!once_.empty()) run_stage(once_, c, 0, std::min(block_, length_));
}

void Machine::enter_row(Context& c) const {
  if (row_.empty()) return;
  point_inputs(c, 0);
  run_stage(row_, c, 0, std::min(block_, length_));
}

void Machine::seek(Context& c, int64_t row) const {
  c.tile_row = -1;
  const size_t rank = outer_extent_.size(), accesses = base_offset_.size();
  if (rank > 0) {
    for (size_t a = 0; a < accesses; ++a) c.offset[a] = base_offset_[a];
    for (size_t i = rank; i-- > 0;) {
      c.index[i] = row % outer_extent_[i];
      row /= outer_extent_[i];
      for (size_t a = 0; a < accesses; ++a) c.offset[a] += c.index[i] * outer_stride_[i][a];
    }
  }
  enter_row(c);
}

void Machine::next(Context& c) const {
  const size_t accesses = base_offset_.size();
  for (size_t i = outer_extent_.size(); i-- > 0;) {
    const bool wraps = ++c.index[i] == outer_extent_[i];
    const int64_t steps = wraps ? 1 - outer_extent_[i] : 1;
    for (size_t a = 0; a < accesses; ++a) c.offset[a] += steps * outer_stride_[i][a];
    if (!wraps) break;
    c.index[i] = 0;
    c.tile_row = -1;
  }
  enter_row(c);
}

// The rows of a tile are consecutive values of the last outer index.
void Machine::load_tiles(Context& c, int64_t pos, int64_t n) const {
  const size_t last = outer_extent_.size() - 1;
  const int64_t within = c.index[last] % kTileRows, first = c.index[last] - within;
  const bool loaded = c.tile_row == first && c.tile_pos == pos;
  const size_t tile_bytes = static_cast<size_t>(kTileRows) * register_bytes_;
  char* tile = reinterpret_cast<char*>(c.pointer) - tiles_.size() * tile_bytes;
  for (const TileLoad& t : tiles_) {
    if (!loaded) {
      const auto size = static_cast<int64_t>(size_of(t.dtype));
      const char* at =
          static_cast<const char*>(source(c, t.access, static_cast<uint32_t>(size), 0));
      load_transposed(t.dtype, tile, register_bytes_,
                      at + (pos * t.along - within * t.across) * size, t.along, t.across, n,
                      std::min(kTileRows, outer_extent_[last] - first));
    }
    c.pointer[t.operand] = tile + within * static_cast<int64_t>(register_bytes_);
    tile += tile_bytes;
  }
  c.tile_row = first;
  c.tile_pos = pos;
}

void Machine::run(Context& c, int64_t pos, int64_t n) const {
  if (!tiles_.empty()) load_tiles(c, pos, n);
  point_inputs(c, pos);
  for (const Direct& d : direct_out_) {
    const int64_t at = c.offset[program_inputs_ + d.access] + pos;
    c.pointer[d.operand] = static_cast<char*>(c.out[d.access]) + at * int64_t{d.size};
  }
  for (const StridedMove& l : block_stage_.loads)
    l.where.load(c.pointer[l.operand], source(c, l.access, l.size, 0), pos, n);
  if (block_code_)
    block_code_->run(c.pointer, static_cast<size_t>(n), registers_);
  else
    run_steps(block_stage_, c, n);
  for (const StridedMove& s : block_stage_.stores) {
    const int64_t at = c.offset[program_inputs_ + s.access];
    s.where.store(static_cast<char*>(c.out[s.access]) + at * int64_t{s.size}, c.pointer[s.operand],
                  pos, n);
  }
}

}  // namespace horngate::native::fused
