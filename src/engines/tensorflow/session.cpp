// Session: a lowered graph that TensorFlow runs.
#include "session.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

namespace horngate::tf {
namespace {

/// Writes a message in protocol buffer form; fields by number.
struct Message {
  std::string bytes;

  Message& varint(uint64_t v) {
    for (; v >= 0x80; v >>= 7) bytes.push_back(static_cast<char>(v | 0x80));
    bytes.push_back(static_cast<char>(v));
    return *this;
  }
  Message& number(int field, int64_t v) {
    return varint(static_cast<uint64_t>(field) << 3).varint(static_cast<uint64_t>(v));
  }
  Message& text(int field, const std::string& v) {
    varint(static_cast<uint64_t>(field) << 3 | 2).varint(v.size());
    bytes += v;
    return *this;
  }
};

int threads() {
  const char* text = std::getenv("HORNGATE_NUM_THREADS");
  const int n = text ? std::atoi(text) : 0;
  return n > 0 ? n : 0;  // 0: TensorFlow takes one per CPU
}

/// ConfigProto of all sessions.
std::string config() {
  Message gpu, optimizer, rewrite, graph, all;
  gpu.text(1, "GPU").number(2, 0);
  // Our graphs come simplified; TensorFlow's own optimizers would only cost time for each new shape.
  optimizer.number(3, -1);  // opt_level = L0
  rewrite.number(19, 1);    // disable_meta_optimizer
  graph.text(3, optimizer.bytes).text(10, rewrite.bytes);
  all.text(1, gpu.bytes);                                      // device_count
  if (const int n = threads()) all.number(2, n).number(5, n);  // intra_op, inter_op
  all.text(10, graph.bytes);                                   // graph_options
  return all.bytes;
}

/// RunOptions: kernels start on the calling thread; they still use the pool inside.
const CBuffer& run_options() {
  static const auto* bytes = new std::string(Message().number(3, -1).bytes);
  static const CBuffer buffer{bytes->data(), bytes->size(), nullptr};
  return buffer;
}

void keep(void*, size_t, void*) {}
void release(void* tensor) { api().DeleteTensor(static_cast<CTensor*>(tensor)); }

/// An index that is out of range, in the words of the other engines; else nothing.
void check_index(const std::string& text) {
  const size_t at = text.find("] = ");
  const size_t node = text.find("gather_axis"), other = text.find("scatter_axis");
  if (at == std::string::npos || (node == std::string::npos && other == std::string::npos)) return;
  long long index, size, axis;
  if (std::sscanf(text.c_str() + at, "] = %lld is not in [0, %lld)", &index, &size) != 2) return;
  const bool is_gather = node != std::string::npos;
  axis = std::atoll(text.c_str() + (is_gather ? node + 11 : other + 12));
  throw Error(HG_INDEX_ERROR, std::string(is_gather ? "gather" : "scatter_add") + ": index " +
                                  std::to_string(index) + " is out of range for axis " +
                                  std::to_string(axis) + " of size " + std::to_string(size) + ".");
}

}  // namespace

Executable::Executable(const hg_graph& graph) {
  std::vector<uint8_t> used(graph.n_value, 0);
  for (uint32_t i = 0; i < graph.n_node; ++i)
    for (uint32_t k = 0; k < graph.node[i].n_in; ++k) used[graph.node[i].in[k]] = 1;
  for (uint32_t i = 0; i < graph.n_out; ++i) used[graph.out[i]] = 1;
  Values inputs(graph.n_in);
  for (uint32_t i = 0; i < graph.n_in; ++i) {
    if (!used[graph.in[i]]) continue;
    const hg_type& t = graph.value[graph.in[i]];
    inputs[i] = graph_.placeholder(type_of(t.dtype), Node::dims_of(t));
    feeds_.push_back({i, inputs[i].type, inputs[i].dims});
    feed_outputs_.push_back(inputs[i].out);
  }
  // TensorFlow fetches nothing that is fed, and nothing twice.
  std::set<std::pair<COperation*, int>> taken;
  for (const COutput& f : feed_outputs_) taken.insert({f.op, f.index});
  for (const Value& v : lower_graph(graph_, graph, inputs)) {
    const bool fresh = taken.insert({v.out.op, v.out.index}).second;
    fetches_.push_back(fresh ? v.out : graph_.identity(v).out);
  }
  make_session();
}

void Executable::make_session() {
  static const auto* bytes = new std::string(config());
  Status status;
  COptions* options = api().NewSessionOptions();
  api().SetConfig(options, bytes->data(), bytes->size(), status);
  if (status.ok()) session_ = api().NewSession(graph_.get(), options, status);
  api().DeleteSessionOptions(options);
  status.check("session");
}

Executable::~Executable() {
  if (!session_) return;
  Status status;
  api().CloseSession(session_, status);
  api().DeleteSession(session_, status);
}

void Executable::call(CTensor* const* feeds, CTensor** results) {
  Status status;
  api().SessionRun(session_, &run_options(), feed_outputs_.data(), feeds,
                   static_cast<int>(feed_outputs_.size()), fetches_.data(), results,
                   static_cast<int>(fetches_.size()), nullptr, 0, nullptr, status);
  if (status.ok()) return;
  check_index(api().Message(status));
  status.check("run");
}

void Executable::run(const hg_buffer* in, hg_buffer* out, const hg_run* run) {
  if (run && run->stopped && run->stopped(run->ctx))
    throw Error(HG_INTERRUPTED, "function: the call was interrupted.");
  struct Tensors {
    std::vector<CTensor*> all;
    explicit Tensors(size_t n) : all(n, nullptr) {}
    ~Tensors() {
      for (CTensor* t : all)
        if (t) api().DeleteTensor(t);
    }
  } feeds(feeds_.size()), results(fetches_.size());
  alignas(64) static char nothing[64];
  for (size_t i = 0; i < feeds_.size(); ++i) {
    const Feed& f = feeds_[i];
    const hg_buffer& b = in[f.input];
    feeds.all[i] = api().NewTensor(f.type, f.dims.data(), static_cast<int>(f.dims.size()),
                                   b.bytes ? b.data : nothing, b.bytes, keep, nullptr);
    if (!feeds.all[i]) throw Error(HG_RUNTIME_ERROR, "engine tensorflow: out of memory.");
  }
  call(feeds.all.data(), results.all.data());
  for (size_t i = 0; i < fetches_.size(); ++i) {
    CTensor*& t = results.all[i];
    hg_buffer& b = out[i];
    if (api().TensorByteSize(t) != b.bytes)
      throw Error(HG_RUNTIME_ERROR, "engine tensorflow: a result has another size than planned.");
    if (!b.data) {
      // Memory that something else refers to (a feed, a constant, another result) is not given away.
      if (!api().TensorMaybeMove(t)) {
        const Feed as{0, type_of(b.type.dtype), Node::dims_of(b.type)};
        CTensor* own = api().AllocateTensor(as.type, as.dims.data(), b.type.rank, b.bytes);
        if (!own) throw Error(HG_RUNTIME_ERROR, "engine tensorflow: out of memory.");
        if (b.bytes) std::memcpy(api().TensorData(own), api().TensorData(t), b.bytes);
        api().DeleteTensor(t);
        t = own;
      }
      b.data = b.bytes ? api().TensorData(t) : nothing;
      b.owner = t;
      b.release = release;
      t = nullptr;
    } else if (b.bytes) {
      std::memcpy(b.data, api().TensorData(t), b.bytes);
    }
  }
}

}  // namespace horngate::tf
