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

// Below this many multiplications a second thread costs more than it brings.
constexpr double kWorthThreads = 4e6;

Port make_port(const Val& v, int32_t dtype) {
  Port p;
  p.variable = v.v;
  p.carrier = v.type;
  p.dtype = dtype;
  p.dims = v.dims;
  p.shape = reversed(v.dims);
  p.n = count(v.dims);
  p.is_direct = (dtype == HG_FLOAT32 && v.type == DataType::kFloat) ||
                (dtype == HG_FLOAT64 && v.type == DataType::kDouble);
  return p;
}

}  // namespace

Executable::Executable(const Library& library, const hg_graph& g) : l_(library) {
  Build build(library);
  Lowering to{build, g, {}, {}, {}, {}, {}};
  lower(g, to);
  // Outputs: each computed variable once; what is only passed on is copied by us.
  std::vector<Val> wanted;
  std::unordered_map<Variable, size_t> first;
  for (uint32_t i = 0; i < g.n_out; ++i) {
    const uint32_t v = g.out[i];
    if (to.input_of[v] != IndexCheck::kComputed) {
      sources_.push_back({Source::kInput, to.input_of[v]});
    } else if (const hg_buffer* c = to.consts[v]) {
      const auto* p = static_cast<const unsigned char*>(c->data);
      constants_.emplace_back(p, p + c->bytes);
      sources_.push_back({Source::kConstant, constants_.size() - 1});
    } else {
      Val y = to.value(v);
      // A variable may be an input or a constant of the library in another shape; it gets a node of its own.
      if (const auto it = first.find(y.v); it != first.end()) {
        sources_.push_back({Source::kTwin, it->second});
        continue;
      }
      first[y.v] = i;
      sources_.push_back({Source::kComputed, wanted.size()});
      out_.push_back(make_port(y, g.value[v].dtype));
      wanted.push_back(y);
    }
  }
  hidden_at_ = wanted.size();
  for (const Val& h : to.hidden) {
    out_.push_back(make_port(h, HG_FLOAT64));
    out_.back().is_direct = false;
    wanted.push_back(h);
  }
  checks_ = std::move(to.checks);
  work_ = to.work;
  memory_ = build.take_memory();
  if (wanted.empty()) return;
  function_ = build.combine(wanted);
  const std::vector<Variable> made = l_.outputs(function_.get());
  for (size_t i = 0; i < out_.size(); ++i) out_[i].variable = made.at(i);
  // Only what the function reads may be fed.
  std::unordered_map<Variable, uint32_t> position;
  for (uint32_t i = 0; i < g.n_in; ++i)
    if (to.values[g.in[i]].v.fields) position[to.values[g.in[i]].v] = i;
  for (const Variable& v : l_.inputs(function_.get(), false)) {
    const auto it = position.find(v);
    if (it == position.end()) continue;
    in_.push_back(make_port(to.values[g.in[it->second]], g.value[g.in[it->second]].dtype));
    in_at_.push_back(it->second);
  }
}

void Executable::lower(const hg_graph& g, Lowering& to) {
  to.values.resize(g.n_value);
  to.consts.assign(g.n_value, nullptr);
  to.input_of.assign(g.n_value, IndexCheck::kComputed);
  for (uint32_t i = 0; i < g.n_in; ++i) to.input_of[g.in[i]] = i;
  std::vector<bool> read(g.n_value, false);
  for (uint32_t i = 0; i < g.n_node; ++i)
    for (uint32_t k = 0; k < g.node[i].n_in; ++k) read[g.node[i].in[k]] = true;
  for (uint32_t i = 0; i < g.n_in; ++i) {
    const uint32_t v = g.in[i];
    if (read[v]) to.values[v] = to.b.input(carrier(g.value[v].dtype), dims_of(g.value[v]));
    if (is_unsigned(g.value[v].dtype) || g.value[v].dtype == HG_BOOL) to.values[v].low = 0;
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
      to.work += static_cast<double>(count(y.dims));
      call.set(0, std::move(y));
    }
  }
}

void Executable::set_value(ValueMap& map, Port& p, void* data, bool read_only) {
  if (p.seen == data) return;
  map[p.variable] =
      make_value(l_, make_view(l_, p.carrier, p.shape, data,
                               static_cast<size_t>(p.n) * size_of(p.carrier), read_only));
  p.seen = data;
}

void Executable::check_fed(const hg_buffer* in) const {
  for (const IndexCheck& c : checks_)
    if (c.input != IndexCheck::kComputed) check_indices(in[c.input], c);
}

void Executable::check_computed() const {
  const auto hidden = [&](size_t i) {
    const Port& p = out_[hidden_at_ + i];
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
  check_fed(in);
  if (function_) {
    for (size_t i = 0; i < in_.size(); ++i) {
      Port& p = in_[i];
      const hg_buffer& from = in[in_at_[i]];
      if (!p.is_direct) {
        if (!p.stage) p.stage = aligned(static_cast<size_t>(p.n) * size_of(p.carrier));
        widen(from.data, p.dtype, p.stage.get(), p.carrier, p.n);
      }
      set_value(in_map_, p, p.is_direct ? from.data : p.stage.get(), true);
    }
    for (size_t i = 0; i < out_.size(); ++i) {
      Port& p = out_[i];
      if (!p.is_direct && !p.stage)
        p.stage = aligned(static_cast<size_t>(p.n) * size_of(p.carrier));
      void* to = p.stage.get();
      if (p.is_direct)
        for (size_t k = 0; k < sources_.size(); ++k)
          if (sources_[k].kind == Source::kComputed && sources_[k].at == i) to = out[k].data;
      set_value(out_map_, p, to, false);
    }
    use_threads(l_, work_ < kWorthThreads ? 1 : threads);
    l_.evaluate(function_.get(), in_map_, out_map_, Device{});
    check_computed();
  }
  for (size_t k = 0; k < sources_.size(); ++k) {
    const Source& s = sources_[k];
    if (s.kind == Source::kComputed) {
      const Port& p = out_[s.at];
      if (!p.is_direct) narrow(p.stage.get(), p.carrier, out[k].data, p.dtype, p.n);
    } else {
      const void* from = s.kind == Source::kInput      ? in[s.at].data
                         : s.kind == Source::kConstant ? constants_[s.at].data()
                                                       : out[s.at].data;
      if (out[k].bytes) std::memcpy(out[k].data, from, out[k].bytes);
    }
  }
}

}  // namespace horngate::cntk
