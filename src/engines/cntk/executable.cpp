// Compiling and running graphs.
#include "cntk/executable.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <unordered_map>

#include "cntk/convert.h"

namespace horngate::cntk {
namespace {

// With fewer multiplications in every product, a second thread costs more than it brings.
constexpr double kWorthThreads = 2e7;

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

Executable::Executable(const Library& library, const hg_graph& g) : l_(library) {
  Build build(library);
  Lowering to{build, g, {}, {}, {}, {}, {}, {}};
  lower(g, to);
  add_outputs(g, to);
  for (uint32_t i = 0; i < g.n_in; ++i)
    if (to.stages[i]) {
      in_.push_back(make_port(to.values[g.in[i]], g.value[g.in[i]].dtype, i));
      in_.back().stage = to.stages[i];
    }
  checks_ = std::move(to.checks);
  work_ = to.work;
  memory_ = build.take_memory();
}

void Executable::lower(const hg_graph& g, Lowering& to) {
  to.values.resize(g.n_value);
  to.consts.assign(g.n_value, nullptr);
  to.input_of.assign(g.n_value, IndexCheck::kComputed);
  to.stages.resize(g.n_in);
  std::vector<bool> read(g.n_value, false);
  for (uint32_t i = 0; i < g.n_node; ++i)
    for (uint32_t k = 0; k < g.node[i].n_in; ++k) read[g.node[i].in[k]] = true;
  for (uint32_t i = 0; i < g.n_in; ++i) {
    const uint32_t v = g.in[i];
    const hg_type& t = g.value[v];
    to.input_of[v] = i;
    if (read[v]) to.values[v] = to.b.input(carrier(t.dtype), dims_of(t), to.stages[i]);
    if (is_unsigned(t.dtype) || t.dtype == HG_BOOL) to.values[v].low = 0;
  }
  for (uint32_t i = 0; i < g.n_node; ++i) {
    const hg_node& n = g.node[i];
    if (std::strcmp(n.prim, "constant") == 0) {
      to.consts[n.out[0]] = Attrs(n).buffer("value");
      continue;
    }
    const auto it = table().find(n.prim);
    if (it == table().end()) throw std::runtime_error(std::string("cannot run ") + n.prim + ".");
    const Call call{to, n, Attrs(n), to.b};
    if (it->second.lower_all) {
      it->second.lower_all(call);
    } else {
      Val y = it->second.lower(call);
      call.set(0, std::move(y));
    }
  }
}

void Executable::add_outputs(const hg_graph& g, Lowering& to) {
  std::vector<Val> wanted;
  std::unordered_map<uint32_t, uint32_t> first;  // the output that a value goes to
  // What no operation made, or what is wanted twice (under two dtypes), gets an operation of its own.
  const auto own = [&](const Val& y) {
    bool is_plain = !y.is_leaf;
    for (const Val& w : wanted) is_plain &= !(w.v == y.v);
    return is_plain ? y : to.b.bin(Bin::kTimes, y, 1);
  };
  for (uint32_t i = 0; i < g.n_out; ++i) {
    const uint32_t v = g.out[i];
    const auto [it, is_new] = first.emplace(v, i);
    if (to.input_of[v] != IndexCheck::kComputed) {
      copies_.push_back({Copy::kInput, to.input_of[v], i});
    } else if (const hg_buffer* c = to.consts[v]) {
      const auto* p = static_cast<const unsigned char*>(c->data);
      constants_.emplace_back(p, p + c->bytes);
      copies_.push_back({Copy::kConstant, constants_.size() - 1, i});
    } else if (!is_new) {
      copies_.push_back({Copy::kOutput, it->second, i});
    } else {
      Val y = to.value(v);
      y = own(y);
      out_.push_back(make_port(y, g.value[v].dtype, i));
      wanted.push_back(std::move(y));
    }
  }
  for (const Val& h : to.hidden) {
    wanted.push_back(own(h));
    hidden_.push_back(make_port(wanted.back(), HG_FLOAT64, 0));
  }
  if (wanted.empty()) return;
  function_ = to.b.combine(wanted);
  const std::vector<Variable> made = l_.outputs(function_.get());
  for (size_t i = 0; i < out_.size(); ++i) out_[i].variable = made.at(i);
  for (size_t i = 0; i < hidden_.size(); ++i) hidden_[i].variable = made.at(out_.size() + i);
  const auto add_value = [&](Port& p) {
    p.stage = aligned(p.bytes());
    out_map_[p.variable] =
        make_value(l_, make_view(l_, p.carrier, p.shape, p.stage.get(), p.bytes(), false));
  };
  for (Port& p : out_)
    if (!p.is_direct) add_value(p);
  for (Port& p : hidden_) add_value(p);
}

void Executable::feed(const hg_buffer* in) {
  for (const IndexCheck& c : checks_)
    if (c.input != IndexCheck::kComputed) check_indices(in[c.input], c);
  for (Port& p : in_) {
    if (p.is_direct)
      std::memcpy(p.stage.get(), in[p.at].data, p.bytes());
    else
      widen(in[p.at].data, p.dtype, p.stage.get(), p.carrier, p.n);
    l_.record_update(&p.variable);
  }
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

void Executable::run(const hg_buffer* in, hg_buffer* out, int threads) {
  feed(in);
  if (function_) {
    for (Port& p : out_) {
      if (!p.is_direct || p.seen == out[p.at].data) continue;
      p.seen = out[p.at].data;
      out_map_[p.variable] =
          make_value(l_, make_view(l_, p.carrier, p.shape, p.seen, p.bytes(), false));
    }
    use_threads(l_, work_ < kWorthThreads ? 1 : threads);
    static const ValueMap kNothing;
    l_.evaluate(function_.get(), kNothing, out_map_, Device{});
    check_computed();
  }
  for (const Port& p : out_)
    if (!p.is_direct) narrow(p.stage.get(), p.carrier, out[p.at].data, p.dtype, p.n);
  for (const Copy& c : copies_) {
    const void* from = c.kind == Copy::kInput      ? in[c.from].data
                       : c.kind == Copy::kConstant ? constants_[c.from].data()
                                                   : out[c.from].data;
    if (out[c.to].bytes) std::memcpy(out[c.to].data, from, out[c.to].bytes);
  }
}

}  // namespace horngate::cntk
