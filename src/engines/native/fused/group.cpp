#include "engines/native/fused/group.h"

#include <algorithm>
#include <numeric>

#include "engines/native/fused/schedule.h"
#include "engines/native/threads.h"
#include "ir/check.h"

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

// What should be walked in memory order: plain outputs, then the largest inputs, then reduced
// outputs.
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

}  // namespace

Group::~Group() = default;
MultiGroup::~MultiGroup() = default;

std::unique_ptr<Group> Group::make(Program program, Ints extent, std::vector<Access> in,
                                   std::vector<Access> out, std::vector<bool> reduced_axes) {
  std::unique_ptr<Group> group(new Group);
  Space space = simple_space(program, extent, in, out, std::move(reduced_axes));
  if (program.reduces())
    group->schedule_ = make_reduction(program, std::move(space));
  else if (space.size() != 0)
    group->schedule_ = std::make_unique<PlainSchedule>(program, std::move(space));
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
  for (size_t i = 0; i < sets.size(); ++i) {
    Space space = simple_space(program, sets[i].extent, sets[i].in, sets[i].out, {});
    if (space.size() == 0) continue;
    const auto& made =
        group->schedules_.emplace_back(std::make_unique<PlainSchedule>(program, std::move(space)));
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
