#include "engines/native/fused/group.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "engines/native/fused/schedule.h"
#include "engines/native/kernels/strided_copy.h"
#include "engines/native/threads.h"
#include "ir/check.h"
#include "ir/interrupt.h"

namespace horngate::native::fused {
namespace {

Space space_of(const Program& program, const Ints& extent, const std::vector<Access>& in,
               const std::vector<Access>& out, std::vector<bool> reduced) {
  invariant(in.size() == program.inputs.size() && out.size() == program.outputs.size(),
            "a fused group takes one access per input and output");
  Space s;
  s.extent = extent;
  reduced.resize(extent.size(), false);
  s.reduced = std::move(reduced);
  for (const std::vector<Access>* list : {&in, &out})
    for (const Access& a : *list) {
      invariant(a.stride.size() == extent.size(), "a fused access takes one stride per axis");
      s.stride.push_back(a.stride);
      s.offset.push_back(a.offset);
    }
  return s;
}

// The accesses in order of how much memory order matters: plain outputs, then the largest inputs,
// then reduced outputs.
std::vector<size_t> priority_of(const Program& program, const Space& s) {
  std::vector<size_t> order;
  const size_t inputs = program.inputs.size();
  for (size_t o = 0; o < program.outputs.size(); ++o)
    if (!program.outputs[o].reduces) order.push_back(inputs + o);
  std::vector<size_t> by_size(inputs);
  std::iota(by_size.begin(), by_size.end(), size_t{0});
  const auto elements = [&s](size_t a) {
    int64_t n = 1;
    for (size_t i = 0; i < s.rank(); ++i)
      if (s.stride[a][i] != 0) n *= s.extent[i];
    return n;
  };
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](size_t a, size_t b) { return elements(a) > elements(b); });
  order.insert(order.end(), by_size.begin(), by_size.end());
  for (size_t o = 0; o < program.outputs.size(); ++o)
    if (program.outputs[o].reduces) order.push_back(inputs + o);
  return order;
}

Space simple_space(const Program& program, const Ints& extent, const std::vector<Access>& in,
                   const std::vector<Access>& out, std::vector<bool> reduced) {
  Space s = space_of(program, extent, in, out, std::move(reduced));
  const std::vector<size_t> priority = priority_of(program, s);
  return simplify(std::move(s), priority);
}

// A program that computes nothing: broadcasts along outer axes, repetitions of rows.
class CopySchedule final : public Schedule {
 public:
  CopySchedule(const Program& program, const Space& space)
      : item_(static_cast<int64_t>(horngate::size_of(program.inputs[0]))),
        from_(space.offset[0]),
        to_(space.offset[1]),
        copy_(axes_of(space), program.inputs[0]) {}

  void run(const void* const* in, void* const* out, void*) const override {
    copy_.run(static_cast<const char*>(in[0]) + from_ * item_,
              static_cast<char*>(out[0]) + to_ * item_);
  }

  /// Whether rows are long enough, and dense on both sides.
  static bool fits(const Program& program, const Space& space) {
    constexpr int64_t kLongRow = 16;
    if (!program.code.empty() || program.inputs.size() != 1 || program.outputs.size() != 1 ||
        program.outputs[0].value != 0 || program.outputs[0].dtype != program.inputs[0])
      return false;
    const size_t rank = space.rank();
    return rank > 0 && space.extent[rank - 1] >= kLongRow && space.stride[0][rank - 1] == 1 &&
           space.stride[1][rank - 1] == 1;
  }

 private:
  static kernels::CopyAxes axes_of(const Space& s) {
    kernels::CopyAxes axes;
    for (size_t i = 0; i < s.rank(); ++i)
      axes.push_back({s.extent[i], s.stride[0][i], s.stride[1][i]});
    return axes;
  }

  int64_t item_, from_, to_;
  kernels::StridedCopy copy_;
};

}  // namespace

Group::~Group() = default;
MultiGroup::~MultiGroup() = default;

struct GroupCache::Key {
  Program program;
  Ints extent;
  std::vector<Access> in, out;
  std::vector<bool> reduced;
  bool operator==(const Key&) const = default;
};

struct GroupCache::KeyHash {
  size_t operator()(const Key& k) const {
    uint64_t h = k.program.hash();
    const auto mix = [&h](int64_t v) {
      h = (h ^ static_cast<uint64_t>(v)) * 0x9e3779b97f4a7c15ull ^ (h >> 29);
    };
    for (int64_t n : k.extent) mix(n);
    for (const std::vector<Access>* list : {&k.in, &k.out})
      for (const Access& a : *list) {
        mix(a.offset);
        for (int64_t stride : a.stride) mix(stride);
      }
    return h;
  }
};

struct GroupCache::Table {
  template <class T>
  using Map = std::unordered_map<Key, std::shared_ptr<const T>, KeyHash>;
  Map<Schedule> schedules;
};

GroupCache::GroupCache() : table_(std::make_unique<Table>()) {}
GroupCache::~GroupCache() = default;

namespace {

std::shared_ptr<const Schedule> make_schedule(const Program& program, Space space) {
  if (program.reduces()) return make_reduction(program, std::move(space));
  if (space.size() == 0) return nullptr;
  if (CopySchedule::fits(program, space)) return std::make_shared<CopySchedule>(program, space);
  return std::make_shared<PlainSchedule>(program, std::move(space));
}

}  // namespace

std::unique_ptr<Group> Group::make(Program program, Ints extent, std::vector<Access> in,
                                   std::vector<Access> out, std::vector<bool> reduced_axes,
                                   GroupCache* cache) {
  stop_if_asked();
  std::unique_ptr<Group> group(new Group);
  const auto make = [](const GroupCache::Key& k) {
    return make_schedule(k.program, simple_space(k.program, k.extent, k.in, k.out, k.reduced));
  };
  GroupCache::Key key{std::move(program), std::move(extent), std::move(in), std::move(out),
                      std::move(reduced_axes)};
  if (!cache) {
    group->schedule_ = make(key);
    return group;
  }
  const auto [entry, is_new] = cache->table_->schedules.try_emplace(std::move(key));
  if (is_new) entry->second = make(entry->first);
  group->schedule_ = entry->second;
  return group;
}

void Group::run(const void* const* in, void* const* out, void* scratch) const {
  if (schedule_) schedule_->run(in, out, scratch);
}

size_t Group::scratch_bytes() const { return schedule_ ? schedule_->scratch_bytes() : 0; }

std::unique_ptr<MultiGroup> MultiGroup::make(const Program& program, const std::vector<Set>& sets) {
  invariant(!program.reduces(), "a fused multi-group cannot reduce");
  std::unique_ptr<MultiGroup> group(new MultiGroup);
  group->inputs_ = program.inputs.size();
  group->outputs_ = program.outputs.size();
  int64_t blocks = 0, cost = 0;
  GroupCache::Table::Map<PlainSchedule> known;  // all sets share one program, so keys omit it
  for (size_t i = 0; i < sets.size(); ++i) {
    const auto [entry, is_new] =
        known.try_emplace(GroupCache::Key{{}, sets[i].extent, sets[i].in, sets[i].out, {}});
    if (is_new)
      if (Space space = simple_space(program, sets[i].extent, sets[i].in, sets[i].out, {});
          space.size() != 0)
        entry->second = std::make_shared<PlainSchedule>(program, std::move(space));
    if (!entry->second) continue;
    const auto& made = group->schedules_.emplace_back(entry->second);
    group->index_.push_back(i);
    group->first_block_.push_back(blocks);
    blocks += made->blocks();
    cost += made->blocks() * made->block_cost();
  }
  group->first_block_.push_back(blocks);
  if (cost > 0) group->grain_ = std::max<int64_t>(1, kWorthAThread * blocks / cost);
  return group;
}

void MultiGroup::run(const void* const* in, void* const* out) const {
  parallel_for(first_block_.back(), grain_, [&](int64_t begin, int64_t end) {
    const auto after = std::upper_bound(first_block_.begin(), first_block_.end(), begin);
    size_t s = static_cast<size_t>(after - first_block_.begin()) - 1;
    for (int64_t at = begin; at < end; ++s) {
      const int64_t stop = std::min(end, first_block_[s + 1]);
      schedules_[s]->run_blocks(at - first_block_[s], stop - first_block_[s],
                                in + index_[s] * inputs_, out + index_[s] * outputs_);
      at = stop;
    }
  });
}

}  // namespace horngate::native::fused
