// sparse_dot: c = op(a) b for a in compressed rows, b dense.
#include <algorithm>

#include "engines/native/kernels/axis.h"
#include "engines/native/kernels/half.h"
#include "engines/native/kernels/workers.h"
#include "engines/native/threads.h"
#include "ir/dispatch_dtype.h"

namespace horngate::native::kernels {
namespace {

// How many columns of b are summed at a time. Sums are double: in float, ten times as many terms cost one more digit.
constexpr int64_t kColumns = 16;

template <class T>
void add_row(T value, const T* __restrict b, double* __restrict sums, int64_t n) {
  const double x = static_cast<double>(value);
  if (n == kColumns)  // compilers make vectors of a loop whose length they know
    for (int64_t j = 0; j < kColumns; ++j) sums[j] += x * static_cast<double>(b[j]);
  else
    for (int64_t j = 0; j < n; ++j) sums[j] += x * static_cast<double>(b[j]);
}

// c[i] = sum over the elements of row i of value * b[column]
template <class T>
void by_rows(const SparseView& a, const T* b, T* c, int64_t rows, int64_t n) {
  const T* values = static_cast<const T*>(a.values);
  const int64_t per_row = a.nnz / std::max<int64_t>(1, rows) + 1;
  parallel_for(rows, grain_for(per_row * n * static_cast<int64_t>(sizeof(T))),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i)
                   for (int64_t j = 0; j < n; j += kColumns) {
                     const int64_t count = std::min(kColumns, n - j);
                     double sums[kColumns] = {};
                     for (int64_t e = a.indptr[i]; e < a.indptr[i + 1]; ++e)
                       add_row(values[e], b + a.indices[e] * n + j, sums, count);
                     std::copy_n(sums, count, c + i * n + j);
                   }
               });
}

/// Sums of each row of c, some columns at a time, for each of the threads that share the columns.
struct Scratch {
  int64_t width, units, slots, per_slot;
  Scratch(int64_t rows, int64_t n)
      : width(std::min(kColumns, n)),
        units((n + kColumns - 1) / kColumns),
        slots(slots_for(units)),
        per_slot(rows * width) {}
  size_t bytes() const { return static_cast<size_t>(slots * per_slot) * sizeof(double); }
};

// c[column] += value * b[row]: elements meet in a row of c, so threads share the columns of c, and
// each goes through all elements in the same order.
template <class T>
void by_columns(const SparseView& a, const T* b, T* c, int64_t rows, int64_t columns, int64_t n,
                const Scratch& scratch, double* memory) {
  const T* values = static_cast<const T*>(a.values);
  const int64_t width = scratch.width, work = (a.nnz + columns) * width * int64_t{sizeof(T)};
  for_units(scratch.units, grain_for(work) > 1 ? 1 : scratch.slots,
            [&](int64_t slot, int64_t unit) {
              const int64_t j = unit * kColumns, count = std::min(kColumns, n - j);
              double* sums = memory + slot * scratch.per_slot;
              std::fill_n(sums, scratch.per_slot, 0.0);
              for (int64_t i = 0; i < rows; ++i)
                for (int64_t e = a.indptr[i]; e < a.indptr[i + 1]; ++e)
                  add_row(values[e], b + i * n + j, sums + a.indices[e] * width, count);
              for (int64_t i = 0; i < columns; ++i)
                std::copy_n(sums + i * width, count, c + i * n + j);
            });
}

template <class T>
KernelPtr make(const Shape& a, int64_t n, bool transpose) {
  const int64_t rows = a.dim(0), columns = a.dim(1);
  const Scratch scratch(columns, n);
  const auto run = [=](const void* const* in, void* const* out, RunContext& context) {
    const SparseView& view = *static_cast<const SparseView*>(in[0]);
    const T* b = static_cast<const T*>(in[1]);
    T* c = static_cast<T*>(out[0]);
    if (transpose)
      by_columns(view, b, c, rows, columns, n, scratch, static_cast<double*>(context.scratch));
    else
      by_rows(view, b, c, rows, n);
  };
  return kernel_of(run, transpose ? scratch.bytes() : 0);
}

}  // namespace

KernelPtr make_sparse_dot(const KernelCall& call) {
  const bool transpose = call.as<attrs::sparse_dot>().transpose_a;
  const int64_t n = call.in[1].shape.dim(1);
  if (call.in[1].dtype == DType::float64) return make<double>(call.in[0].shape, n, transpose);
  return make<float>(call.in[0].shape, n, transpose);
}

}  // namespace horngate::native::kernels
