// How sessions are set up: messages to TensorFlow in protocol buffer form.
#include "config.h"

namespace horngate::tf {
namespace {

/// Writes a message; fields by number.
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

// Set once, before the first session.
int threads = 0;
bool xla = false;

/// ConfigProto.
std::string config() {
  Message gpu, optimizer, rewrite, graph, all;
  gpu.text(1, "GPU").number(2, 0);
  // Our graphs are already simplified: TensorFlow's own optimizers would only cost time for each new
  // shape.
  optimizer.number(3, -1);  // opt_level = L0
  rewrite.number(19, 1);    // disable_meta_optimizer
  graph.text(3, optimizer.bytes).text(10, rewrite.bytes);
  all.text(1, gpu.bytes);                                      // device_count
  if (threads > 0) all.number(2, threads).number(5, threads);  // intra_op, inter_op
  all.text(10, graph.bytes);                                   // graph_options
  return all.bytes;
}

}  // namespace

void configure(int wanted_threads, bool wanted_xla) {
  threads = wanted_threads;
  xla = wanted_xla;
}

COptions* session_options() {
  static const auto* bytes = new std::string(config());
  Status status;
  COptions* options = api().NewSessionOptions();
  api().SetConfig(options, bytes->data(), bytes->size(), status);
  status.check("session options");
  return options;
}

const CBuffer& run_options() {
  // inter_op_thread_pool = -1: kernels start on the calling thread, but still use the pool inside.
  static const auto* bytes = new std::string(Message().number(3, -1).bytes);
  static const CBuffer buffer{bytes->data(), bytes->size(), nullptr};
  return buffer;
}

bool wants_xla() { return xla; }

const std::string& true_attribute() {
  static const auto* bytes = new std::string(Message().number(5, 1).bytes);
  return *bytes;
}

}  // namespace horngate::tf
