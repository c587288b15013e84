// x[...]: integers, slices, Ellipsis, new axes and integer tensors in brackets.
#include <algorithm>
#include <numeric>

#include "api/args.h"
#include "api/shapes.h"
#include "horngate/ops/shape.h"
#include "ir/checked.h"
#include "prims/rules.h"

namespace horngate {
namespace {

constexpr const char* kName = "getitem";

template <class T>
const T* as(const Index& i) {
  return std::get_if<T>(&i.value);
}
bool takes_axis(const Index& i) { return !as<EllipsisType>(i) && !as<NoneType>(i); }

/// The integer of a scalar that is already known.
bool known_scalar(const Tensor& t, int64_t* value) {
  Ints ints;
  if (t.ndim() != 0 || !prim::known_ints(t, &ints) || ints[0] == kFromOperand) return false;
  *value = ints[0];
  return true;
}

Tensor integer_operand(const Tensor& t) {
  check<TypeError>(!t.defined() || t.dtype() != DType::bool_, kName,
                   "a bool tensor cannot be an index: the size of the result would depend on it.");
  return index_operand(kName, t, "an index");
}

/// Indices with one entry per axis of x, besides new axes: Ellipsis and missing ones become full
/// slices, known scalars become numbers.
std::vector<Index> complete(const Tensor& x, std::span<const Index> indices) {
  const auto used = static_cast<size_t>(std::count_if(indices.begin(), indices.end(), takes_axis));
  const auto dots = std::count_if(indices.begin(), indices.end(),
                                  [](const Index& i) { return as<EllipsisType>(i) != nullptr; });
  check<IndexError>(used <= x.ndim(), kName, "there must be at most ", x.ndim(),
                    " indices for x of shape ", x.shape(), "; got ", used, ".");
  check<IndexError>(dots <= 1, kName, "there must be at most one Ellipsis; got ", dots, ".");
  std::vector<Index> result;
  const auto fill = [&] { result.insert(result.end(), x.ndim() - used, Index(Slice{})); };
  for (const Index& i : indices) {
    int64_t number = 0;
    if (as<EllipsisType>(i))
      fill();
    else if (const Tensor* t = as<Tensor>(i);
             t && t->defined() && is_int(t->dtype()) && known_scalar(*t, &number))
      result.emplace_back(number);
    else
      result.push_back(i);
  }
  if (dots == 0) fill();
  return result;
}

// Python's bounds have no limit; this one stays clear of the numbers that have a special meaning.
constexpr int64_t kFar = kMostBytes;

void push_bound(SliceBounds* bounds, const Bound& bound, int64_t left_out) {
  int64_t number = bound.number.value_or(0);
  if (!bound.given()) {
    bounds->push(left_out);
  } else if (bound.number || known_scalar(bound.tensor, &number)) {
    bounds->push(std::clamp(number, -kFar, kFar));
  } else {
    const Tensor t = prim::cast(integer_operand(bound.tensor), DType::int64);
    check(t.ndim() == 0, kName, "a bound of a slice must be a scalar; got shape ", t.shape(), ".");
    bounds->push(kFromOperand, prim::expand_dims(t, {0}));
  }
}

void push_number(SliceBounds* starts, SliceBounds* stops, Ints* single, const Tensor& x,
                 size_t axis, int64_t i) {
  const int64_t n = x.shape().dim(axis);
  check<IndexError>(n < 0 || (i >= -n && i < n), kName, "an index on axis ", axis,
                    " of x of shape ", x.shape(), " must be in [", -n, ", ", n, "); got ", i, ".");
  check<IndexError>(i >= -kFar && i <= kFar, kName, "an index on axis ", axis, " of x of shape ",
                    x.shape(), " is beyond any possible size; got ", i, ".");
  starts->push(i);
  stops->push(i == -1 ? kToEnd : i + 1);
  if (n < 0) single->push_back(static_cast<int64_t>(axis));
}

/// All slices and numbers of the list in one node; a number leaves an axis of size 1.
Tensor slice_all(const Tensor& x, const std::vector<Index>& indices) {
  SliceBounds starts, stops;
  Ints single;            // axes of unknown size that a number indexes
  Ints steps, backwards;  // ::-1 is a reverse, whose gradient is cheaper than that of a slice
  for (const Index& i : indices) {
    if (as<NoneType>(i)) continue;
    int64_t step = 1;
    if (const Slice* s = as<Slice>(i)) {
      step = s->step;
      if (step == -1 && !s->start.given() && !s->stop.given()) {
        backwards.push_back(static_cast<int64_t>(steps.size()));
        step = 1;
      }
      check(step != 0, kName, "the step of a slice must not be 0.");
      step = std::clamp(step, -kFar, kFar);
      push_bound(&starts, s->start, step > 0 ? 0 : -1);
      push_bound(&stops, s->stop, kToEnd);
    } else if (const int64_t* n = as<int64_t>(i)) {
      push_number(&starts, &stops, &single, x, steps.size(), *n);
    } else {
      starts.push(0);
      stops.push(kToEnd);
    }
    steps.push_back(step);
  }
  return prim::reverse(slice_between(x, starts, stops, steps, single), backwards);
}

/// Elements at the positions of an integer tensor; negative ones count from the end.
Tensor take(const Tensor& x, const Tensor& positions, int64_t axis) {
  const Tensor i = integer_operand(positions);
  const Tensor size = prim::count(x, {axis}, i.dtype());
  const Tensor negative = prim::lt(i, prim::scalar(0, i.dtype()));
  return prim::gather(x, prim::select(negative, prim::add(i, size), i), axis);
}

/// Whether something stands between the numbers and tensors of a list of indices.
bool are_apart(std::span<const Index> indices) {
  const auto picks = [](const Index& i) { return as<int64_t>(i) || as<Tensor>(i); };
  const auto first = std::find_if(indices.begin(), indices.end(), picks);
  const auto last = std::find_if(indices.rbegin(), indices.rend(), picks).base();
  return first < last && !std::all_of(first, last, picks);
}

/// The n axes from `begin` on become the first ones.
Tensor to_front(const Tensor& x, int64_t begin, int64_t n) {
  Ints order(x.ndim());
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin(), order.begin() + begin, order.begin() + begin + n);
  return prim::transpose(x, order);
}

/// Shape arithmetic becomes a number as soon as it is known.
Tensor folded(const Tensor& y) {
  int64_t value = 0;
  if (!is_int(y.dtype()) || !known_scalar(y, &value)) return y;
  return prim::constant(Array(value).cast(y.dtype()));
}

}  // namespace

Tensor getitem(const Tensor& x, std::span<const Index> indices) {
  const CalledAs called(__func__);
  const Tensor t = dense_operand(kName, x);
  const std::vector<Index> list = complete(t, indices);
  Tensor y = slice_all(t, list);

  // From the last axis to the first, so that the remaining axes keep their numbers.
  auto axis = static_cast<int64_t>(t.ndim());
  size_t wide = 0;
  for (size_t i = list.size(); i-- > 0;) {
    if (as<NoneType>(list[i])) continue;
    --axis;
    const Tensor* at = as<Tensor>(list[i]);
    if (!at) continue;
    y = take(y, *at, axis);
    wide += at->ndim() > 0;
  }
  check<NotImplementedError>(wide <= 1, kName, "at most one index may be a tensor with axes; got ",
                             wide, ".");

  Ints dropped, added;
  int64_t before = 0, after = 0;  // axes of y, and of the result, passed so far
  int64_t wide_at = 0, wide_axes = 0;
  for (const Index& i : list) {
    if (as<NoneType>(i)) {
      added.push_back(after++);
    } else if (as<int64_t>(i)) {
      dropped.push_back(before++);
    } else {
      const Tensor* at = as<Tensor>(i);
      const int64_t axes = at ? static_cast<int64_t>(at->ndim()) : 1;
      if (at && axes > 0) {
        wide_at = after;
        wide_axes = axes;
      }
      before += axes;
      after += axes;
    }
  }
  Tensor result = prim::expand_dims(prim::squeeze(y, dropped), added);
  // Where NumPy puts the axes of a tensor that is not beside the other indices that take an axis away.
  if (wide_axes > 0 && wide_at > 0 && are_apart(indices))
    result = to_front(result, wide_at, wide_axes);
  return own(called, folded(result));
}

Tensor getitem(const Tensor& x, std::initializer_list<Index> indices) {
  const CalledAs called(__func__);
  return own(called, getitem(x, std::span<const Index>(indices.begin(), indices.size())));
}

Tensor index(const Tensor& x, const Index& i) { return getitem(x, std::span<const Index>(&i, 1)); }
Tensor Tensor::operator[](const Index& i) const { return horngate::index(*this, i); }

}  // namespace horngate
