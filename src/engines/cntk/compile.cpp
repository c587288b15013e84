// From a graph to an executable.
#include <cstring>
#include <stdexcept>
#include <unordered_map>

#include "cntk/executable.h"

namespace horngate::cntk {
namespace {

// Library operations per piece: few enough for its recursion, many enough to make a call cheap.
constexpr size_t kPieceSize = 250;

// Memory of a library operation with all that belongs to it, as measured on nets without data.
constexpr size_t kBytesOfOperation = 3500;

Port make_port(const Val& v, int32_t dtype, uint32_t at) {
  Port p;
  p.variable = v.v;
  p.carrier = v.type;
  p.dtype = dtype;
  p.shape = reversed(v.dims);
  p.n = count(v.dims);
  p.at = at;
  p.is_direct = (dtype == HG_FLOAT32 && v.type == DataType::kFloat) ||
                (dtype == HG_FLOAT64 && v.type == DataType::kDouble);
  return p;
}

}  // namespace

class Compiler {
 public:
  Compiler(const Library& library, const hg_graph& graph, Executable& to)
      : l_(library), g_(graph), e_(to), b_(library), to_{b_, g_, {}, {}, {}, {}, {}, {}} {}

  void run() {
    find_uses();
    add_inputs();
    for (uint32_t i = 0; i < g_.n_node; ++i) {
      if (b_.size() - cut_at_ >= kPieceSize) cut(i);
      lower(*g_.node[i]);
    }
    copy_the_rest();
    cut(g_.n_node);
    e_.checks_ = std::move(to_.checks);
    e_.work_ = to_.work;
    e_.memory_ = b_.take_memory();
    e_.bytes_ = b_.bytes() + b_.size() * kBytesOfOperation;
  }

 private:
  void find_uses() {
    last_use_.assign(g_.n_value, 0);
    output_.assign(g_.n_value, Port::kNowhere);
    for (uint32_t i = 0; i < g_.n_node; ++i)
      for (uint32_t k = 0; k < g_.node[i]->n_in; ++k) last_use_[g_.node[i]->in[k]] = i + 1;
    for (uint32_t i = g_.n_out; i-- > 0;) output_[g_.out[i]] = i;
  }

  void add_inputs() {
    to_.values.resize(g_.n_value);
    to_.consts.assign(g_.n_value, nullptr);
    to_.input_of.assign(g_.n_value, IndexCheck::kComputed);
    for (uint32_t i = 0; i < g_.n_in; ++i) {
      const uint32_t v = g_.in[i];
      const hg_type& t = *g_.value[v];
      to_.input_of[v] = i;
      if (!last_use_[v]) continue;
      std::shared_ptr<unsigned char[]> memory;
      to_.values[v] = b_.input(carrier(t.dtype), dims_of(t), memory);
      if (is_unsigned(t.dtype) || t.dtype == HG_BOOL) to_.values[v].low = 0;
      e_.in_.push_back(make_port(to_.values[v], t.dtype, i));
      e_.in_.back().stage = memory;
    }
  }

  void lower(const hg_node& n) {
    if (std::strcmp(n.prim, "constant") == 0) {
      to_.consts[n.out[0]] = Attrs(n).buffer("value");
      return;
    }
    const auto it = table().find(n.prim);
    if (it == table().end()) throw std::runtime_error(std::string("cannot run ") + n.prim + ".");
    const LowerCall call{to_, n, Attrs(n), b_};
    if (it->second.lower_all)
      it->second.lower_all(call);
    else
      call.set(0, it->second.lower(call));
    for (uint32_t k = 0; k < n.n_out; ++k) made_.push_back(n.out[k]);
  }

  /// Outputs that are inputs, constants, or repeated outputs.
  void copy_the_rest() {
    for (uint32_t i = 0; i < g_.n_out; ++i) {
      const uint32_t v = g_.out[i];
      if (to_.input_of[v] != IndexCheck::kComputed) {
        e_.copies_.push_back({Copy::kInput, to_.input_of[v], i});
      } else if (const hg_buffer* c = to_.consts[v]) {
        const auto* p = static_cast<const unsigned char*>(c->data);
        e_.constants_.emplace_back(p, p + c->bytes);
        e_.copies_.push_back({Copy::kConstant, e_.constants_.size() - 1, i});
      } else if (output_[v] != i) {
        e_.copies_.push_back({Copy::kOutput, output_[v], i});
      }
    }
  }

  /// Ends a piece before node `next`: it gives out outputs, and what `next` and later nodes read.
  void cut(uint32_t next) {
    Piece piece;
    wanted_.clear();
    std::vector<std::pair<uint32_t, size_t>> crossing;  // number of a value, position in wanted_
    for (const uint32_t v : made_) {
      const bool is_read = last_use_[v] > next, is_output = output_[v] != Port::kNowhere;
      if (!is_output && (!is_read || to_.values[v].is_leaf)) continue;
      const Val y = own(to_.values[v]);
      Port p = make_port(y, g_.value[v]->dtype, output_[v]);
      if (is_read) p.is_direct = false;
      if (is_read) crossing.emplace_back(v, wanted_.size());
      wanted_.push_back(y);
      piece.out.push_back(std::move(p));
    }
    const size_t first_hidden = piece.out.size();
    for (; hidden_done_ < to_.hidden.size(); ++hidden_done_) {
      wanted_.push_back(own(to_.hidden[hidden_done_]));
      piece.out.push_back(make_port(wanted_.back(), HG_FLOAT64, Port::kNowhere));
      piece.out.back().is_direct = false;
    }
    made_.clear();
    cut_at_ = b_.size();
    if (wanted_.empty()) return;
    piece.function = b_.combine(wanted_);
    give_memory(piece, crossing);
    e_.hidden_.insert(e_.hidden_.end(), piece.out.begin() + static_cast<int64_t>(first_hidden),
                      piece.out.end());
    e_.pieces_.push_back(std::move(piece));
  }

  void give_memory(Piece& piece, const std::vector<std::pair<uint32_t, size_t>>& crossing) {
    const std::vector<Variable> made = l_.outputs(piece.function.get());
    for (size_t i = 0; i < piece.out.size(); ++i) piece.out[i].variable = made.at(i);
    for (const auto& [v, at] : crossing) {
      // For later pieces it is a fed value, in the memory that this piece writes.
      const Val& old = wanted_[at];
      Val fresh = b_.input(old.type, old.dims, piece.out[at].stage);
      fresh.low = to_.values[v].low;
      fresh.never_zero = to_.values[v].never_zero;
      to_.values[v] = fresh;
      piece.fresh.push_back(fresh.v);
    }
    for (Port& p : piece.out) {
      if (p.is_direct) continue;
      if (!p.stage) p.stage = aligned(p.bytes());
      piece.map[p.variable] =
          make_value(l_, make_view(l_, p.carrier, p.shape, p.stage.get(), p.bytes(), false));
    }
  }

  /// A value that no operation made, or that is wanted twice (under two dtypes), gets its own operation.
  Val own(const Val& y) {
    bool is_plain = !y.is_leaf;
    for (const Val& w : wanted_) is_plain &= !(w.v == y.v);
    return is_plain ? y : b_.bin(Bin::kTimes, y, 1);
  }

  const Library& l_;
  const hg_graph& g_;
  Executable& e_;
  Build b_;
  Lowering to_;
  std::vector<uint32_t> last_use_,
      output_;                  // by number: 1 + the last node that reads it; first output
  std::vector<uint32_t> made_;  // in the piece under construction
  std::vector<Val> wanted_;     // its outputs
  size_t cut_at_ = 0, hidden_done_ = 0;
};

std::unique_ptr<Executable> compile(const Library& library, const hg_graph& graph) {
  auto e = std::make_unique<Executable>(library);
  Compiler(library, graph, *e).run();
  return e;
}

}  // namespace horngate::cntk
