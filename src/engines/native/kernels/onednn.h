// oneDNN as our kernels use it: one engine, one thread per call, memory objects that runs do not
// share.
#pragma once

#include <memory>
#include <vector>

#include "engines/native/kernel.h"
#include "engines/native/kernels/onednn_calls.h"
#include "ir/fork.h"

namespace horngate::native::onednn {

/// While it lives, this thread's oneDNN calls stay on this thread. GNU OpenMP keeps the number per
/// thread; the old one is restored because the thread may be the user's, with OpenMP code of its
/// own. Forks wait, since oneDNN has locks.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  const ForkHold hold_;
  int before_;
};

const dnnl::engine& engine();

/// Attributes of every primitive we make: scratch comes from the caller.
dnnl::primitive_attr user_scratchpad();

/// f32 memory with these strides.
dnnl::memory::desc strided(const dnnl::memory::dims& dims, const dnnl::memory::dims& strides);
/// f32 memory in the order that the primitive prefers.
dnnl::memory::desc any_order(const dnnl::memory::dims& dims);

/// A primitive and the memory it takes, in the order in which run() gets the pointers.
class Op {
 public:
  struct Arg {
    int id;
    dnnl::memory::desc desc;
  };
  Op() = default;
  Op(dnnl::primitive primitive, std::vector<Arg> args, const dnnl::memory::desc& scratchpad);
  size_t scratch_bytes() const { return scratch_bytes_; }
  const dnnl::primitive& primitive() const { return primitive_; }
  const std::vector<Arg>& args() const { return args_; }
  bool defined() const { return !args_.empty(); }

 private:
  dnnl::primitive primitive_;
  std::vector<Arg> args_;  // the scratchpad last
  size_t scratch_bytes_ = 0;
};

/// Copies between two layouts of the same tensor. Undefined if the layouts are equal.
Op make_reorder(const dnnl::memory::desc& from, const dnnl::memory::desc& to);

/// The memory objects of some ops. They hold pointers while an op runs, so each run leases its own
/// frame.
class Frame {
 public:
  explicit Frame(const std::vector<const Op*>& ops);
  /// Runs op number i on these pointers (those of its args). Needs OneThread. False if oneDNN
  /// failed.
  bool run(size_t i, std::initializer_list<const void*> pointers, void* scratch);

 private:
  struct Bound {
    const_dnnl_primitive_t primitive = nullptr;
    std::vector<dnnl::memory> memories;
    std::vector<dnnl_exec_arg_t> args;
  };
  std::vector<Bound> bound_;
  dnnl::stream stream_;
};

/// Frames for one kernel: as many as there have been runs and workers at the same time.
class Frames {
 public:
  /// The ops must outlive this. `ready` frames are made immediately.
  void prepare(std::vector<const Op*> ops, int64_t ready);
  std::unique_ptr<Frame> take();
  void give_back(std::unique_ptr<Frame> frame);

 private:
  std::vector<const Op*> ops_;
  LeafMutex mutex_;
  std::vector<std::unique_ptr<Frame>> free_;
};

class Lease {
 public:
  explicit Lease(Frames& frames) : frames_(frames), frame_(frames.take()) {}
  ~Lease() { frames_.give_back(std::move(frame_)); }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  Frame* operator->() { return frame_.get(); }

 private:
  OneThread one_thread_;
  Frames& frames_;
  std::unique_ptr<Frame> frame_;
};

}  // namespace horngate::native::onednn
