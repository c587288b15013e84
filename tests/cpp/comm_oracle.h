// A random operation of ranks, and what it must give, computed serially.
#pragma once

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "ir/check.h"
#include "ir/dispatch_dtype.h"

namespace horngate::comm {

using Bytes = std::vector<char>;

inline Operation sum_of(std::vector<float>& x) {
  Operation op;
  op.kind = Kind::all_reduce;
  op.in = op.out = x.data();
  op.count = x.size();
  return op;
}

/// Adds neighbours of equal weight as they come, like the carries of a binary counter.
template <class W, class Add>
W carry_sum(const std::vector<W>& values, Add add) {
  std::vector<std::pair<size_t, W>> open;
  for (const W& v : values) {
    open.emplace_back(1, v);
    while (open.size() > 1 && open.back().first == open[open.size() - 2].first) {
      const auto right = open.back();
      open.pop_back();
      open.back() = {2 * right.first, add(open.back().second, right.second)};
    }
  }
  while (open.size() > 1) {
    const auto right = open.back();
    open.pop_back();
    open.back() = {open.back().first + right.first, add(open.back().second, right.second)};
  }
  return open.back().second;
}

class RandomCase {
 public:
  RandomCase(uint64_t seed, int ranks, size_t most = 5000) : seed_(seed), ranks_(ranks) {
    std::mt19937_64 random(seed);
    op.kind = static_cast<Kind>(random() % kKinds);
    op.dtype = static_cast<DType>(random() % kDTypeCount);
    op.reduction = static_cast<Reduction>(random() % 4);
    op.root = static_cast<int>(random() % static_cast<uint64_t>(ranks));
    // Every size class, from nothing to several chunks.
    const size_t sizes[] = {0, 1, random() % 100, random() % most, most + random() % most};
    op.count = sizes[random() % 5];
    is_in_place = random() % 2 == 0;
  }

  /// Empty, or what is wrong.
  std::string check(Communicator& c) const {
    const int me = c.rank();
    Bytes in = input(me), out = result(me);
    Operation now = op;
    const bool one_array =
        op.kind == Kind::broadcast || (is_in_place && op.kind != Kind::all_gather);
    Bytes memory(std::max(in.size(), out.size()) + 1);
    std::copy(in.begin(), in.end(), memory.begin());
    Bytes other(out.size() + 1);
    now.in = memory.data();
    now.out = one_array ? memory.data() : other.data();
    if (op.kind == Kind::all_gather && is_in_place) {
      now.out = memory.data();
      now.in = memory.data() + in.size() * static_cast<size_t>(me);
      std::copy(in.begin(), in.end(), memory.begin() + static_cast<int64_t>(in.size()) * me);
    }
    c.run(now);
    if (op.kind == Kind::barrier) return "";
    if (out.empty() || std::memcmp(now.out, out.data(), out.size()) == 0) return "";
    size_t at = 0;
    while (static_cast<const char*>(now.out)[at] == out[at]) ++at;
    return text_of(signature_of(op), is_in_place ? " in place" : "", ": byte ", at, " of ",
                   out.size(), " differs on rank ", me, " of ", ranks_);
  }

  Operation op;
  bool is_in_place;

 private:
  size_t n() const { return static_cast<size_t>(ranks_); }
  size_t part() const { return op.count * size_of(op.dtype); }

  Bytes input(int rank) const {
    const bool is_wide = op.kind == Kind::reduce_scatter || op.kind == Kind::all_to_all;
    const size_t count = op.kind == Kind::barrier ? 0 : op.count * (is_wide ? n() : 1);
    std::mt19937_64 random(seed_ * 1000 + static_cast<uint64_t>(rank) + 1);
    std::normal_distribution<float> normal;
    Bytes out(count * size_of(op.dtype));
    with_dtype(op.dtype, [&]<class T>(T) {
      for (size_t i = 0; i < count; ++i) {
        T v;
        if constexpr (std::is_same_v<T, bool>)
          v = random() % 2 == 0;
        else if constexpr (std::is_integral_v<T>)
          v = static_cast<T>(random());
        else
          v = narrow<T>(static_cast<Wide<T>>(normal(random)));
        std::memcpy(out.data() + i * sizeof v, &v, sizeof v);
      }
    });
    return out;
  }

  /// The sum of everybody's bytes from `at` on.
  Bytes summed(size_t at) const {
    Bytes out(part());
    std::vector<Bytes> all;
    for (int r = 0; r < ranks_; ++r) all.push_back(input(r));
    with_dtype(op.dtype, [&]<class T>(T) {
      using W = Wide<T>;
      const auto add = [&](W a, W b) -> W {
        if constexpr (std::is_same_v<T, bool>) {
          const bool any = op.reduction == Reduction::sum || op.reduction == Reduction::max;
          return any ? a || b : a && b;
        } else {
          if (op.reduction == Reduction::min) return b < a ? b : a;
          if (op.reduction == Reduction::max) return b > a ? b : a;
          if constexpr (std::is_integral_v<T>) {
            const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
            return static_cast<W>(op.reduction == Reduction::sum ? x + y : x * y);
          } else {
            return op.reduction == Reduction::sum ? a + b : a * b;
          }
        }
      };
      for (size_t i = 0; i < op.count; ++i) {
        std::vector<W> values;
        for (const Bytes& one : all) {
          T v;
          std::memcpy(&v, one.data() + at + i * sizeof v, sizeof v);
          values.push_back(widen(v));
        }
        const T sum = narrow<T>(carry_sum(values, add));
        std::memcpy(out.data() + i * sizeof sum, &sum, sizeof sum);
      }
    });
    return out;
  }

  Bytes result(int rank) const {
    const size_t own = static_cast<size_t>(rank) * part();
    Bytes out;
    switch (op.kind) {
      case Kind::barrier: return out;
      case Kind::broadcast: return input(op.root);
      case Kind::all_reduce: return summed(0);
      case Kind::reduce_scatter: return summed(own);
      case Kind::all_gather:
      case Kind::all_to_all: break;
    }
    for (int r = 0; r < ranks_; ++r) {
      const Bytes theirs = input(r);
      const auto begin =
          theirs.begin() + static_cast<ptrdiff_t>(op.kind == Kind::all_gather ? 0 : own);
      out.insert(out.end(), begin, begin + static_cast<ptrdiff_t>(part()));
    }
    return out;
  }

  uint64_t seed_;
  int ranks_;
};

}  // namespace horngate::comm
