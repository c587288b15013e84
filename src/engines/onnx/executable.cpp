#include "executable.h"

#include <cctype>
#include <set>

namespace horngate::onnx {
namespace {

// As measured on nets of many sizes.
constexpr size_t kBytesOfSession = 60 << 10, kBytesOfNode = 5 << 10;

Ints dims_list(const hg_type& t) { return Ints(t.dims, t.dims + t.rank); }

/// The number that follows `mark` in a text.
bool number_after(const std::string& text, const std::string& mark, int64_t& number) {
  const size_t at = text.find(mark);
  if (at == std::string::npos) return false;
  number = std::strtoll(text.c_str() + at + mark.size(), nullptr, 10);
  return true;
}

bool has_type(const hg_graph& g, int32_t dtype) {
  for (uint32_t i = 0; i < g.n_value; ++i)
    if (g.value[i]->dtype == dtype) return true;
  for (uint32_t i = 0; i < g.n_node; ++i)
    for (uint32_t k = 0; k < g.node[i]->n_body; ++k)
      if (has_type(*g.node[i]->body[k], dtype)) return true;
  return false;
}

/// Rules of the runtime that change results or crash the process.
std::string wrong_rules(const hg_graph& g) {
  std::string rules = "Pad_Fusion";                            // zeros around a maximum become -inf
  if (has_type(g, HG_FLOAT64)) rules += ";MatMulScaleFusion";  // keeps the scale as a float32
  if (has_type(g, HG_FLOAT16) || has_type(g, HG_BFLOAT16))
    rules += ";MatmulTransposeFusion";  // loses a cast, and crashes the process
  return rules;
}

}  // namespace

Executable::Executable(const Runtime& runtime, const hg_graph& g)
    : runtime_(runtime), n_in_(g.n_in), n_out_(g.n_out) {
  Builder b;
  Lowering lowering(b, Aim::run);
  std::vector<Value> inputs;
  std::vector<Message> in_infos, out_infos;
  for (uint32_t i = 0; i < g.n_in; ++i) {
    const hg_type& t = *g.value[g.in[i]];
    inputs.push_back(value_of("x" + std::to_string(i), t));
    in_infos.push_back(make_value_info(inputs.back().name, t.dtype, dims_list(t)));
    names_.push_back(inputs.back().name);
    types_.push_back({onnx_type(t.dtype), dims_list(t)});
  }
  const std::vector<Value> outputs = lowering.graph(g, inputs);
  std::set<std::string> used;
  for (uint32_t i = 0; i < g.n_out; ++i) {
    const hg_type& t = *g.value[g.out[i]];
    // Each output must be made by its own node.
    const bool own = outputs[i].name[0] == 't' && used.insert(outputs[i].name).second;
    const std::string name = own ? outputs[i].name : b.unary("Identity", outputs[i]).name;
    out_infos.push_back(make_value_info(name, t.dtype, dims_list(t)));
    names_.push_back(name);
    types_.push_back({onnx_type(t.dtype), dims_list(t)});
  }
  for (const std::string& n : names_) name_pointers_.push_back(n.c_str());
  sites_ = lowering.sites();
  const Message model = make_model(b.graph("horngate", in_infos, out_infos), "");
  session_ = runtime_.make_session(model.data(), wrong_rules(g));
  bytes_ = kBytesOfSession + b.size() * kBytesOfNode + 2 * b.constant_bytes();
}

Executable::~Executable() {
  for (const Frame& f : frames_)
    for (OrtValue* v : f.values)
      if (v) runtime_.release(v);
  if (session_) runtime_.release(session_);
}

Executable::Frame Executable::take() {
  {
    std::lock_guard lock(mutex_);
    if (!frames_.empty()) {
      Frame f = std::move(frames_.back());
      frames_.pop_back();
      return f;
    }
  }
  return {std::vector<OrtValue*>(types_.size()), std::vector<const void*>(types_.size())};
}

void Executable::give(Frame frame) {
  std::lock_guard lock(mutex_);
  frames_.push_back(std::move(frame));
}

void Executable::wrap(Frame& f, size_t i, const hg_buffer& buffer) const {
  static char nothing[64];
  void* data = buffer.data ? buffer.data : nothing;
  if (f.values[i] && f.data[i] == data) return;
  if (f.values[i]) runtime_.release(f.values[i]);
  f.values[i] = nullptr;
  const Type& t = types_[i];
  f.values[i] = runtime_.make_tensor(data, buffer.bytes, t.dims.data(), t.dims.size(), t.type);
  f.data[i] = data;
}

void Executable::run(const hg_buffer* const* in, hg_buffer* const* out) {
  struct Lease {
    Executable& self;
    Frame frame;
    ~Lease() { self.give(std::move(frame)); }
  } lease{*this, take()};
  Frame& f = lease.frame;
  for (size_t i = 0; i < n_in_; ++i) wrap(f, i, *in[i]);
  for (size_t i = 0; i < n_out_; ++i) wrap(f, n_in_ + i, *out[i]);
  try {
    runtime_.run(session_, name_pointers_.data(), f.values.data(), n_in_,
                 name_pointers_.data() + n_in_, n_out_, f.values.data() + n_in_);
  } catch (const RuntimeFault& e) {
    explain(e.what());
  }
}

/// The runtime's text names the node: its label ends with # and the number of our site. Errors about indices are
/// put in our words; everything else is passed on.
void Executable::explain(const std::string& text) const {
  int64_t at = -1, index = 0;
  const bool has_site =
      number_after(text, "#", at) && at >= 0 && at < static_cast<int64_t>(sites_.size());
  if (!has_site) throw RuntimeFault(text);
  const Site& site = sites_[static_cast<size_t>(at)];
  const std::string where = site.name.empty() ? "" : " (node \"" + site.name + "\")";
  if (number_after(text, "idx=", index) || number_after(text, "indice = ", index)) {
    constexpr auto shift = static_cast<int64_t>(kIndexShift);
    if (index < -shift / 2) index += shift;
    throw IndexFault(site.prim + ": index " + std::to_string(index) + " is out of range for axis " +
                     std::to_string(site.axis) + " of size " + std::to_string(site.size) + "." +
                     where);
  }
  throw RuntimeFault(site.prim + where + ": " + text);
}

}  // namespace horngate::onnx
