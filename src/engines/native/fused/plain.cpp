// Groups without reductions.
#include <algorithm>
#include <cstdlib>

#include "engines/native/fused/schedule.h"
#include "engines/native/threads.h"

namespace horngate::native::fused {
namespace {

// Block length if an input is transposed: 16 rows of it are loaded at once.
constexpr int64_t kTransposedBlock = 1024;

/// An outer axis along which some input moves less than along the row; rank() if there is none.
size_t transposed_axis(const Space& s, size_t inner, size_t inputs) {
  for (size_t a = 0; a < inputs; ++a) {
    const int64_t along_row = std::abs(s.stride[a][s.rank() - 1]);
    if (along_row < 8) continue;
    for (size_t i = 0; i < inner; ++i)
      if (const int64_t step = std::abs(s.stride[a][i]); step != 0 && step < 8) return i;
  }
  return s.rank();
}

/// Whether rows are better joined with the next axis. Medium ones are left alone if that would make
/// a contiguous access strided.
bool is_short(const Space& s, size_t inner) {
  const int64_t length = s.size(inner, s.rank());
  if (length >= kShortRow) return false;
  if (length < kShortRow / 4) return true;
  for (size_t a = 0; a < s.accesses(); ++a)
    if (s.is_contiguous(a, inner) && !s.is_contiguous(a, inner - 1) && !s.is_invariant(a, inner))
      return false;
  return true;
}

}  // namespace

PlainSchedule::PlainSchedule(const Program& program, Space space) {
  size_t inner = space.rank() == 0 ? 0 : space.rank() - 1;
  while (inner > 0 && is_short(space, inner)) --inner;
  int64_t limit = INT64_MAX;
  if (inner > 0 && inner + 1 == space.rank()) {
    if (const size_t axis = transposed_axis(space, inner, program.inputs.size());
        axis != space.rank()) {
      columns_first_ = true;
      limit = kTransposedBlock;
      std::vector<size_t> order;
      for (size_t i = 0; i < space.rank(); ++i)
        if (i != axis) order.push_back(i);
      order.insert(order.end() - 1, axis);
      space.permute(order);
    }
  }
  machine_ = std::make_unique<Machine>(program, space, inner, 1, limit, columns_first_);
}

void PlainSchedule::run_blocks(int64_t begin, int64_t end, const void* const* in,
                               void* const* out) const {
  const Machine& m = *machine_;
  Machine::Context c;
  m.begin(c, __builtin_alloca_with_align(m.memory_bytes(), 512), in, out);
  const int64_t per_row = m.blocks_per_row(), block = m.block(), length = m.row_length();
  if (columns_first_) {
    for (int64_t t = begin; t < end; ++t) {
      const int64_t pos = t / m.rows() * block;
      if (t == begin)
        m.seek(c, t % m.rows());
      else
        m.next(c);  // after the last row comes the first
      m.run(c, pos, std::min(block, length - pos));
    }
    return;
  }
  int64_t pos = begin % per_row * block;
  m.seek(c, begin / per_row);
  for (int64_t t = begin; t < end; ++t) {
    if (pos >= length) {
      pos = 0;
      m.next(c);
    }
    m.run(c, pos, std::min(block, length - pos));
    pos += block;
  }
}

void PlainSchedule::run(const void* const* in, void* const* out, void*) const {
  const int64_t n = blocks(), grain = std::max<int64_t>(1, kWorthAThread / block_cost());
  if (n <= grain) return run_blocks(0, n, in, out);
  parallel_for(n, grain, [&](int64_t begin, int64_t end) { run_blocks(begin, end, in, out); });
}

}  // namespace horngate::native::fused
