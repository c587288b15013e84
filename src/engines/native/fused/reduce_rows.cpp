// Reductions along rows: each block is folded to one value (long rows) or to one per segment (short
// rows).
#include <algorithm>
#include <bit>
#include <cstring>

#include "engines/native/fused/reduce.h"
#include "engines/native/threads.h"

namespace horngate::native::fused {
namespace {

/// Rows are [kept outer axes][reduced outer axes]; all of a row is reduced.
class RowReduction final : public Schedule {
 public:
  RowReduction(const Program& program, const Space& space, size_t inner, size_t kept)
      : machine_(program, space, inner),
        outputs_(reduced_outputs(program, machine_.kernels())),
        offsets_(space, kept, program.inputs.size(), outputs_),
        results_(space.size(0, kept)),
        items_(space.size(kept, inner) * machine_.blocks_per_row()),
        split_(results_, items_, machine_.block(), 8) {}

  size_t scratch_bytes() const override {
    return split_.parts == 1 ? 0
                             : static_cast<size_t>(results_ * split_.parts) * outputs_.size() * 8;
  }

  void run(const void* const* in, void* const* out, void* scratch) const override {
    const int64_t tasks = results_ * split_.parts;
    const int64_t cost = split_.items_per_part * machine_.block() * machine_.cost();
    parallel_for(tasks, std::max<int64_t>(1, kWorthAThread / cost),
                 [&](int64_t begin, int64_t end) {
                   run_tasks(begin, end, in, out, static_cast<uint64_t*>(scratch));
                 });
    if (split_.parts == 1) return;
    for (int64_t k = 0; k < results_; ++k) {
      uint64_t* parts = static_cast<uint64_t*>(scratch) + k * split_.parts * count();
      for (int64_t part = 1; part < split_.parts; ++part)
        for (size_t i = 0; i < outputs_.size(); ++i)
          outputs_[i].merge(parts + i, parts + i, parts + part * count() + i, nullptr, 1, 0);
      finish(out, k, parts);
    }
  }

 private:
  int64_t count() const { return static_cast<int64_t>(outputs_.size()); }

  void finish(void* const* out, int64_t k, const uint64_t* sums) const {
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const Reduced& r = outputs_[i];
      char* at = static_cast<char*>(out[r.output]);
      at += offsets_(i, k) * static_cast<int64_t>(r.stored_size());
      if (r.wide == Lane::f64 && r.dtype == DType::float32) {  // common with short rows
        const auto sum = static_cast<float>(std::bit_cast<double>(sums[i]));
        std::memcpy(at, &sum, sizeof sum);
        continue;
      }
      uint64_t lane = 0;
      r.narrow(&lane, sums + i, nullptr, nullptr, 1, 0);
      r.store(at, &lane, nullptr, nullptr, 1, 0);
    }
  }

  // Task t: part t % parts of result t / parts.
  void run_tasks(int64_t begin, int64_t end, const void* const* in, void* const* out,
                 uint64_t* scratch) const {
    const Machine& m = machine_;
    Machine::Context c;
    m.begin(c, __builtin_alloca_with_align(m.memory_bytes(), 512), in, out);
    uint64_t* sums = static_cast<uint64_t*>(__builtin_alloca(outputs_.size() * 8));
    const int64_t per_row = m.blocks_per_row(), block = m.block(), length = m.row_length();
    int64_t row = -2;
    for (int64_t t = begin; t < end; ++t) {
      const bool whole = split_.parts == 1;
      const int64_t k = whole ? t : t / split_.parts;
      const int64_t first = whole ? 0 : t % split_.parts * split_.items_per_part;
      const int64_t last = std::min(first + split_.items_per_part, items_);
      for (size_t i = 0; i < outputs_.size(); ++i) sums[i] = outputs_[i].wide_identity;
      for (int64_t item = first; item < last; ++item) {
        const int64_t at = per_row == 1 ? k * items_ + item : (k * items_ + item) / per_row;
        if (at == row + 1)
          m.next(c);
        else if (at != row)
          m.seek(c, at);
        row = at;
        const int64_t pos = per_row == 1 ? 0 : item % per_row * block;
        const int64_t n = std::min(block, length - pos);
        m.run(c, pos, n);
        for (size_t i = 0; i < outputs_.size(); ++i)
          m.kernels().fold_of(outputs_[i].fold, outputs_[i].lane)(
              sums + i, m.reduced(c, outputs_[i].output), static_cast<size_t>(n));
      }
      if (whole)
        finish(out, k, sums);
      else
        std::memcpy(scratch + t * count(), sums, outputs_.size() * 8);
    }
  }

  Machine machine_;
  std::vector<Reduced> outputs_;
  KeptOffsets offsets_;
  int64_t results_, items_;
  Split split_;
};

/// Rows hold many segments of `length_` elements, each reduced to one.
class SegmentReduction final : public Schedule {
 public:
  SegmentReduction(const Program& program, const Space& space, size_t inner, size_t reduced_from)
      : length_(space.size(reduced_from, space.rank())),
        machine_(program, space, inner, length_),
        outputs_(reduced_outputs(program, machine_.kernels())) {
    for (const Reduced& r : outputs_)
      where_.emplace_back(space, program.inputs.size() + r.output, inner, r.dtype,
                          machine_.kernels(), true);
  }

  void run(const void* const* in, void* const* out, void*) const override {
    const int64_t tasks = machine_.rows() * machine_.blocks_per_row();
    const int64_t cost = machine_.block() * machine_.cost();
    parallel_for(tasks, std::max<int64_t>(1, kWorthAThread / cost),
                 [&](int64_t begin, int64_t end) { run_tasks(begin, end, in, out); });
  }

 private:
  void run_tasks(int64_t begin, int64_t end, const void* const* in, void* const* out) const {
    const Machine& m = machine_;
    Machine::Context c;
    m.begin(c, __builtin_alloca_with_align(m.memory_bytes(), 512), in, out);
    void* lanes = __builtin_alloca_with_align(static_cast<size_t>(m.block() / length_) * 8, 512);
    const int64_t per_row = m.blocks_per_row(), block = m.block(), row_length = m.row_length();
    int64_t pos = begin % per_row * block;
    m.seek(c, begin / per_row);
    for (int64_t t = begin; t < end; ++t, pos += block) {
      if (pos >= row_length) {
        pos = 0;
        m.next(c);
      }
      const int64_t n = std::min(block, row_length - pos), segments = n / length_;
      m.run(c, pos, n);
      for (size_t i = 0; i < outputs_.size(); ++i) {
        const Reduced& r = outputs_[i];
        m.kernels().segment_of(r.fold, r.lane)(lanes, m.reduced(c, r.output),
                                               static_cast<size_t>(segments),
                                               static_cast<size_t>(length_));
        const int64_t row = m.offset(c, r.output) * static_cast<int64_t>(r.stored_size());
        where_[i].store(static_cast<char*>(out[r.output]) + row, lanes, pos / length_, segments);
      }
    }
  }

  int64_t length_;
  Machine machine_;
  std::vector<Reduced> outputs_;
  std::vector<Strided> where_;
};

}  // namespace

std::unique_ptr<Schedule> make_row_reduction(const Program& program, Space space, size_t inner) {
  const size_t kept = kept_first(space, inner);
  return std::make_unique<RowReduction>(program, space, inner, kept);
}

std::unique_ptr<Schedule> make_segment_reduction(const Program& program, const Space& space,
                                                 size_t inner, size_t reduced_from) {
  return std::make_unique<SegmentReduction>(program, space, inner, reduced_from);
}

}  // namespace horngate::native::fused
