// Executable: a compiled graph, that is, a session of ONNX Runtime, and what its runs need.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "horngate/engine.h"
#include "lower.h"
#include "runtime.h"

namespace horngate::onnx {

/// A fault in a run that is the caller's: an index out of range.
struct IndexFault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Executable {
 public:
  Executable(const Runtime& runtime, const hg_graph& graph);
  ~Executable();
  Executable(const Executable&) = delete;
  /// May be called from any number of threads at once.
  void run(const hg_buffer* const* in, hg_buffer* const* out);
  /// Its approximate size. The memory of runs is shared by all sessions.
  size_t bytes() const { return bytes_; }

 private:
  /// Tensors over the memory of the last run that used it. Variables usually stay where they are and need not be
  /// wrapped again.
  struct Frame {
    std::vector<OrtValue*> values;  // inputs, then outputs
    std::vector<const void*> data;
  };
  struct Type {
    int type;
    Ints dims;
  };
  Frame take();
  void give(Frame frame);
  void wrap(Frame& frame, size_t i, const hg_buffer& buffer) const;
  [[noreturn]] void explain(const std::string& text) const;

  const Runtime& runtime_;
  OrtSession* session_ = nullptr;
  size_t n_in_ = 0, n_out_ = 0, bytes_ = 0;
  std::vector<Type> types_;
  std::vector<std::string> names_;
  std::vector<const char*> name_pointers_;
  std::vector<Site> sites_;
  std::mutex mutex_;
  std::vector<Frame> frames_;
};

}  // namespace horngate::onnx
