// Session: a lowered graph that TensorFlow runs.
#include "session.h"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>

#include "config.h"

namespace horngate::tf {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kSlow = std::chrono::milliseconds(50);  // runs that take longer are watched
constexpr auto kAsk = std::chrono::milliseconds(20);

bool is_stopped(const hg_run* run) { return run->stopped && run->stopped(run->ctx); }

[[noreturn]] void interrupted() {
  throw Error(HG_INTERRUPTED,
              "function: the call was interrupted; variables are as they were before it.");
}

void keep(void*, size_t, void*) {}

CTensor* checked(CTensor* t) {
  if (!t) throw Error(HG_RUNTIME_ERROR, "engine tensorflow: out of memory.");
  return t;
}

}  // namespace

Session::Session(const hg_graph& graph, bool may_stop) {
  Values placed(graph.n_in);
  add_inputs(graph, placed);
  if (may_stop && cost_of(graph) > kMuchWork) {
    graph_.use_stop(graph_.placeholder(kInt32, {}));
    feeds_.push_back(graph_.stop().out);
  }
  add_outputs(lower_graph(graph_, graph, placed));
  open();
}

Session::~Session() {
  if (!session_) return;
  Status status;
  api().CloseSession(session_, status);
  api().DeleteSession(session_, status);
}

/// Placeholders for the inputs that something reads.
void Session::add_inputs(const hg_graph& graph, Values& placed) {
  std::vector<uint8_t> used(graph.n_value, 0);
  for (uint32_t i = 0; i < graph.n_node; ++i)
    for (uint32_t k = 0; k < graph.node[i]->n_in; ++k) used[graph.node[i]->in[k]] = 1;
  for (uint32_t i = 0; i < graph.n_out; ++i) used[graph.out[i]] = 1;
  for (uint32_t i = 0; i < graph.n_in; ++i) {
    if (!used[graph.in[i]]) continue;
    const hg_type& t = *graph.value[graph.in[i]];
    placed[i] = graph_.placeholder(type_of(t.dtype), Node::dims_of(t));
    inputs_.push_back({i, placed[i].type, placed[i].dims});
    values_.push_back(placed[i]);
    feeds_.push_back(placed[i].out);
  }
}

/// TensorFlow does not fetch what is fed, nor anything twice.
void Session::add_outputs(const Values& outputs) {
  std::set<std::pair<COperation*, int>> taken;
  for (const COutput& f : feeds_) taken.insert({f.op, f.index});
  for (const Value& v : outputs) {
    const bool is_fresh = taken.insert({v.out.op, v.out.index}).second;
    results_.push_back(is_fresh ? v : graph_.identity(v));
    fetches_.push_back(results_.back().out);
  }
}

std::unique_ptr<Session> Session::with_xla(const Session& plain) {
  auto p = std::make_unique<Session>();
  const std::string name = fresh_name("xla");
  CFunction* f = plain.graph_.to_function(name, plain.values_, plain.results_);
  Status status;
  const std::string& yes = true_attribute();
  api().FunctionSetAttrValueProto(f, "_XlaMustCompile", yes.data(), yes.size(), status);
  p->graph_.add_function(f, plain.graph_);
  status.check("function");
  p->inputs_ = plain.inputs_;
  for (const Input& in : p->inputs_) {
    p->values_.push_back(p->graph_.placeholder(in.type, in.dims));
    p->feeds_.push_back(p->values_.back().out);
  }
  COperation* call = p->graph_.op("StatefulPartitionedCall")
                         .list(p->values_)
                         .types("Tin", p->values_)
                         .types("Tout", plain.results_)
                         .function("f", name)
                         .flag("_XlaMustCompile", true)
                         .finish();
  for (size_t i = 0; i < plain.results_.size(); ++i)
    p->fetches_.push_back({call, static_cast<int>(i)});
  p->open();
  return p;
}

void Session::open() {
  COptions* options = session_options();
  Status status;
  session_ = api().NewSession(graph_.get(), options, status);
  api().DeleteSessionOptions(options);
  status.check("session");
}

void Session::call(CTensor* const* feeds, CTensor** results, Status& status) const {
  const std::vector<COperation*>& checks = graph_.checks();
  api().SessionRun(session_, &run_options(), feeds_.data(), feeds, static_cast<int>(feeds_.size()),
                   fetches_.data(), results, static_cast<int>(fetches_.size()), checks.data(),
                   static_cast<int>(checks.size()), nullptr, status);
}

/// Reports an index out of range in the words of the other engines.
void Session::check(const Status& status) const {
  if (status.ok()) return;
  const std::string text = status.message();
  const size_t at = text.find("] = ");
  const Site* site = graph_.site_in(text);
  long long index, size;
  if (site && at != std::string::npos &&
      std::sscanf(text.c_str() + at, "] = %lld is not in [0, %lld)", &index, &size) == 2)
    throw Error(HG_INDEX_ERROR, site->prim + ": index " + std::to_string(index) +
                                    " is out of range for axis " + std::to_string(site->axis) +
                                    " of size " + std::to_string(size) + "." +
                                    (site->node.empty() ? "" : " (node \"" + site->node + "\")"));
  status.check("run");
}

void Session::run(CTensor** feeds, CTensor** results, const hg_run* run) {
  if (is_stopped(run)) interrupted();
  alignas(64) int32_t stop[16] = {};
  if (graph_.has_stop())
    feeds[inputs_.size()] =
        checked(api().NewTensor(kInt32, nullptr, 0, stop, sizeof(int32_t), keep, nullptr));
  const bool watch = graph_.has_stop() && run->stopped && is_slow_;
  const auto begin = Clock::now();
  Status status;
  if (watch)
    call_watched(feeds, results, status, stop[0], *run);
  else
    call(feeds, results, status);
  is_slow_.store(Clock::now() - begin > kSlow, std::memory_order_relaxed);
  if (stop[0]) interrupted();
  check(status);
}

/// A thread runs the graph while this one asks whether to stop. TensorFlow cannot be told to give up, but the
/// graph reads a number in our memory as it goes.
void Session::call_watched(CTensor* const* feeds, CTensor** results, Status& status, int32_t& stop,
                           const hg_run& run) const {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_done = false;
  std::thread worker([&] {
    call(feeds, results, status);
    std::lock_guard lock(mutex);
    is_done = true;
    changed.notify_one();
  });
  bool has_stopped = false;
  {
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, kAsk, [&] { return is_done; })) {
      if (has_stopped) continue;
      lock.unlock();
      has_stopped = is_stopped(&run);
      if (has_stopped) std::atomic_ref(stop).store(1);
      lock.lock();
    }
  }
  worker.join();
}

namespace {

/// Tensors of one run.
class Tensors {
 public:
  explicit Tensors(size_t n) : all_(n, nullptr) {}
  ~Tensors() {
    for (CTensor* t : all_)
      if (t) api().DeleteTensor(t);
  }
  Tensors(const Tensors&) = delete;
  CTensor*& operator[](size_t i) { return all_[i]; }
  CTensor** data() { return all_.data(); }

 private:
  std::vector<CTensor*> all_;
};

alignas(64) char nothing[64];  // memory of arrays without elements

void release(void* tensor) { api().DeleteTensor(static_cast<CTensor*>(tensor)); }

/// Hands over a result. Memory that something else refers to (a feed, a constant, another result) is copied.
void give(CTensor*& t, hg_buffer& to) {
  if (!api().TensorMaybeMove(t)) {
    CTensor* own = checked(
        api().AllocateTensor(type_of(to.type->dtype), to.type->dims, to.type->rank, to.bytes));
    if (to.bytes) std::memcpy(api().TensorData(own), api().TensorData(t), to.bytes);
    api().DeleteTensor(t);
    t = own;
  }
  to.data = to.bytes ? api().TensorData(t) : nothing;
  to.owner = t;
  to.release = release;
  t = nullptr;
}

}  // namespace

Executable::Executable(const hg_graph& graph) : plain_(graph, true) {
  if (!wants_xla()) return;
  xla_ = Session::with_xla(Session(graph, false));
  use_xla_ = true;
}

void Executable::call(CTensor** feeds, CTensor** results, const hg_run* run) {
  if (use_xla_.load(std::memory_order_relaxed)) {
    try {
      xla_->run(feeds, results, run);
      return;
    } catch (const Error& e) {
      if (e.code == HG_INTERRUPTED) throw;
      use_xla_ = false;  // XLA cannot compile everything that TensorFlow runs
    }
  }
  plain_.run(feeds, results, run);
}

void Executable::run(const hg_buffer* const* in, hg_buffer* const* out, const hg_run* run) {
  const std::vector<Session::Input>& inputs = plain_.inputs();
  Tensors feeds(plain_.n_feeds()), results(plain_.n_outputs());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Session::Input& f = inputs[i];
    const hg_buffer& b = *in[f.number];
    feeds[i] = checked(api().NewTensor(f.type, b.type->dims, b.type->rank,
                                       b.bytes ? b.data : nothing, b.bytes, keep, nullptr));
  }
  call(feeds.data(), results.data(), run);
  for (size_t i = 0; i < plain_.n_outputs(); ++i)
    if (api().TensorByteSize(results[i]) != out[i]->bytes)
      throw Error(HG_RUNTIME_ERROR, "engine tensorflow: a result does not have the planned size.");
  for (size_t i = 0; i < plain_.n_outputs(); ++i) {
    if (!out[i]->data)
      give(results[i], *out[i]);
    else if (out[i]->bytes)
      std::memcpy(out[i]->data, api().TensorData(results[i]), out[i]->bytes);
  }
}

}  // namespace horngate::tf
