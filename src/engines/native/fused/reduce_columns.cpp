// Reductions over outer axes: blocks are added to a row of accumulators. Sums of floats go through
// two levels, so that no accumulator takes a long chain of additions.
#include <algorithm>
#include <cstring>

#include "engines/native/fused/reduce.h"
#include "engines/native/threads.h"

namespace horngate::native::fused {
namespace {

constexpr int64_t kBlock =
    1024;  // so that the accumulators of a block stay in the first-level cache
constexpr int64_t kTile = 4096;  // accumulators per task: memory is read fastest in long stretches
// Several rows at once, but from memory only if each row is long enough for the CPU to prefetch.
constexpr int64_t kWideRow = 1024, kInCache = 1 << 19;
constexpr int64_t kPerFlush = 128;  // additions to an accumulator of the first level

/// Rows are [kept outer axes][reduced outer axes].
///  - Wide: the elements of a row are kept; a task takes a tile of it, over a part of the rows.
///  - Narrow: a row is a reduced axis and `width_` kept elements; a task takes a part of all
///    blocks, each a whole number of `width_`, and folds its accumulators to `width_` at the end.
class ColumnReduction final : public Schedule {
 public:
  ColumnReduction(const Program& program, const Space& space, size_t inner, size_t kept,
                  int64_t width)
      : narrow_(width != 0),
        machine_(program, space, inner, narrow_ ? width : 1, kBlock),
        outputs_(reduced_outputs(program, machine_.kernels())),
        offsets_(space, kept, program.inputs.size(), outputs_),
        results_(space.size(0, kept)),
        rows_(space.size(kept, inner)),
        width_(narrow_ ? width : machine_.row_length()),
        tile_(tile_size()),
        tiles_(narrow_ ? 1 : (width_ + tile_ - 1) / tile_),
        split_(results_ * tiles_, items(), tile_, kPerFlush),
        many_rows_(!narrow_ && program.code.empty() && program.outputs.size() == 1 &&
                           program.outputs[0].value < program.inputs.size() &&
                           stored_as_lane(program.inputs[program.outputs[0].value]) &&
                           space.is_contiguous(program.outputs[0].value, inner) &&
                           (width_ >= kWideRow || space.size() <= kInCache)
                       ? machine_.kernels().fold_rows_of(outputs_[0].fold, outputs_[0].lane)
                       : nullptr) {
    for (const Reduced& r : outputs_)
      where_.emplace_back(space, program.inputs.size() + r.output, inner, r.dtype,
                          machine_.kernels(), true);
  }

  size_t scratch_bytes() const override {
    return split_.parts == 1 ? 0
                             : static_cast<size_t>(results_ * tiles_ * split_.parts) * part_bytes();
  }

  void run(const void* const* in, void* const* out, void* scratch) const override {
    const int64_t tasks = results_ * tiles_ * split_.parts;
    const int64_t cost = split_.items_per_part * tile_ * machine_.cost();
    parallel_for(tasks, std::max<int64_t>(1, kWorthAThread / cost),
                 [&](int64_t begin, int64_t end) {
                   run_tasks(begin, end, in, out, static_cast<char*>(scratch));
                 });
    if (split_.parts == 1) return;
    for (int64_t t = 0; t < results_ * tiles_; ++t) {
      char* first =
          static_cast<char*>(scratch) + static_cast<size_t>(t * split_.parts) * part_bytes();
      for (size_t i = 0; i < outputs_.size(); ++i) {
        char* sums = first + i * result_bytes();
        for (int64_t part = 1; part < split_.parts; ++part)
          outputs_[i].merge(sums, sums, sums + static_cast<size_t>(part) * part_bytes(), nullptr,
                            static_cast<size_t>(tile_width(t)), 0);
        finish(i, t, sums, out);
      }
    }
  }

 private:
  // The accumulators of all outputs together should stay in the second-level cache.
  int64_t tile_size() const {
    const int64_t block = machine_.block();
    if (narrow_) return block;
    const int64_t blocks = kTile / (block * static_cast<int64_t>(outputs_.size()));
    return std::min(std::max<int64_t>(blocks, 1) * block, width_);
  }
  int64_t items() const { return narrow_ ? rows_ * machine_.blocks_per_row() : rows_; }
  /// Results of tile t % tiles.
  int64_t tile_width(int64_t t) const {
    return narrow_ ? width_ : std::min(tile_, width_ - t % tiles_ * tile_);
  }
  size_t result_bytes() const { return static_cast<size_t>(narrow_ ? width_ : tile_) * 8; }
  size_t part_bytes() const { return result_bytes() * outputs_.size(); }

  void finish(size_t i, int64_t t, char* sums, void* const* out) const {
    const Reduced& r = outputs_[i];
    const int64_t n = tile_width(t), k = t / tiles_;
    r.narrow(sums, sums, nullptr, nullptr, static_cast<size_t>(n), 0);
    char* row = static_cast<char*>(out[r.output]);
    row += offsets_(i, k) * static_cast<int64_t>(r.stored_size());
    where_[i].store(row, sums, t % tiles_ * tile_, n);
  }

  /// Two levels of accumulators for each output, on the task's stack.
  struct Levels {
    char *first, *second;
  };

  void clear(void* lanes, Lane lane, uint64_t identity) const {
    alignas(64) unsigned char repeated[64];
    repeat(lane, repeated, identity);
    machine_.kernels().of(Op::copy, lane)(lanes, repeated, nullptr, nullptr,
                                          static_cast<size_t>(tile_), kScalarA);
  }
  void flush(size_t i, const Levels& l) const {
    const Reduced& r = outputs_[i];
    r.widen(l.second, l.second, l.first, nullptr, static_cast<size_t>(tile_), 0);
    clear(l.first, r.lane, r.identity);
  }
  void accumulate(Machine::Context& c, const Levels* levels, int64_t at, int64_t n) const {
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const Reduced& r = outputs_[i];
      char* to = levels[i].first + at * static_cast<int64_t>(size_of(r.lane));
      r.accumulate(to, to, machine_.reduced(c, r.output), nullptr, static_cast<size_t>(n), 0);
    }
  }

  // Task t: part t % parts of tile t / parts % tiles of result t / parts / tiles.
  void run_tasks(int64_t begin, int64_t end, const void* const* in, void* const* out,
                 char* scratch) const {
    Machine::Context c;
    machine_.begin(c, __builtin_alloca_with_align(machine_.memory_bytes(), 512), in, out);
    const size_t level = (static_cast<size_t>(tile_) * 8 + 127) / 64 * 64;
    char* memory =
        static_cast<char*>(__builtin_alloca_with_align(2 * level * outputs_.size(), 512));
    Levels* levels = static_cast<Levels*>(__builtin_alloca(outputs_.size() * sizeof(Levels)));
    for (size_t i = 0; i < outputs_.size(); ++i)
      levels[i] = {memory + 2 * i * level, memory + (2 * i + 1) * level};
    for (int64_t t = begin; t < end; ++t) {
      for (size_t i = 0; i < outputs_.size(); ++i) {
        clear(levels[i].first, outputs_[i].lane, outputs_[i].identity);
        clear(levels[i].second, outputs_[i].wide, outputs_[i].wide_identity);
      }
      run_part(c, levels, t / split_.parts, t % split_.parts);
      for (size_t i = 0; i < outputs_.size(); ++i) {
        flush(i, levels[i]);
        char* sums = levels[i].second;
        if (narrow_) fold_to_width(outputs_[i], sums);
        if (split_.parts == 1)
          finish(i, t, sums, out);
        else
          std::memcpy(scratch + static_cast<size_t>(t) * part_bytes() + i * result_bytes(), sums,
                      result_bytes());
      }
    }
  }

  void run_part(Machine::Context& c, const Levels* levels, int64_t tile, int64_t part) const {
    const Machine& m = machine_;
    const int64_t first = part * split_.items_per_part;
    const int64_t last = std::min(first + split_.items_per_part, items());
    const int64_t per_row = narrow_ ? m.blocks_per_row() : 1, block = m.block();
    const int64_t start = narrow_ ? 0 : tile % tiles_ * tile_;
    if (many_rows_) return add_rows(c, levels[0], tile, first, last);
    int64_t row = -2;
    for (int64_t item = first; item < last; ++item) {
      const int64_t at = tile / tiles_ * rows_ + item / per_row;
      if (at == row + 1)
        m.next(c);
      else if (at != row)
        m.seek(c, at);
      row = at;
      if (narrow_) {
        const int64_t pos = item % per_row * block, n = std::min(block, m.row_length() - pos);
        m.run(c, pos, n);
        accumulate(c, levels, 0, n);
      } else {
        const int64_t stop = std::min(start + tile_, width_);
        for (int64_t pos = start; pos < stop; pos += block) {
          const int64_t n = std::min(block, stop - pos);
          m.run(c, pos, n);
          accumulate(c, levels, pos - start, n);
        }
      }
      if ((item - first) % kPerFlush == kPerFlush - 1)
        for (size_t i = 0; i < outputs_.size(); ++i)
          if (outputs_[i].fold == Fold::sum && is_float(outputs_[i].lane)) flush(i, levels[i]);
    }
  }

  // For inputs that are reduced as they are: several rows at once, because streaming data pushes the
  // accumulators out of the first-level cache, so they should be read and written seldom.
  void add_rows(Machine::Context& c, const Levels& level, int64_t tile, int64_t first,
                int64_t last) const {
    const Machine& m = machine_;
    const Reduced& r = outputs_[0];
    const int64_t start = tile % tiles_ * tile_;
    const auto n = static_cast<size_t>(std::min(tile_, width_ - start));
    const bool flushes = r.fold == Fold::sum && is_float(r.lane);
    const int64_t lane = static_cast<int64_t>(size_of(r.lane));
    const void* rows[kFoldRows];
    for (int64_t item = first; item < last; ++item) {
      if (item == first)
        m.seek(c, tile / tiles_ * rows_ + item);
      else
        m.next(c);
      m.run(c, 0, 1);  // only to find where the row is
      const int64_t done = item - first, k = done % kFoldRows;
      rows[k] = static_cast<const char*>(m.reduced(c, r.output)) + start * lane;
      if (last - (item - k) < kFoldRows)
        r.accumulate(level.first, level.first, rows[k], nullptr, n, 0);
      else if (k == kFoldRows - 1)
        many_rows_(level.first, rows, n);
      if (flushes && done % kPerFlush == kPerFlush - 1) flush(0, level);
    }
  }

  // Halves the number of groups of `width_` until one is left.
  void fold_to_width(const Reduced& r, char* sums) const {
    const int64_t bytes = width_ * static_cast<int64_t>(size_of(r.wide));
    for (int64_t groups = tile_ / width_; groups > 1;) {
      const int64_t half = groups / 2;
      groups -= half;
      r.merge(sums, sums, sums + groups * bytes, nullptr, static_cast<size_t>(half * width_), 0);
    }
  }

  bool narrow_;
  Machine machine_;
  std::vector<Reduced> outputs_;
  KeptOffsets offsets_;
  int64_t results_, rows_, width_, tile_, tiles_;
  Split split_;
  FoldRowsKernel many_rows_;  // or null
  std::vector<Strided> where_;
};

}  // namespace

std::unique_ptr<Schedule> make_column_reduction(const Program& program, Space space, size_t inner,
                                                int64_t width) {
  const size_t kept = kept_first(space, inner);
  return std::make_unique<ColumnReduction>(program, space, inner, kept, width);
}

}  // namespace horngate::native::fused
