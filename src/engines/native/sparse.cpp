// Memory of sparse results.
#include "engines/native/sparse.h"

#include <algorithm>
#include <cstring>

namespace horngate::native {
namespace {

void grow(Storage& storage, size_t bytes) {
  if (!storage || storage.bytes() < bytes) storage = Storage::allocate(std::max<size_t>(bytes, 64));
}

}  // namespace

void SparseBuffer::resize(int64_t rows, int64_t count, size_t item) {
  const auto n = static_cast<size_t>(count);
  grow(starts_, (static_cast<size_t>(rows) + 1) * sizeof(int64_t));
  grow(columns_, n * sizeof(int64_t));
  grow(values_, n * item);
  nnz = count;
  indptr = row_starts();
  indices = columns();
  values = data();
  row_starts()[0] = 0;
}

void SparseBuffer::assign(const SparseView& from, int64_t rows, size_t item) {
  resize(rows, from.nnz, item);
  std::memcpy(row_starts(), from.indptr, (static_cast<size_t>(rows) + 1) * sizeof(int64_t));
  if (from.nnz == 0) return;
  std::memcpy(columns(), from.indices, static_cast<size_t>(from.nnz) * sizeof(int64_t));
  std::memcpy(data(), from.values, static_cast<size_t>(from.nnz) * item);
}

}  // namespace horngate::native
