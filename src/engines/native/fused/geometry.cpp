#include "engines/native/fused/geometry.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace horngate::native::fused {
namespace {

void erase_axis(Space& s, size_t axis) {
  s.extent.erase(s.extent.begin() + axis);
  s.reduced.erase(s.reduced.begin() + static_cast<std::ptrdiff_t>(axis));
  for (Ints& stride : s.stride) stride.erase(stride.begin() + axis);
}

// Reverses an axis if the most important access that moves on it goes backwards.
void turn(Space& s, std::span<const size_t> priority) {
  for (size_t axis = 0; axis < s.rank(); ++axis) {
    const auto mover = std::find_if(priority.begin(), priority.end(),
                                    [&](size_t a) { return s.stride[a][axis] != 0; });
    if (mover == priority.end() || s.stride[*mover][axis] > 0) continue;
    for (size_t a = 0; a < s.accesses(); ++a) {
      s.offset[a] += s.stride[a][axis] * (s.extent[axis] - 1);
      s.stride[a][axis] = -s.stride[a][axis];
    }
  }
}

// Whether axis x belongs outside axis y: the first access that moves on both decides.
bool outside(const Space& s, std::span<const size_t> priority, size_t x, size_t y) {
  for (size_t a : priority) {
    const int64_t sx = std::abs(s.stride[a][x]), sy = std::abs(s.stride[a][y]);
    if (sx != 0 && sy != 0 && sx != sy) return sx > sy;
  }
  return false;
}

bool mergeable(const Space& s, size_t outer) {
  const size_t inner = outer + 1;
  if (s.reduced[outer] != s.reduced[inner]) return false;
  for (const Ints& stride : s.stride)
    if (stride[outer] != stride[inner] * s.extent[inner]) return false;
  return true;
}

}  // namespace

int64_t Space::size(size_t from, size_t to) const {
  int64_t n = 1;
  for (size_t i = from; i < to; ++i) n *= extent[i];
  return n;
}

void Space::permute(const std::vector<size_t>& order) {
  const Space old = *this;
  for (size_t i = 0; i < order.size(); ++i) {
    extent[i] = old.extent[order[i]];
    reduced[i] = old.reduced[order[i]];
    for (size_t a = 0; a < accesses(); ++a) stride[a][i] = old.stride[a][order[i]];
  }
}

bool Space::is_uniform(size_t access, size_t from) const {
  for (size_t i = from; i < rank(); ++i)
    if (stride[access][i] != 0) return false;
  return true;
}

bool Space::is_contiguous(size_t access, size_t from) const {
  int64_t expected = 1;
  for (size_t i = rank(); i-- > from; expected *= extent[i])
    if (stride[access][i] != expected) return false;
  return true;
}

bool Space::is_invariant(size_t access, size_t to) const {
  for (size_t i = 0; i < to; ++i)
    if (stride[access][i] != 0) return false;
  return true;
}

Space simplify(Space s, std::span<const size_t> priority) {
  for (size_t i = s.rank(); i-- > 0;)
    if (s.extent[i] == 1) erase_axis(s, i);
  turn(s, priority);
  std::vector<size_t> order(s.rank());
  std::iota(order.begin(), order.end(), size_t{0});
  // Insertion sort: `outside` is not a strict order, and axes already in order must stay.
  for (size_t i = 1; i < order.size(); ++i)
    for (size_t j = i; j > 0 && outside(s, priority, order[j], order[j - 1]); --j)
      std::swap(order[j], order[j - 1]);
  s.permute(order);
  for (size_t i = s.rank(); i-- > 1;) {
    if (!mergeable(s, i - 1)) continue;
    s.extent[i] *= s.extent[i - 1];
    erase_axis(s, i - 1);
  }
  return s;
}

}  // namespace horngate::native::fused
