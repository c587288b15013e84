// Running compiled graphs.
#include "cntk/executable.h"

#include <cstring>

#include "cntk/convert.h"

namespace horngate::cntk {
namespace {

// If every product has fewer multiplications than this, a second thread costs more than it gains.
constexpr double kWorthThreads = 2e7;

}  // namespace

void Executable::feed(const hg_buffer* const* in) {
  for (const IndexCheck& c : checks_)
    if (c.input != IndexCheck::kComputed) check_indices(*in[c.input], c);
  for (Port& p : in_) {
    if (p.is_direct)
      std::memcpy(p.stage.get(), in[p.at]->data, p.bytes());
    else
      widen(in[p.at]->data, p.dtype, p.stage.get(), p.carrier, p.n);
    l_.record_update(&p.variable);
  }
}

void Executable::run_piece(Piece& piece, hg_buffer* const* out) {
  static const ValueMap kNoArguments;
  for (Port& p : piece.out) {
    if (!p.is_direct || p.seen == out[p.at]->data) continue;
    p.seen = out[p.at]->data;
    piece.map[p.variable] =
        make_value(l_, make_view(l_, p.carrier, p.shape, p.seen, p.bytes(), false));
  }
  l_.evaluate(piece.function.get(), kNoArguments, piece.map, Device{});
  for (Variable& v : piece.fresh) l_.record_update(&v);
}

void Executable::check_computed() const {
  const auto hidden = [&](size_t i) {
    const Port& p = hidden_[i];
    const void* at = p.stage.get();
    return p.carrier == DataType::kFloat ? static_cast<double>(*static_cast<const float*>(at))
                                         : *static_cast<const double*>(at);
  };
  for (const IndexCheck& c : checks_) {
    if (c.input != IndexCheck::kComputed) continue;
    for (const size_t i : {c.least, c.greatest})
      if (const double v = hidden(i); !(v >= 0 && v < static_cast<double>(c.size)))
        throw_index(c, static_cast<int64_t>(v));
  }
}

void Executable::run(const hg_buffer* const* in, hg_buffer* const* out, int threads) {
  feed(in);
  use_threads(l_, work_ < kWorthThreads ? 1 : threads);
  for (Piece& piece : pieces_) run_piece(piece, out);
  check_computed();
  for (const Piece& piece : pieces_)
    for (const Port& p : piece.out)
      if (!p.is_direct && p.at != Port::kNowhere)
        narrow(p.stage.get(), p.carrier, out[p.at]->data, p.dtype, p.n);
  for (const Copy& c : copies_) {
    const void* from = c.kind == Copy::kInput      ? in[c.from]->data
                       : c.kind == Copy::kConstant ? constants_[c.from].data()
                                                   : out[c.from]->data;
    if (out[c.to]->bytes) std::memcpy(out[c.to]->data, from, out[c.to]->bytes);
  }
}

}  // namespace horngate::cntk
