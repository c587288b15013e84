// Takes work out of one scan that need not be done step by step; see loops.cpp.
#pragma once

#include <map>
#include <tuple>

#include "passes/loop_body.h"
#include "passes/rewriter.h"
#include "passes/stacking.h"

namespace horngate {

class LoopRewriter {
 public:
  /// `n` has operands in r; `types` are those of its results.
  LoopRewriter(Rewriter& r, const GraphNode& n, const Types& types)
      : r_(r), n_(n), types_(types), a_(n.as<attrs::scan>()), body_(*n.bodies[0]), in_(n) {}

  SmallVec<ValueId, 1> run();

 private:
  /// A value for all steps at once, in the outer graph.
  struct Stacked {
    ValueId value = kNoValue;
    int64_t axis = 0;
    bool reversed = false;  // step t is at length - 1 - t
  };
  /// A value of the body that the loop stacks.
  struct Request {
    ValueId inner;
    int64_t axis;
    bool reversed;
    ValueId value = kNoValue;
  };
  static constexpr int kDeepest = 16;  // products in a row after the loop

  // loop_before.cpp

  /// Emits before the loop: what is the same in each step, and products of sequences with all that they need.
  void hoist();
  /// Which nodes on sequences have a stacked form, and where its time axis is. `wanted`, per node: compute it that
  /// way.
  std::vector<Stacked> plan_hoisting(std::vector<uint8_t>& wanted) const;
  /// A loop reads slices along the first axis in place. Where a product makes more than it reads, its sequences are
  /// transposed so that the result has time first.
  bool put_time_first(const std::vector<Stacked>& form, const std::vector<uint8_t>& wanted);
  /// What is the same in each step is computed once. Constants stay in the body too, where they cost nothing.
  void move_out(const GraphNode& n);

  // loop_after.cpp

  /// What can move after the loop: a product that no step needs, and whatever follows it on the way out.
  void find_movable();
  /// One value per result of the scan. Runs twice: first to find what the loop must stack (the values it returns
  /// then mean nothing), then, when the loop exists, to emit.
  SmallVec<ValueId, 1> results();
  /// The sum of f over all steps. The depth is bounded by can_sum.
  ValueId sum_of(ValueId f, int depth);
  /// If the last operand is part of a concat (the gates of one cell), the sum is a slice of the sum over the whole
  /// concat, which the other parts share.
  std::optional<ValueId> part_of_larger_sum(const GraphNode& n, int depth);
  ValueId sum_of_operands(const GraphNode& n, const SmallVec<ValueId, 4>& in, int depth);
  /// A sum may be taken in any order, so choose the one for which most operands are already there. The loop should
  /// not stack a value twice, and transposing a small operand is better than a large one.
  Stacked form_of_sum(const GraphNode& n, const SmallVec<ValueId, 4>& in) const;
  /// A value of the body for all steps, along that axis and in that order.
  ValueId all_steps(ValueId v, int64_t axis, bool reversed, int depth);
  /// The axis along which operands should be stacked to have the result stacked along `wanted`, or else anywhere.
  std::optional<int64_t> operand_axis(const GraphNode& n, int64_t wanted) const;
  const Request* requested(ValueId v, int64_t axis, bool reversed) const;
  ValueId request(ValueId v, int64_t axis, bool reversed);

  // loop_rewriter.cpp

  /// The loop that is left. Sequences, carries and captures that nothing reads any more go with the dead code.
  SmallVec<ValueId, 1> emit_loop();
  bool invariants_are_out(const GraphNode& n) const;
  ValueId arranged(const Stacked& s, int64_t axis, bool reversed);

  struct Operands {
    SmallVec<TensorType, 4> type;
    SmallVec<int64_t, 4> axis;
    std::span<const TensorType> types() const { return {type.data(), type.size()}; }
    std::span<const int64_t> axes() const { return {axis.data(), axis.size()}; }
  };
  template <class F>
  Operands operands(const GraphNode& n, F axis_of) const {
    Operands o;
    for (ValueId v : n.in) {
      o.type.push_back(body_.values[v]);
      o.axis.push_back(in_.from[v] == 0 ? kInvariant : axis_of(v));
    }
    return o;
  }
  template <class F>
  ValueId emit(const GraphNode& n, const Operands& o, F value_of) {
    SmallVec<ValueId, 4> values;
    for (ValueId v : n.in) values.push_back(in_.from[v] == 0 ? outer_[v] : value_of(v));
    return emit_stacked(r_, n, o.types(), body_.values[n.out[0]], o.axes(),
                        {values.data(), values.size()}, a_.length);
  }

  Rewriter& r_;
  const GraphNode& n_;
  const Types& types_;
  const attrs::scan a_;
  const Graph& body_;
  const LoopBody in_;  // the parts of the body
  bool planning_ = true;
  std::vector<ValueId> kept_results_;
  std::vector<ValueId> outer_;    // per value of the body: itself outside, if the same in each step
  std::vector<Stacked> stacked_;  // per value of the body: its form before the loop, if it has one
  std::vector<ValueId> hoisted_;
  std::vector<size_t> sums_;  // carries that sum up, large ones first
  std::vector<Request> requests_;
  std::map<const GraphNode*, Stacked>
      forms_;  // per sum over the steps: how its operands are stacked
  std::vector<uint8_t> movable_;
  std::map<std::tuple<ValueId, int64_t, bool>, ValueId> moved_;
};

}  // namespace horngate
