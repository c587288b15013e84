// Kernels of random geometry against slow, obvious loops.
#include <hwy/highway.h>

#include <algorithm>
#include <numeric>

#include "engines/native/threads.h"
#include "fused_test_util.h"
#include "kernel_runner.h"
#include "windows.h"

namespace horngate::native {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

/// What a test draws; the same in every run.
class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  int64_t operator()(int64_t from, int64_t to) {
    return std::uniform_int_distribution<int64_t>(from, to)(random_);
  }
  bool one_in(int64_t n) { return (*this)(1, n) == 1; }
  template <class T>
  T of(const std::vector<T>& all) {
    return all[static_cast<size_t>((*this)(0, static_cast<int64_t>(all.size()) - 1))];
  }
  /// Sizes beside those of vectors and blocks; product at most `most`.
  Ints dims(size_t rank, int64_t most) {
    static const std::vector<int64_t> sizes = {1,  2,  3,  4,  5,  7,  8,   9,   15,  16,  17,
                                               31, 32, 33, 63, 64, 65, 127, 128, 129, 257, 390};
    Ints r;
    for (size_t i = 0; i < rank; ++i) r.push_back(one_in(30) ? 0 : of(sizes));
    const auto size = [&] {  // empty axes do not hide long ones
      int64_t n = 1;
      for (int64_t d : r) n *= std::max<int64_t>(d, 1);
      return n;
    };
    while (size() > most) {
      int64_t& d = r[static_cast<size_t>((*this)(0, static_cast<int64_t>(rank) - 1))];
      d = std::min(d, (*this)(1, 5));
    }
    return r;
  }
  Ints order(size_t n) {
    Ints r(n, 0);
    std::iota(r.begin(), r.end(), 0);
    std::shuffle(r.begin(), r.end(), random_);
    return r;
  }
  unsigned seed() { return static_cast<unsigned>(random_()); }

 private:
  std::mt19937 random_;
};

const std::vector<DType> kNumbers = {
    DType::float32, DType::float64, DType::float16, DType::bfloat16, DType::int8,   DType::int16,
    DType::int32,   DType::int64,   DType::uint8,   DType::uint16,   DType::uint32, DType::uint64};
const std::vector<DType> kFloats = {DType::float32, DType::float32, DType::float64, DType::float16,
                                    DType::bfloat16};

/// Numbers of which neighbours differ, exact in every dtype.
Value counted(DType dtype, const Ints& dims) {
  Value v{TensorType(dtype, Shape(dims)), Numbers(static_cast<size_t>(count_of(dims)))};
  const int64_t most = dtype == DType::bool_      ? 2
                       : size_of(dtype) == 1      ? 127
                       : dtype == DType::bfloat16 ? 251
                       : size_of(dtype) == 2      ? 2039
                                                  : 1 << 24;
  for (size_t i = 0; i < v.data.size(); ++i)
    v.data[i] =
        static_cast<double>((static_cast<int64_t>(i) * 37 + static_cast<int64_t>(i) / 127) % most);
  return v;
}

/// Few different numbers, so that there are ties; floats also infinite or NaN.
Value tied(Draw& draw, DType dtype, const Ints& dims, bool special) {
  Value v{TensorType(dtype, Shape(dims)), Numbers(static_cast<size_t>(count_of(dims)))};
  const int64_t most = draw(1, 20), nans = draw(3, 60);
  for (double& d : v.data) {
    d = static_cast<double>(draw(0, most));
    if (is_float(dtype) && draw.one_in(2)) d = -d;  // zeros of both signs
    if (is_float(dtype) && special && draw.one_in(nans)) d = draw.of<double>({kNaN, kInf, -kInf});
  }
  return v;
}

/// Runs a kernel between guards three times: into memory with other contents, which must not matter; in place and
/// with operands packed before, where it can. Operands stay as they are.
template <class A>
std::vector<Numbers> run_guarded(const A& attributes, const std::vector<Value>& in,
                                 const std::string& what) {
  const AttrRef attrs(new AttrsOf<A>(attributes));
  std::vector<TensorType> types;
  for (const Value& v : in) types.push_back(v.type);
  const Types inferred = primitive(A::kPrim).infer(InferCall{types, {}}, attrs.get());
  const std::vector<TensorType> out(inferred.begin(), inferred.end());
  const auto bytes_of = [](const TensorType& t) {
    return static_cast<size_t>(t.shape.size()) * size_of(t.dtype);
  };
  std::vector<Numbers> results;
  std::vector<std::vector<unsigned char>> first;
  for (int pass = 0; pass < 3; ++pass) {
    const KernelPtr kernel = find_kernel(A::kPrim)({types, out, attrs.get(), {}});
    const Buffer scratch(kernel->scratch_bytes());
    if (pass) std::memset(scratch.data(), 0xFF, kernel->scratch_bytes());  // NaN
    RunContext context{.scratch = scratch.data()};
    std::vector<Buffer> buffers, extra;
    std::vector<const void*> from;
    std::vector<void*> to;
    std::vector<std::vector<unsigned char>> before;
    for (const Value& v : in) {
      buffers.emplace_back(bytes_of(v.type));
      store(v.data, v.type.dtype, buffers.back().data());
      from.push_back(buffers.back().data());
      const auto* p = static_cast<const unsigned char*>(from.back());
      before.emplace_back(p, p + bytes_of(v.type));
    }
    std::vector<bool> shared(in.size());
    for (size_t o = 0; o < out.size(); ++o) {
      size_t alias = in.size();
      for (size_t i = 0; pass == 1 && i < in.size(); ++i)
        if (!shared[i] && bytes_of(in[i].type) == bytes_of(out[o]) && kernel->can_alias(i, o))
          alias = i;
      buffers.emplace_back(bytes_of(out[o]));
      if (pass) std::memset(buffers.back().data(), 0xFF, bytes_of(out[o]));
      to.push_back(buffers.back().data());
      if (alias < in.size()) shared[alias] = true, to.back() = const_cast<void*>(from[alias]);
    }
    bool other = pass < 2;
    if (pass == 2) {
      const std::vector<const void*> plain = from;
      for (size_t i = 0; i < in.size(); ++i)
        if (const size_t n = kernel->packed_bytes(i)) {
          extra.emplace_back(n);
          kernel->pack(i, plain[i], extra.back().data(), scratch.data());
          kernel->use_packed(i);
          from[i] = extra.back().data();
          other = true;
        }
      if (const size_t n = kernel->derived_bytes()) {
        std::vector<const void*> parts;
        for (size_t i : kernel->derived_from()) parts.push_back(from[i]);
        extra.emplace_back(n);
        kernel->derive(parts.data(), extra.back().data(), context);
        kernel->use_derived();
        from.push_back(extra.back().data());
        other = true;
      }
    }
    if (!other) break;
    kernel->run(from.data(), to.data(), context);
    scratch.check_guards();
    for (const Buffer& b : buffers) b.check_guards();
    for (const Buffer& b : extra) b.check_guards();
    for (size_t i = 0; i < in.size(); ++i)
      if (!shared[i] && !before[i].empty()) {
        EXPECT_EQ(std::memcmp(buffers[i].data(), before[i].data(), before[i].size()), 0)
            << "operand " << i << " written: " << what;
      }
    for (size_t o = 0; o < out.size(); ++o) {
      const auto* p = static_cast<const unsigned char*>(to[o]);
      if (pass == 0) {
        first.emplace_back(p, p + bytes_of(out[o]));
        results.push_back(load(p, out[o].dtype, out[o].shape.size()));
      } else if (pass == 1 && !first[o].empty()) {
        EXPECT_EQ(std::memcmp(p, first[o].data(), first[o].size()), 0)
            << "result " << o << " depends on what was in memory, or on sharing it: " << what;
      } else if (pass == 2) {  // sums may have another order
        expect_close(load(p, out[o].dtype, out[o].shape.size()), results[o], out[o].dtype,
                     "packed " + what);
      }
    }
  }
  if (::testing::Test::HasFailure()) ADD_FAILURE() << what;
  return results;
}

/// The same numbers, NaN included.
void expect_same(const Numbers& got, const Numbers& want, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < got.size(); ++i)
    if (!(got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i]))))
      FAIL() << what << ": at " << i << " " << got[i] << " instead of " << want[i];
}

/// What is left of a sum in an integer type.
double wrapped(DType dtype, int64_t v) {
  return with_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>)
      return static_cast<double>(static_cast<T>(v));
    else
      return static_cast<double>(v);
  });
}

/// Now and then on another number of threads, or with other instructions.
class RandomKernels : public ::testing::Test {
 protected:
  ~RandomKernels() override {
    set_thread_count(0);
    use(hwy::SupportedTargets());
  }
  static void vary_threads(int i) {
    if (i % 25 == 0) set_thread_count(1 + i / 25 % 4);
  }
  /// Not for products: the width of their panels is settled once per process.
  static void vary(int i) {
    vary_threads(i);
    const int64_t targets[] = {hwy::SupportedTargets(), HWY_AVX2, HWY_SSE4, HWY_SCALAR};
    const int64_t target = targets[(i / 25 + i / 100) % 4] & hwy::SupportedTargets();
    if (i % 25 == 0) use(target ? target : hwy::SupportedTargets());
  }

 private:
  static void use(int64_t target) { hwy::GetChosenTarget().Update(target); }
};

// Convolutions and pools
// ---------------------------------------------------------------------------------------

void check_conv(const Windows& k, DType dtype, unsigned seed) {
  const Value x = random_value(dtype, k.data_dims(k.c, k.in), seed);
  const Value w = random_value(dtype, k.kernel_dims(), seed + 1);
  const Value dy = random_value(dtype, k.data_dims(k.o, k.out()), seed + 2);
  Numbers y(dy.data.size()), dx(x.data.size()), dw(w.data.size());
  k.for_products([&](size_t i, size_t j, size_t r) {
    y[r] += x.data[i] * w.data[j];
    dx[i] += dy.data[r] * w.data[j];
    dw[j] += x.data[i] * dy.data[r];
  });
  const std::string what = text_of(" ", dtype, " ", k.text());
  expect_close(run_guarded(conv_attrs<attrs::conv>(k), {x, w}, "conv" + what)[0], y, dtype,
               "conv" + what);
  auto input = conv_attrs<attrs::conv_input_grad>(k);
  input.shape = x.type.shape.dims();
  expect_close(run_guarded(input, {dy, w}, "conv_input_grad" + what)[0], dx, dtype,
               "conv_input_grad" + what);
  auto filter = conv_attrs<attrs::conv_filter_grad>(k);
  filter.shape = w.type.shape.dims();
  expect_close(run_guarded(filter, {x, dy}, "conv_filter_grad" + what)[0], dw, dtype,
               "conv_filter_grad" + what);
}

/// Windows longer than the image, padding beyond them, strides beyond both.
Windows random_windows(Draw& draw, int64_t size, int64_t taps, bool dilated) {
  const bool large = draw.one_in(6);
  Windows k{draw(1, 3), 1, 1, {}, {}, {}, {}, {}, {}, 1, draw.one_in(2)};
  for (int64_t axis = draw(1, large ? 2 : 3); axis > 0; --axis) {
    k.in.push_back(draw(1, large ? 4 * size : size));
    k.taps.push_back(draw(1, taps));
    k.strides.push_back(draw(1, 3));
    k.dilation.push_back(dilated && draw.one_in(5) ? draw(2, 3) : 1);
    k.low.push_back(draw.one_in(2) ? 0 : draw(0, k.taps.back()));
    k.high.push_back(draw.one_in(2) ? 0 : draw(0, k.taps.back()));
    const int64_t window = k.dilation.back() * (k.taps.back() - 1) + 1;
    k.high.back() = std::max(k.high.back(), window - k.in.back() - k.low.back());
  }
  return k;
}

DType conv_dtype(Draw& draw) {
  return draw.of<DType>({DType::float32, DType::float32, DType::float32, DType::float32,
                         DType::float64, DType::float16, DType::bfloat16});
}

TEST_F(RandomKernels, GroupedConvolutions) {
  Draw draw(1);
  for (int i = 0; i < 150; ++i) {
    vary_threads(i);
    Windows k = random_windows(draw, 8, 5, true);
    k.groups = draw(2, 9);
    k.c = k.groups * draw(1, 9);
    k.o = k.groups * draw(1, 9);
    if (k.products() > draw.of<int64_t>({100000, 200000, 800000})) continue;
    check_conv(k, conv_dtype(draw), draw.seed());
    if (HasFailure()) return;
  }
}

TEST_F(RandomKernels, DepthwiseConvolutions) {
  Draw draw(2);
  for (int i = 0; i < 200; ++i) {
    vary_threads(i);
    Windows k = random_windows(draw, 9, 6, true);
    k.groups = k.c = draw.one_in(3) ? draw(1, 140) : draw(1, 36);
    k.o = k.c * draw.of<int64_t>({1, 1, 2, 3, 5, 8});
    if (k.products() > draw.of<int64_t>({100000, 200000, 800000})) continue;
    check_conv(k, conv_dtype(draw), draw.seed());
    if (HasFailure()) return;
  }
}

TEST_F(RandomKernels, Convolutions) {
  Draw draw(19);
  for (int i = 0; i < 150; ++i) {
    vary_threads(i);
    Windows k = random_windows(draw, 7, 8, true);
    k.c = draw(1, 17);
    k.o = draw(1, 17);
    if (k.products() > draw.of<int64_t>({100000, 200000, 800000})) continue;
    check_conv(k, conv_dtype(draw), draw.seed());
    if (HasFailure()) return;
  }
}

TEST_F(RandomKernels, WideConvolutions) {
  Draw draw(3);
  for (int i = 0; i < 100; ++i) {
    vary_threads(i);
    Windows k = random_windows(draw, 12, 4, true);
    k.c = draw.of<int64_t>({1, 3, 8, 15, 16, 17, 31, 32, 33, 48, 64});
    k.o = draw.of<int64_t>({1, 3, 8, 15, 16, 17, 31, 32, 33, 48, 64});
    if (k.products() > 600000) continue;
    check_conv(k, conv_dtype(draw), draw.seed());
    if (HasFailure()) return;
  }
}

TEST_F(RandomKernels, Pools) {
  Draw draw(4);
  for (int i = 0; i < 300; ++i) {
    vary(i);
    Windows k = random_windows(draw, 9, 6, false);
    k.groups = k.c = k.o = draw.one_in(3) ? draw(1, 140) : draw(1, 20);
    if (draw.one_in(20)) k.in[0] = 0;
    for (size_t axis = 0; axis < k.in.size(); ++axis) {
      // Windows of padding alone are refused.
      k.low[axis] = std::min(k.low[axis], k.taps[axis] - 1);
      k.high[axis] = std::min(k.high[axis], k.taps[axis] - 1);
      k.strides[axis] = draw(1, 8);
      if (draw.one_in(4)) k.strides[axis] = k.taps[axis];
      k.in[axis] = std::max(k.in[axis], k.in[axis] ? k.taps[axis] - k.low[axis] - k.high[axis] : 0);
      if (draw.one_in(4) && k.in[axis])
        k.in[axis] = k.taps[axis] * draw(1, 2), k.low[axis] = k.high[axis] = 0;
    }
    if (k.products() > 200000) continue;
    const bool average = draw.one_in(2);
    const DType dtype = draw.of(average ? kFloats : kNumbers);
    const Value x = average ? random_value(dtype, k.data_dims(k.c, k.in), draw.seed())
                            : tied(draw, dtype, k.data_dims(k.c, k.in), draw.one_in(2));
    const Value dy = random_value(dtype, k.data_dims(k.c, k.out()), draw.seed());
    std::vector<std::vector<size_t>> windows(dy.data.size());
    k.for_products([&](size_t from, size_t, size_t to) { windows[to].push_back(from); });
    Numbers y(dy.data.size()), dx(x.data.size());
    for (size_t r = 0; r < windows.size(); ++r) {
      const double n = static_cast<double>(windows[r].size());
      double best = -kInf;
      for (size_t from : windows[r]) {
        y[r] += x.data[from] / n;
        best = std::isnan(x.data[from]) || x.data[from] > best ? x.data[from] : best;
        if (std::isnan(best)) break;
      }
      if (!average) y[r] = best;
      for (size_t from : windows[r]) {
        if (!average && x.data[from] != best) continue;
        dx[from] += average ? dy.data[r] / n : dy.data[r];
        if (!average) break;
      }
    }
    const std::string what = text_of(average ? " avg " : " max ", dtype, " ", k.text());
    const auto geometry = [&](auto a) {
      a.mode = average ? "avg" : "max";
      a.window = k.taps;
      a.strides = k.strides;
      a.pad_low = k.low;
      a.pad_high = k.high;
      a.channels_first = k.channels_first;
      return a;
    };
    const Numbers got = run_guarded(geometry(attrs::pool()), {x}, "pool" + what)[0];
    if (average)
      expect_close(got, y, dtype, "pool" + what);
    else
      expect_same(got, y, "pool" + what);
    if (HasFailure()) return;
    if (!is_float(dtype)) continue;
    const Value best{dy.type, got};
    expect_close(run_guarded(geometry(attrs::pool_grad()), {x, best, dy}, "pool_grad" + what)[0],
                 dx, dtype, "pool_grad" + what);
    if (HasFailure()) return;
  }
}

// Batch normalisation
// --------------------------------------------------------------------------------

TEST_F(RandomKernels, BatchNorms) {
  Draw draw(5);
  for (int i = 0; i < 300; ++i) {
    vary(i);
    const Ints dims = draw.dims(at(draw(1, 5)), draw.one_in(10) ? 100000 : 3000);
    Ints axes, kept;
    for (int64_t axis = 0; axis < static_cast<int64_t>(dims.size()); ++axis)
      if (draw.one_in(2))
        axes.push_back(axis);
      else
        kept.push_back(dims[at(axis)]);
    const DType dtype = draw.of(kFloats);
    const bool half = dtype == DType::float16 || dtype == DType::bfloat16;
    Value x = random_value(dtype, dims, draw.seed());
    if (!half)
      for (double& v : x.data) v = std::round((v + 10) * 64) / 64;  // a mean far from zero
    const Value gamma = random_value(dtype, kept, draw.seed()),
                beta = random_value(dtype, kept, draw.seed()),
                dy = random_value(dtype, dims, draw.seed());
    std::vector<std::vector<size_t>> members(gamma.data.size());
    for_indices(dims, [&](const Ints& p) {
      int64_t c = 0;
      for (size_t axis = 0; axis < p.size(); ++axis)
        if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(axis)) == axes.end())
          c = c * dims[axis] + p[axis];
      members[at(c)].push_back(at(flat(p, dims)));
    });
    const std::string what = text_of(" ", dtype, " ", dims, " over ", axes);
    const double epsilon = draw.of<double>({1e-3, 1e-5, 1});
    const auto got =
        run_guarded(attrs::batch_norm{axes, epsilon}, {x, gamma, beta}, "batch_norm" + what);
    const size_t channels = members.size();
    Numbers mean(channels), var(channels), y(x.data.size()), dx(x.data.size()), dgamma(channels),
        dbeta(channels);
    for (size_t c = 0; c < channels; ++c) {
      const double n = static_cast<double>(members[c].size());
      for (size_t j : members[c]) mean[c] += x.data[j] / n;
      for (size_t j : members[c]) var[c] += (x.data[j] - mean[c]) * (x.data[j] - mean[c]) / n;
      const double root = 1 / std::sqrt(var[c] + epsilon);
      for (size_t j : members[c])
        y[j] = (x.data[j] - mean[c]) * root * gamma.data[c] + beta.data[c];
    }
    const DType loose = dtype == DType::float32   ? DType::float16
                        : dtype == DType::float64 ? DType::float32
                                                  : dtype;
    if (count_of(dims)) {
      for (size_t c = 0; c < channels; ++c)
        EXPECT_NEAR(got[1][c], mean[c], (half ? 4e-3 : 1e-6) * (std::abs(mean[c]) + 1e-2))
            << "mean" << what;
      // One element varies by no more than the rounding of the mean.
      for (size_t c = 0; c < channels; ++c)
        EXPECT_NEAR(got[2][c], var[c], (half ? 1e-2 : 1e-5) * (var[c] + 1e-2)) << "var" << what;
      expect_close(got[0], y, loose, "y" + what);
    }
    if (HasFailure()) return;
    // The gradients of what the kernel gets, rounded as it is.
    Value m{gamma.type, count_of(dims) ? got[1] : Numbers(channels)},
        v{gamma.type, count_of(dims) ? got[2] : Numbers(channels)};
    for (size_t c = 0; c < channels; ++c) {
      const double n = static_cast<double>(members[c].size());
      const double root = 1 / std::sqrt(v.data[c] + epsilon);
      for (size_t j : members[c]) {
        dbeta[c] += dy.data[j];
        dgamma[c] += dy.data[j] * (x.data[j] - m.data[c]) * root;
      }
      for (size_t j : members[c])
        dx[j] = gamma.data[c] * root *
                (dy.data[j] - dbeta[c] / n - (x.data[j] - m.data[c]) * root * dgamma[c] / n);
    }
    const auto grads = run_guarded(attrs::batch_norm_grad{axes, epsilon}, {x, gamma, m, v, dy},
                                   "batch_norm_grad" + what);
    // Of one element dx is a difference of equal numbers.
    double scale = 0;
    for (size_t c = 0; c < channels; ++c)
      scale = std::max(scale, std::abs(gamma.data[c]) / std::sqrt(v.data[c] + epsilon));
    for (size_t j = 0; j < dx.size(); ++j)
      EXPECT_NEAR(grads[0][j], dx[j], (half ? 3e-2 : 1e-4) * scale) << "dx" << what;
    expect_close(grads[1], dgamma, half ? DType::bfloat16 : loose, "dgamma" + what);
    expect_close(grads[2], dbeta, loose, "dbeta" + what);
    if (HasFailure()) return;
  }
}

// Products
// --------------------------------------------------------------------------------

/// Offsets of all combinations of some axes, last fastest.
std::vector<size_t> offsets(const Ints& dims, const Ints& axes) {
  Ints strides(dims.size(), 1), sizes;
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  for (int64_t axis : axes) sizes.push_back(dims[at(axis)]);
  std::vector<size_t> r;
  for_indices(sizes, [&](const Ints& p) {
    int64_t offset = 0;
    for (size_t i = 0; i < p.size(); ++i) offset += p[i] * strides[at(axes[i])];
    r.push_back(at(offset));
  });
  return r;
}

TEST_F(RandomKernels, Products) {
  Draw draw(6);
  for (int i = 0; i < 400; ++i) {
    vary_threads(i);
    // Mostly matrices and batches of them, with all orders of axes.
    const auto few = [&](int64_t often) { return at(draw.one_in(4) ? draw(0, 2) : often); };
    const size_t batch = few(draw(0, 1)), rows = few(1), columns = few(1), inner = few(1);
    const Ints sizes = draw.dims(batch + rows + columns + inner, draw.one_in(8) ? 3000000 : 100000);
    const size_t rank_a = batch + rows + inner, rank_b = batch + columns + inner;
    const Ints order_a = draw.order(rank_a), order_b = draw.order(rank_b);
    attrs::dot_general a;
    Ints dims_a(rank_a, 0), dims_b(rank_b, 0), free_a, free_b;
    size_t next = 0, next_a = 0, next_b = 0;
    for (size_t j = 0; j < batch; ++j) {
      a.batch_a.push_back(order_a[next_a++]);
      a.batch_b.push_back(order_b[next_b++]);
      dims_a[at(a.batch_a.back())] = dims_b[at(a.batch_b.back())] = sizes[next++];
    }
    for (size_t j = 0; j < inner; ++j) {
      a.contract_a.push_back(order_a[next_a++]);
      a.contract_b.push_back(order_b[next_b++]);
      dims_a[at(a.contract_a.back())] = dims_b[at(a.contract_b.back())] = sizes[next++];
    }
    while (next_a < rank_a)
      free_a.push_back(order_a[next_a++]), dims_a[at(free_a.back())] = sizes[next++];
    while (next_b < rank_b)
      free_b.push_back(order_b[next_b++]), dims_b[at(free_b.back())] = sizes[next++];
    std::sort(free_a.begin(), free_a.end());
    std::sort(free_b.begin(), free_b.end());
    const DType dtype = draw.one_in(2) ? DType::float32 : draw.of(kNumbers);
    const Value x = random_value(dtype, dims_a, draw.seed()),
                y = random_value(dtype, dims_b, draw.seed());
    const auto x_batch = offsets(dims_a, a.batch_a), y_batch = offsets(dims_b, a.batch_b),
               x_inner = offsets(dims_a, a.contract_a), y_inner = offsets(dims_b, a.contract_b),
               x_free = offsets(dims_a, free_a), y_free = offsets(dims_b, free_b);
    Numbers want;
    for (size_t b = 0; b < x_batch.size(); ++b)
      for (size_t r : x_free)
        for (size_t c : y_free) {
          double sum = 0;
          for (size_t k = 0; k < x_inner.size(); ++k)
            sum += x.data[x_batch[b] + r + x_inner[k]] * y.data[y_batch[b] + c + y_inner[k]];
          want.push_back(is_float(dtype) ? sum : wrapped(dtype, static_cast<int64_t>(sum)));
        }
    const std::string what =
        text_of("dot_general ", dtype, " ", dims_a, " ", dims_b, " batch ", a.batch_a, a.batch_b,
                " contract ", a.contract_a, a.contract_b);
    expect_close(run_guarded(a, {x, y}, what)[0], want, dtype, what);
    if (HasFailure()) return;
  }
}

// Data that moves
// --------------------------------------------------------------------------------

/// Every element of the result is the one of x at from(its index).
template <class A>
void check_moved(const A& a, const Value& x, const Ints& y,
                 const std::function<Ints(const Ints&)>& from, const std::string& what) {
  Numbers want;
  for_indices(
      y, [&](const Ints& p) { want.push_back(x.data[at(flat(from(p), x.type.shape.dims()))]); });
  expect_same(run_guarded(a, {x}, what)[0], want, what);
}

DType any_dtype(Draw& draw) { return draw.one_in(10) ? DType::bool_ : draw.of(kNumbers); }

TEST_F(RandomKernels, Transposes) {
  Draw draw(7);
  for (int i = 0; i < 300; ++i) {
    vary(i);
    const Value x =
        counted(any_dtype(draw), draw.dims(at(draw(1, 6)), draw.one_in(10) ? 100000 : 5000));
    const Ints dims = x.type.shape.dims(), perm = draw.order(dims.size());
    Ints y;
    for (int64_t axis : perm) y.push_back(dims[at(axis)]);
    check_moved(
        attrs::transpose{perm}, x, y,
        [&](const Ints& p) {
          Ints from = p;
          for (size_t j = 0; j < p.size(); ++j) from[at(perm[j])] = p[j];
          return from;
        },
        text_of("transpose ", x.type.dtype, " ", dims, " by ", perm));
    if (HasFailure()) return;
  }
}

TEST_F(RandomKernels, Slices) {
  Draw draw(8);
  for (int i = 0; i < 400; ++i) {
    vary(i);
    const Value x =
        counted(any_dtype(draw), draw.dims(at(draw(1, 5)), draw.one_in(10) ? 100000 : 5000));
    const Ints dims = x.type.shape.dims();
    attrs::slice a;
    std::vector<Ints> taken;
    Ints y;
    for (int64_t n : dims) {
      const bool whole = draw.one_in(3);
      const int64_t step = whole            ? (draw.one_in(2) ? 1 : -1)
                           : draw.one_in(2) ? draw(1, 4)
                                            : -draw(1, 4);
      const int64_t start = whole ? (step > 0 ? 0 : kToEnd) : draw(-n - 2, n + 2);
      const int64_t stop = whole || draw.one_in(3) ? kToEnd : draw(-n - 2, n + 2);
      a.starts.push_back(start);
      a.stops.push_back(stop);
      a.steps.push_back(step);
      // Walks from one end; negative numbers count from the end.
      int64_t at_first = start < 0 ? start + n : start, end = stop < 0 ? stop + n : stop;
      if (stop == kToEnd) end = step > 0 ? n : -1;
      at_first = step > 0 ? std::max<int64_t>(at_first, 0) : std::min(at_first, n - 1);
      taken.emplace_back();
      for (int64_t p = at_first; step > 0 ? p < end && p < n : p > end && p >= 0; p += step)
        taken.back().push_back(p);
      y.push_back(static_cast<int64_t>(taken.back().size()));
    }
    check_moved(
        a, x, y,
        [&](const Ints& p) {
          Ints from = p;
          for (size_t j = 0; j < p.size(); ++j) from[j] = taken[j][at(p[j])];
          return from;
        },
        text_of("slice ", x.type.dtype, " ", dims, " ", a.starts, " ", a.stops, " ", a.steps));
    if (HasFailure()) return;
  }
}

TEST_F(RandomKernels, Reverses) {
  Draw draw(9);
  for (int i = 0; i < 300; ++i) {
    vary(i);
    const Value x =
        counted(any_dtype(draw), draw.dims(at(draw(1, 5)), draw.one_in(10) ? 100000 : 5000));
    const Ints dims = x.type.shape.dims();
    const auto rank = static_cast<int64_t>(dims.size());
    Ints axes = draw.order(dims.size());
    axes.resize(at(draw(0, rank)));
    attrs::reverse a{axes};
    for (int64_t& axis : a.axes) axis -= draw.one_in(3) ? rank : 0;
    check_moved(
        a, x, dims,
        [&](const Ints& p) {
          Ints from = p;
          for (int64_t axis : axes) from[at(axis)] = dims[at(axis)] - 1 - p[at(axis)];
          return from;
        },
        text_of("reverse ", x.type.dtype, " ", dims, " ", a.axes));
    if (HasFailure()) return;
  }
}

TEST_F(RandomKernels, Pads) {
  Draw draw(10);
  for (int i = 0; i < 300; ++i) {
    vary(i);
    const Value x =
        counted(any_dtype(draw), draw.dims(at(draw(1, 5)), draw.one_in(10) ? 20000 : 1000));
    const Ints dims = x.type.shape.dims();
    attrs::pad a;
    a.value = static_cast<double>(draw(0, 1));
    Ints y = dims;
    for (int64_t& n : y) {
      a.low.push_back(draw.one_in(2) ? 0 : draw(0, 3));
      a.high.push_back(draw.one_in(2) ? 0 : draw(0, 3));
      n += a.low.back() + a.high.back();
    }
    Numbers want(at(count_of(y)), a.value);
    for_indices(dims, [&](const Ints& p) {
      Ints to = p;
      for (size_t j = 0; j < p.size(); ++j) to[j] += a.low[j];
      want[at(flat(to, y))] = x.data[at(flat(p, dims))];
    });
    const std::string what = text_of("pad ", x.type.dtype, " ", dims, " ", a.low, " ", a.high);
    expect_same(run_guarded(a, {x}, what)[0], want, what);
    if (HasFailure()) return;
  }
}

TEST_F(RandomKernels, Concats) {
  Draw draw(11);
  for (int i = 0; i < 300; ++i) {
    vary(i);
    Ints y = draw.dims(at(draw(1, 5)), draw.one_in(10) ? 20000 : 1000);
    const auto rank = static_cast<int64_t>(y.size());
    const int64_t axis = draw(0, rank - 1);
    const DType dtype = any_dtype(draw);
    std::vector<Value> parts;
    std::vector<Ints> dims;
    y[at(axis)] = 0;
    for (int64_t n = draw(1, 6); n > 0; --n) {
      dims.push_back(y);
      dims.back()[at(axis)] = draw.one_in(4) ? 0 : draw(0, 20);
      parts.push_back(counted(dtype, dims.back()));
      if (dtype != DType::bool_)
        for (double& v : parts.back().data) v = std::max(0., v - static_cast<double>(n));
    }
    for (const Ints& d : dims) y[at(axis)] += d[at(axis)];
    Numbers want(at(count_of(y)), kNaN);
    int64_t before = 0;
    for (size_t j = 0; j < parts.size(); ++j) {
      for_indices(dims[j], [&](const Ints& p) {
        Ints to = p;
        to[at(axis)] += before;
        want[at(flat(to, y))] = parts[j].data[at(flat(p, dims[j]))];
      });
      before += dims[j][at(axis)];
    }
    std::string what = text_of("concat ", dtype, " axis ", axis);
    for (const Ints& d : dims) what += text_of(" ", d);
    expect_same(run_guarded(attrs::concat{draw.one_in(3) ? axis - rank : axis}, parts, what)[0],
                want, what);
    if (HasFailure()) return;
  }
}

TEST_F(RandomKernels, GathersAndScatters) {
  Draw draw(12);
  for (int i = 0; i < 400; ++i) {
    vary(i);
    const DType dtype = draw.of(kNumbers);
    const Ints dims = draw.dims(at(draw(1, 4)), draw.one_in(10) ? 20000 : 1000);
    const auto rank = static_cast<int64_t>(dims.size());
    const int64_t axis = draw(0, rank - 1), n = dims[at(axis)];
    Ints picks;
    for (int64_t j = draw(0, 2); j > 0; --j)
      picks.push_back(n == 0 ? 0 : draw.one_in(20) ? 0 : draw(1, 12));
    if (n == 0 && picks.empty()) picks.push_back(0);  // nothing can be picked
    Value index{TensorType(draw.of<DType>({DType::int32, DType::int64}), Shape(picks)), {}};
    for (int64_t j = count_of(picks); j > 0; --j)
      index.data.push_back(static_cast<double>(draw(0, n - 1)));
    Ints y(dims.begin(), dims.begin() + axis);
    for (int64_t d : picks) y.push_back(d);
    for (int64_t j = axis + 1; j < rank; ++j) y.push_back(dims[at(j)]);
    const auto place = [&](const Ints& p) {
      Ints from(p.begin(), p.begin() + axis),
          pick(p.begin() + axis, p.begin() + axis + static_cast<int64_t>(picks.size()));
      from.push_back(static_cast<int64_t>(index.data[at(flat(pick, picks))]));
      for (size_t j = at(axis) + picks.size(); j < p.size(); ++j) from.push_back(p[j]);
      return at(flat(from, dims));
    };
    const Value x = counted(dtype, dims);
    // Small numbers whose sums are exact.
    Value updates = counted(dtype, y);
    for (double& v : updates.data) v = std::fmod(v, 7);
    Numbers want, sums(x.data.size());
    for_indices(y, [&](const Ints& p) {
      want.push_back(x.data[place(p)]);
      sums[place(p)] += updates.data[at(flat(p, y))];
    });
    for (double& s : sums)
      if (!is_float(dtype)) s = wrapped(dtype, static_cast<int64_t>(s));
    const std::string what = text_of(" ", dtype, " ", dims, " axis ", axis, " at ", picks);
    expect_same(run_guarded(attrs::gather{draw.one_in(3) ? axis - rank : axis}, {x, index},
                            "gather" + what)[0],
                want, "gather" + what);
    const Numbers got =
        run_guarded(attrs::scatter_add{axis, dims}, {index, updates}, "scatter_add" + what)[0];
    if (dtype == DType::bfloat16)
      expect_close(got, sums, dtype, "scatter_add" + what);
    else
      expect_same(got, sums, "scatter_add" + what);
    if (HasFailure()) return;
  }
}

// Along an axis
// --------------------------------------------------------------------------------

/// The lines of x along an axis: positions of their elements.
std::vector<std::vector<size_t>> lines_of(const Ints& dims, int64_t axis) {
  Ints rest = dims;
  rest.erase(rest.begin() + axis);
  std::vector<std::vector<size_t>> r;
  for_indices(rest, [&](const Ints& p) {
    Ints q = p;
    q.insert(q.begin() + axis, 0);
    r.emplace_back();
    for (int64_t i = 0; i < dims[at(axis)]; ++i) {
      q[at(axis)] = i;
      r.back().push_back(at(flat(q, dims)));
    }
  });
  return r;
}

TEST_F(RandomKernels, RunningSumsAndProducts) {
  Draw draw(13);
  for (int i = 0; i < 300; ++i) {
    vary(i);
    const DType dtype = draw.of(kNumbers);
    const Ints dims = draw.dims(at(draw(1, 4)), draw.one_in(10) ? 20000 : 2000);
    const auto rank = static_cast<int64_t>(dims.size());
    const int64_t axis = draw(0, rank - 1), given = draw.one_in(3) ? axis - rank : axis;
    const bool exclusive = draw.one_in(2), reverse = draw.one_in(2);
    Value x = counted(dtype, dims);
    for (double& v : x.data) v = std::fmod(v, 5);
    Value factors = x;
    for (double& v : factors.data) v = is_float(dtype) ? (v < 2 ? 0.5 : v < 4 ? 2 : 1) : v + 1;
    Numbers sums(x.data.size()), products(x.data.size());
    for (std::vector<size_t>& line : lines_of(dims, axis)) {
      if (reverse) std::reverse(line.begin(), line.end());
      uint64_t whole = 1;  // integers wrap
      double sum = 0, product = 1;
      for (size_t j : line) {
        const double last = sum, last_product = product;
        const uint64_t last_whole = whole;
        sum += x.data[j];
        product *= factors.data[j];
        whole *= static_cast<uint64_t>(factors.data[j]);
        sums[j] = exclusive ? last : sum;
        products[j] = exclusive ? last_product : product;
        if (is_float(dtype)) continue;
        sums[j] = wrapped(dtype, static_cast<int64_t>(sums[j]));
        products[j] = wrapped(dtype, static_cast<int64_t>(exclusive ? last_whole : whole));
      }
    }
    const std::string what = text_of(" ", dtype, " ", dims, " axis ", given, " exclusive ",
                                     exclusive, " reverse ", reverse);
    expect_close(run_guarded(attrs::cumsum{given, exclusive, reverse}, {x}, "cumsum" + what)[0],
                 sums, dtype, "cumsum" + what);
    const Numbers got =
        run_guarded(attrs::cumprod{given, exclusive, reverse}, {factors}, "cumprod" + what)[0];
    if (dtype != DType::float16) expect_same(got, products, "cumprod" + what);  // leaves its range
    if (HasFailure()) return;
  }
}

TEST_F(RandomKernels, PositionsOfExtremes) {
  Draw draw(14);
  for (int i = 0; i < 400; ++i) {
    vary(i);
    const DType dtype = draw.of(kNumbers);
    const Ints dims = draw.dims(at(draw(1, 4)), draw.one_in(10) ? 20000 : 2000);
    const auto rank = static_cast<int64_t>(dims.size());
    const int64_t axis = draw(0, rank - 1), given = draw.one_in(3) ? axis - rank : axis;
    if (dims[at(axis)] == 0) continue;
    const Value x = tied(draw, dtype, dims, draw.one_in(2));
    Numbers largest, smallest;
    for (const std::vector<size_t>& line : lines_of(dims, axis)) {
      // The first NaN, or the first of the best.
      const auto first = [&](auto better) {
        size_t best = 0;
        for (size_t j = 0; j < line.size(); ++j)
          if (std::isnan(x.data[line[j]])) return static_cast<double>(j);
        for (size_t j = 1; j < line.size(); ++j)
          if (better(x.data[line[j]], x.data[line[best]])) best = j;
        return static_cast<double>(best);
      };
      largest.push_back(first(std::greater<double>()));
      smallest.push_back(first(std::less<double>()));
    }
    const std::string what = text_of(" ", dtype, " ", dims, " axis ", given);
    expect_same(run_guarded(attrs::argmax{given}, {x}, "argmax" + what)[0], largest,
                "argmax" + what);
    expect_same(run_guarded(attrs::argmin{given}, {x}, "argmin" + what)[0], smallest,
                "argmin" + what);
    if (HasFailure()) return;
  }
}

TEST_F(RandomKernels, TopK) {
  Draw draw(15);
  for (int i = 0; i < 400; ++i) {
    vary(i);
    const DType dtype = draw.of(kNumbers);
    const Ints dims = draw.dims(at(draw(1, 3)), draw.one_in(10) ? 20000 : 2000);
    const int64_t n = dims.back(), k = draw.one_in(4) ? n : draw(0, n);
    const Value x = tied(draw, dtype, dims, draw.one_in(2));
    Numbers values, places;
    for (const std::vector<size_t>& line : lines_of(dims, static_cast<int64_t>(dims.size()) - 1)) {
      Ints order(line.size(), 0);
      std::iota(order.begin(), order.end(), 0);
      const auto value = [&](int64_t j) { return x.data[line[at(j)]]; };
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return std::isnan(value(a)) ? !std::isnan(value(b)) : value(a) > value(b);
      });
      for (int64_t j = 0; j < k; ++j) {
        values.push_back(value(order[at(j)]));
        places.push_back(static_cast<double>(order[at(j)]));
      }
    }
    const std::string what = text_of("top_k ", dtype, " ", dims, " k ", k);
    const auto got = run_guarded(attrs::top_k{k}, {x}, what);
    expect_same(got[0], values, what);
    expect_same(got[1], places, what);
    if (HasFailure()) return;
  }
}

TEST_F(RandomKernels, InTopK) {
  Draw draw(16);
  for (int i = 0; i < 300; ++i) {
    vary(i);
    const DType dtype = draw.of(kFloats);
    const Ints dims = draw.dims(2, 3000);
    const int64_t k = draw(0, dims[1] + 1);
    const Value x = tied(draw, dtype, dims, draw.one_in(3));
    Value targets{TensorType(draw.of<DType>({DType::int32, DType::int64}), Shape{dims[0]}), {}};
    Numbers want;
    for (int64_t row = 0; row < dims[0]; ++row) {
      const int64_t target = draw(-1, dims[1]);
      targets.data.push_back(static_cast<double>(target));
      bool finite = true;
      int64_t above = 0;
      for (int64_t j = 0; j < dims[1] && target >= 0 && target < dims[1]; ++j) {
        finite = finite && std::isfinite(x.data[at(row * dims[1] + j)]);
        above += x.data[at(row * dims[1] + j)] > x.data[at(row * dims[1] + target)];
      }
      want.push_back(target >= 0 && target < dims[1] && finite && above < k);
    }
    const std::string what = text_of("in_top_k ", dtype, " ", dims, " k ", k);
    expect_same(run_guarded(attrs::in_top_k{k}, {x, targets}, what)[0], want, what);
    if (HasFailure()) return;
  }
}

TEST_F(RandomKernels, Softmaxes) {
  Draw draw(17);
  for (int i = 0; i < 300; ++i) {
    vary(i);
    const DType dtype = draw.of(kFloats);
    const Ints dims = draw.dims(at(draw(1, 4)), draw.one_in(10) ? 20000 : 2000);
    const auto rank = static_cast<int64_t>(dims.size());
    const int64_t axis = draw(0, rank - 1), given = draw.one_in(3) ? axis - rank : axis;
    Value x = random_value(dtype, dims, draw.seed());
    const double scale = draw.of<double>({1, 8, 64});  // exact
    const bool masked = draw.one_in(3), broken = draw.one_in(5);
    for (double& v : x.data) {
      v *= scale;
      if (masked && draw.one_in(3)) v = -kInf;
      if (broken && draw.one_in(50)) v = kNaN;
    }
    Numbers y(x.data.size()), logs(x.data.size());
    for (const std::vector<size_t>& line : lines_of(dims, axis)) {
      double max = -kInf, sum = 0;
      for (size_t j : line) max = std::isnan(x.data[j]) || x.data[j] > max ? x.data[j] : max;
      for (size_t j : line) sum += std::exp(x.data[j] - max);
      for (size_t j : line) {
        y[j] = std::exp(x.data[j] - max) / sum;
        logs[j] = x.data[j] - max - std::log(sum);
      }
    }
    const std::string what =
        text_of(" ", dtype, " ", dims, " axis ", given, " scale ", scale, " masked ", masked);
    const double tolerance = dtype == DType::float64   ? 1e-13
                             : dtype == DType::float32 ? 2e-6
                             : dtype == DType::float16 ? 2e-3
                                                       : 1.6e-2;
    const auto compare = [&](const Numbers& got, const Numbers& want, const std::string& name) {
      for (size_t j = 0; j < got.size(); ++j)
        if (std::isfinite(want[j])) {
          ASSERT_NEAR(got[j], want[j], tolerance * (1 + std::abs(want[j]))) << name << " at " << j;
        } else {
          ASSERT_TRUE(got[j] == want[j] || (std::isnan(got[j]) && std::isnan(want[j])))
              << name << " at " << j << ": " << got[j] << " instead of " << want[j];
        }
    };
    compare(run_guarded(attrs::softmax{given}, {x}, "softmax" + what)[0], y, "softmax" + what);
    compare(run_guarded(attrs::log_softmax{given}, {x}, "log_softmax" + what)[0], logs,
            "log_softmax" + what);
    if (HasFailure()) return;
  }
}

// Reductions
// --------------------------------------------------------------------------------

TEST_F(RandomKernels, Reductions) {
  Draw draw(18);
  const std::vector<Prim> reductions = {Prim::reduce_sum, Prim::reduce_prod, Prim::reduce_max,
                                        Prim::reduce_min, Prim::reduce_any,  Prim::reduce_all};
  const auto targets = fused::simd_targets();
  for (int i = 0; i < 400; ++i) {
    vary_threads(i);
    fused::set_simd_target(targets[at(i) / 25 % targets.size()]);
    const Prim prim = draw.of(reductions);
    const bool product = prim == Prim::reduce_prod, truth = prim >= Prim::reduce_any;
    const Ints dims = draw.dims(at(draw(1, 5)), !product && draw.one_in(10) ? 50000 : 2000);
    const DType dtype = draw.of(kNumbers);
    std::vector<bool> reduced;
    Ints strides(dims.size(), 0), kept;
    for (size_t axis = 0; axis < dims.size(); ++axis) reduced.push_back(draw.one_in(2));
    for (size_t axis = dims.size(); axis-- > 0;)
      if (!reduced[axis]) {
        strides[axis] = count_of(kept);
        kept.push_back(dims[axis]);
      }
    Value x = tied(draw, dtype, dims, draw.one_in(3));
    const int64_t zeros = draw.of<int64_t>({2, 50, 1 << 20});
    for (double& v : x.data) {
      if (product) v = draw.one_in(8) ? 2 : is_float(dtype) && draw.one_in(8) ? 0.5 : 1;  // exact
      if (truth) v = draw.one_in(zeros) == (prim == Prim::reduce_any);
    }
    const auto limit = [&](bool lowest) {
      return with_dtype(dtype, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (std::is_integral_v<T>)
          return static_cast<double>(lowest ? std::numeric_limits<T>::lowest()
                                            : std::numeric_limits<T>::max());
        else
          return lowest ? -kInf : kInf;
      });
    };
    const double start = prim == Prim::reduce_max   ? limit(true)
                         : prim == Prim::reduce_min ? limit(false)
                                                    : product || prim == Prim::reduce_all;
    Numbers want(at(count_of(kept)), start);
    std::vector<uint64_t> whole(want.size(), 1);  // integers wrap
    size_t next = 0;
    for_indices(dims, [&](const Ints& p) {
      int64_t to = 0;
      for (size_t axis = 0; axis < p.size(); ++axis) to += p[axis] * strides[axis];
      double& r = want[at(to)];
      const double v = x.data[next++];
      const bool nan = std::isnan(r) || std::isnan(v);
      whole[at(to)] *= product ? static_cast<uint64_t>(v) : 1;
      switch (prim) {
        case Prim::reduce_sum: r += v; break;
        case Prim::reduce_prod: r *= v; break;
        case Prim::reduce_max: r = nan ? kNaN : std::max(r, v); break;
        case Prim::reduce_min: r = nan ? kNaN : std::min(r, v); break;
        case Prim::reduce_any: r = r != 0 || v != 0; break;
        default: r = r != 0 && v != 0;
      }
    });
    for (size_t r = 0; r < want.size(); ++r)
      if (is_float(dtype) && !truth) {  // rounded once
        char bytes[8];
        store({want[r]}, dtype, bytes);
        want[r] = load(bytes, dtype, 1)[0];
      } else if (product) {
        want[r] = wrapped(dtype, static_cast<int64_t>(whole[r]));
      } else if (prim == Prim::reduce_sum) {
        want[r] = wrapped(dtype, static_cast<int64_t>(want[r]));
      }
    fused::ProgramBuilder builder;
    builder.reduce_output(builder.input(dtype), prim);
    const auto group = fused::Group::make(builder.build(), dims, {{fused::row_major(dims), 0}},
                                          {{strides, 0}}, reduced);
    const DType result = truth ? DType::bool_ : dtype;
    const Buffer in(x.data.size() * size_of(dtype)), out(want.size() * size_of(result)),
        scratch(group->scratch_bytes());
    store(x.data, dtype, in.data());
    const void* from[] = {in.data()};
    void* to[] = {out.data()};
    group->run(from, to, scratch.data());
    for (const Buffer* b : {&in, &out, &scratch}) b->check_guards();
    expect_same(load(out.data(), result, count_of(kept)), want,
                text_of("reduction ", static_cast<int>(prim), " ", dtype, " ", dims,
                        " strides of the result ", strides));
    if (HasFailure()) break;
  }
  fused::set_simd_target("");
}

}  // namespace
}  // namespace horngate::native
