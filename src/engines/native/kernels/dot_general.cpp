// dot_general: batched matrix products. Operands that are matrices in some order go to BLAS unchanged; others
// are first transposed into scratch.
#include <unistd.h>

#include "engines/native/kernels/axis.h"
#include "engines/native/kernels/blas.h"
#include "engines/native/kernels/half.h"
#include "engines/native/kernels/packed_gemm.h"
#include "engines/native/kernels/workers.h"
#include "ir/dispatch_dtype.h"
#include "ir/switches.h"

namespace horngate::native::kernels {

KernelPtr make_transpose(const KernelCall& call);

namespace {

/// Axes of one operand: batch, its own, and those summed over.
struct Roles {
  Ints batch, free, contract;
};

/// Several axes as one: `count` elements, `stride` apart.
struct Joined {
  int64_t count = 1, stride = 1;
  bool possible = true;
};

/// An operand seen as batch x rows x columns, (m, k) for a and (n, k) for b.
struct Operand {
  Joined batch, free, contract;
  KernelPtr transpose;  // if the axes do not join
  size_t offset = 0;    // of the transposed copy in scratch
  bool k_is_dense() const { return contract.stride == 1 || contract.count == 1; }
  int64_t leading() const { return k_is_dense() ? free.stride : contract.stride; }
};

Joined join(const Shape& shape, const Ints& axes) {
  Ints strides(shape.ndim(), 1);
  for (size_t i = shape.ndim(); i-- > 1;) strides[i - 1] = strides[i] * shape.dim(i);
  Joined j;
  for (size_t i = axes.size(); i-- > 0;) {
    const int64_t d = shape.dim(static_cast<size_t>(axes[i])),
                  stride = strides[static_cast<size_t>(axes[i])];
    if (d == 1) continue;
    if (j.count == 1)
      j.stride = stride;
    else if (stride != j.count * j.stride)
      j.possible = false;
    j.count *= d;
  }
  return j;
}

/// Whether BLAS can read it: one of the two axes is dense, the other steps over whole rows of it.
bool is_matrix(Operand& o) {
  if (!o.batch.possible || !o.free.possible || !o.contract.possible) return false;
  // An axis with one element may have any stride.
  if (o.contract.count == 1) o.contract.stride = 1;
  if (o.free.count == 1)
    o.free.stride = o.contract.stride == 1 ? std::max<int64_t>(1, o.contract.count) : 1;
  return o.contract.stride == 1 ? o.free.stride >= o.contract.count
                                : o.free.stride == 1 && o.contract.stride >= o.free.count;
}

Ints concat(std::initializer_list<const Ints*> parts) {
  Ints r;
  for (const Ints* p : parts)
    for (int64_t i : *p) r.push_back(i);
  return r;
}

/// The operand as it is, or with a preceding transposition to (batch, free, contract).
Operand plan_operand(const TensorType& type, const Roles& roles) {
  Operand o{join(type.shape, roles.batch),
            join(type.shape, roles.free),
            join(type.shape, roles.contract),
            {}};
  if (is_matrix(o)) return o;
  const Ints perm = concat({&roles.batch, &roles.free, &roles.contract});
  Ints dims;
  for (int64_t p : perm) dims.push_back(type.shape.dim(static_cast<size_t>(p)));
  const AttrRef attrs(new AttrsOf<attrs::transpose>(attrs::transpose{.perm = perm}));
  const TensorType result(type.dtype, Shape(dims));
  o.transpose = make_transpose({{&type, 1}, {&result, 1}, attrs.get(), {}});
  o.contract.stride = 1;
  o.free.stride = std::max<int64_t>(1, o.contract.count);
  o.batch.stride = o.free.stride * o.free.count;
  return o;
}

/// How a product is cut; independent of the number of threads, so that all sums are too.
struct Tiles {
  int64_t m, n;           // size of a tile
  int64_t rows, columns;  // number of tiles
};

// A cut costs a few percent of the time that a thread saves: two tiles from 4 MFLOP on, then more.
constexpr int64_t kWorthTwo = int64_t{2} << 20, kWorthMore = int64_t{4} << 20;
constexpr int64_t kLeastRows = 64, kLeastColumns = 128;

/// Enough tiles to keep all CPUs of the machine busy, whatever the number of threads.
int64_t most_tiles() {
  static const int64_t tiles = std::clamp<int64_t>(2 * sysconf(_SC_NPROCESSORS_CONF), 4, 64);
  return tiles;
}

Tiles cut(int64_t m, int64_t n, int64_t k, bool n_first) {
  Tiles t{m, n, 1, 1};
  const auto round = [](int64_t side) { return (side / 2 + 31) / 32 * 32; };
  for (int64_t count = 1; count < most_tiles(); count = t.rows * t.columns) {
    if (m * n * k < (count == 1 ? kWorthTwo : kWorthMore * count * count)) break;
    const bool rows = round(t.m) >= kLeastRows, columns = round(t.n) >= kLeastColumns;
    if (!rows && !columns) break;
    // Halve the longer side; if both are equal, the one whose cut repeats less packing.
    const bool halve_n = columns && (!rows || (t.n == t.m ? n_first : t.n > t.m));
    int64_t& side = halve_n ? t.n : t.m;
    side = round(side);
    t.rows = (m + t.m - 1) / t.m;
    t.columns = (n + t.n - 1) / t.n;
  }
  return t;
}

template <class T>
class DotGeneral final : public Kernel {
 public:
  DotGeneral(Operand a, Operand b) : a_(std::move(a)), b_(std::move(b)) {
    m_ = a_.free.count;
    n_ = b_.free.count;
    k_ = a_.contract.count;
    batch_ = a_.batch.count;
    if constexpr (std::is_floating_point_v<T>) {
      blas::check_sizes("dot_general", {m_, n_, k_, a_.leading(), b_.leading(), a_.contract.stride,
                                        b_.contract.stride});
    }
    tiles_ = cut(m_, n_, k_, b_.k_is_dense());
    if constexpr (std::is_floating_point_v<T>) blas::prepare(tiles_.m * tiles_.n * k_);
    if (m_ == 1 || n_ == 1) cut_vector();
    plain_ = is_plain();
    may_pack_ = is_on(Pass::packed_products);
    packs_ = may_pack_ && packs_well();
    if (packs_) bytes_ = aligned_bytes(static_cast<size_t>(packed_floats(n_, k_)) * sizeof(float));
    for (Operand* o : {&a_, &b_})
      if (o->transpose) {
        o->offset = bytes_;
        bytes_ += aligned_bytes(static_cast<size_t>(batch_ * o->free.count * k_) * sizeof(T));
        inner_bytes_ = std::max(inner_bytes_, o->transpose->scratch_bytes());
      }
  }

  size_t scratch_bytes() const override { return bytes_ + inner_bytes_; }

  size_t packed_bytes(size_t operand) const override {
    // The packed form is an additional copy. A product with a vector waits for memory, so large matrices gain
    // nothing.
    const int64_t most_floats = int64_t{1} << (m_ == 1 ? 20 : 24);
    const bool worth = std::is_same_v<T, float> && operand == 1 && batch_ == 1 &&
                       n_ >= kLeastPacked && k_ >= kLeastPacked && k_ <= kMostPacked &&
                       n_ * k_ <= most_floats && m_ <= kManyRows;
    if (!may_pack_ || !worth || a_.transpose || b_.transpose) return 0;
    return static_cast<size_t>(packed_floats(n_, k_)) * sizeof(float);
  }
  void pack(size_t, const void* from, void* to, void*) override {
    pack_panels(b_.k_is_dense(), n_, k_, static_cast<const float*>(from), b_.leading(),
                static_cast<float*>(to), 0, panel_count(n_));
  }
  void use_packed(size_t) override {
    packed_ = true;
    packs_ = false;
    bytes_ = 0;
  }

  void run(const void* const* in, void* const* out, RunContext& context) override {
    if (packed_) return run_packed(in[0], in[1], out[0]);
    if (packs_) {
      auto* panels = static_cast<float*>(context.scratch);
      parallel_for(panel_count(n_), std::max<int64_t>(1, kWorthPacking / (k_ * panel_width())),
                   [&](int64_t begin, int64_t end) {
                     pack_panels(true, n_, k_, static_cast<const float*>(in[1]), b_.leading(),
                                 panels, begin, end);
                   });
      return run_packed(in[0], panels, out[0]);
    }
    T* c = static_cast<T*>(out[0]);
    if (k_ == 0) {
      std::fill(c, c + batch_ * m_ * n_, T(0));
      return;
    }
    const T *a = prepared(a_, in[0], context), *b = prepared(b_, in[1], context);
    const int64_t per_batch = tiles_.rows * tiles_.columns;
    // Small products are handed out in batches: a thread should have about 20 us of work.
    const int64_t products =
        std::max<int64_t>(1, std::min(tiles_.m, m_) * std::min(tiles_.n, n_) * k_);
    const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 20) / products);
    parallel_for(batch_ * per_batch, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) tile(a, b, c, i / per_batch, i % per_batch);
    });
  }

 private:
  // Panels are used where they were measured to be faster than the libraries, which do their own packing: a small part
  // of the work if many rows use it.
  static constexpr int64_t kLeastPacked = 16, kLeastTurned = 384, kMostPacked = 2048,
                           kManyRows = 128, kWorthPacking = 1 << 16;

  // With AVX-512 the libraries lose a tenth on a transposed matrix; transposing it while packing costs less, unless
  // few rows use it.
  bool packs_well() const {
    return std::is_same_v<T, float> && b_.k_is_dense() && batch_ == 1 && !a_.transpose &&
           !b_.transpose && panel_width() >= 32 && m_ >= kManyRows && n_ >= 64 &&
           k_ >= kLeastTurned && k_ <= kMostPacked;
  }

  void run_packed(const void* a, const void* panels, void* c) const {
    const PackedProduct p{m_,
                          n_,
                          k_,
                          static_cast<const float*>(a),
                          a_.free.stride,
                          a_.contract.stride,
                          static_cast<const float*>(panels),
                          static_cast<float*>(c)};
    // A thread should have about 10 us of work; the product of a vector waits for memory.
    const int64_t work = int64_t{1} << (m_ == 1 ? 18 : 19);
    const int64_t grain = std::max<int64_t>(1, work / (m_ * k_ * panel_width()));
    parallel_for(panel_count(n_), grain,
                 [&](int64_t begin, int64_t end) { run_panels(p, begin, end); });
  }

  // A vector times a matrix reads the matrix once; tiles of it are worth a thread from about 256 kB on.
  void cut_vector() {
    const int64_t side = std::max(m_, n_);
    const int64_t wanted = k_ * side * static_cast<int64_t>(sizeof(T)) / (int64_t{256} << 10);
    const int64_t count = std::clamp<int64_t>(wanted, 1, most_tiles());
    // Pieces of short rows would cost more than the threads gain.
    const int64_t least = (m_ == 1 ? b_ : a_).k_is_dense() ? 32 : 256;
    const int64_t length = std::max(least, ((side + count - 1) / count + 31) / 32 * 32);
    tiles_ = {std::min(m_, length), std::min(n_, length), 1, 1};
    tiles_.rows = m_ > 0 ? (m_ + tiles_.m - 1) / tiles_.m : 0;
    tiles_.columns = n_ > 0 ? (n_ + tiles_.n - 1) / tiles_.n : 0;
  }

  const T* prepared(const Operand& o, const void* in, RunContext& context) const {
    if (!o.transpose) return static_cast<const T*>(in);
    char* scratch = static_cast<char*>(context.scratch);
    void* to = scratch + o.offset;
    RunContext inner = context;
    inner.scratch = scratch + bytes_;
    o.transpose->run(&in, &to, inner);
    return static_cast<const T*>(to);
  }

  void tile(const T* a, const T* b, T* c, int64_t batch, int64_t index) const {
    const int64_t i = index / tiles_.columns * tiles_.m, j = index % tiles_.columns * tiles_.n;
    const int64_t m = std::min(tiles_.m, m_ - i), n = std::min(tiles_.n, n_ - j);
    a += batch * a_.batch.stride + i * a_.free.stride;
    b += batch * b_.batch.stride + j * b_.free.stride;
    c += (batch * m_ + i) * n_ + j;
    if constexpr (std::is_floating_point_v<T>)
      if (!plain_) return product(a, b, c, m, n);
    written_out(a, b, c, m, n);
  }

  void product(const T* a, const T* b, T* c, int64_t m, int64_t n) const {
    if (n_ == 1) return vector_product(a_, a, m, b, b_.contract.stride, c);
    if (m_ == 1) return vector_product(b_, b, n, a, a_.contract.stride, c);
    blas::gemm(!a_.k_is_dense(), b_.k_is_dense(), m, n, k_, a, a_.leading(), b, b_.leading(), c,
               n_);
  }

  // y = matrix * x for `count` rows (the free axis) of a matrix.
  void vector_product(const Operand& o, const T* matrix, int64_t count, const T* x, int64_t step,
                      T* y) const {
    if (o.k_is_dense())
      blas::gemv(false, count, k_, matrix, std::max(o.leading(), k_), x, step, y, 1);
    else
      blas::gemv(true, k_, count, matrix, std::max(o.leading(), count), x, step, y, 1);
  }

  // Integers wrap around, as in NumPy; in unsigned arithmetic that is defined.
  void written_out(const T* a, const T* b, T* c, int64_t m, int64_t n) const {
    using U = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
    if constexpr (!std::is_same_v<T, bool>) {
      constexpr int64_t kBlock = 256;
      U sums[kBlock];
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j0 = 0; j0 < n; j0 += kBlock) {
          const int64_t width = std::min(kBlock, n - j0);
          std::fill(sums, sums + width, U(0));
          for (int64_t k = 0; k < k_; ++k) {
            const U factor = static_cast<U>(a[i * a_.free.stride + k * a_.contract.stride]);
            const T* row = b + k * b_.contract.stride + j0 * b_.free.stride;
            for (int64_t j = 0; j < width; ++j)
              sums[j] += factor * static_cast<U>(row[j * b_.free.stride]);
          }
          for (int64_t j = 0; j < width; ++j) c[i * n_ + j0 + j] = static_cast<T>(sums[j]);
        }
    }
  }

  Operand a_, b_;
  Tiles tiles_{};
  bool packed_ = false, packs_ = false;  // b comes in panels; it is packed in each run
  bool plain_ = false, may_pack_ = false;
  int64_t m_ = 0, n_ = 0, k_ = 0, batch_ = 0;
  size_t bytes_ = 0, inner_bytes_ = 0;
};

Roles roles_of(const Shape& shape, const Ints& batch, const Ints& contract) {
  Roles r{batch, {}, contract};
  const auto has = [](const Ints& v, int64_t i) {
    return std::find(v.begin(), v.end(), i) != v.end();
  };
  for (int64_t i = 0; i < static_cast<int64_t>(shape.ndim()); ++i)
    if (!has(batch, i) && !has(contract, i)) r.free.push_back(i);
  return r;
}

/// Pairs of contracted axes may come in any order, as long as it is the same for both: sorts them by `key`.
void sort_pairs(Ints& key, Ints& other) {
  for (size_t i = 1; i < key.size(); ++i)
    for (size_t j = i; j > 0 && key[j - 1] > key[j]; --j) {
      std::swap(key[j - 1], key[j]);
      std::swap(other[j - 1], other[j]);
    }
}

}  // namespace

KernelPtr make_dot_general(const KernelCall& call) {
  if (KernelPtr k = make_through_float(call, make_dot_general)) return k;
  const auto& attrs = call.as<attrs::dot_general>();
  Roles a = roles_of(call.in[0].shape, attrs.batch_a, attrs.contract_a);
  Roles b = roles_of(call.in[1].shape, attrs.batch_b, attrs.contract_b);
  if (call.out[0].shape.size() == 0)
    return kernel_of([](const void* const*, void* const*, RunContext&) {});
  sort_pairs(a.contract, b.contract);
  Operand pa = plan_operand(call.in[0], a), pb = plan_operand(call.in[1], b);
  if (pb.transpose && !pa.transpose) {
    // Perhaps the other operand's order suits both.
    Roles a2 = a, b2 = b;
    sort_pairs(b2.contract, a2.contract);
    Operand qa = plan_operand(call.in[0], a2), qb = plan_operand(call.in[1], b2);
    if (!qa.transpose && !qb.transpose) {
      pa = std::move(qa);
      pb = std::move(qb);
    }
  }
  return with_dtype(call.in[0].dtype, [&](auto zero) -> KernelPtr {
    using T = decltype(zero);
    if constexpr (std::is_arithmetic_v<T>)
      return std::make_unique<DotGeneral<T>>(std::move(pa), std::move(pb));
    return nullptr;
  });
}

}  // namespace horngate::native::kernels
