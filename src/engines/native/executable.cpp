// Running a compiled graph.
#include "engines/native/executable.h"

#include "engines/native/fused/simd.h"
#include "engines/native/jit/interpreter.h"
#include "ir/check.h"
#include "ir/interrupt.h"
#include "ir/naming.h"
#include "ir/switches.h"
#include "passes/passes.h"

namespace horngate::native {

Executable::Executable(const Graph& graph)
    : n_inputs_(graph.inputs.size()),
      n_outputs_(graph.outputs.size()),
      stable_inputs_(graph.stable) {
  (void)fused::kernels();  // fails here if HORNGATE_SIMD names what this CPU lacks
  compile(graph);
  if (log_enabled("steps")) log_text("steps", describe());
}

Executable::~Executable() { delete spare_.load(); }

std::unique_ptr<Executable::Frame> Executable::take_frame() {
  if (Frame* spare = spare_.exchange(nullptr, std::memory_order_acquire))
    return std::unique_ptr<Frame>(spare);
  {
    std::lock_guard lock(frames_mutex_);
    if (frames_) {
      std::unique_ptr<Frame> frame = std::move(frames_);
      frames_ = std::move(frame->next);
      return frame;
    }
  }
  auto frame = std::make_unique<Frame>();
  frame->pointers.resize(n_pointers_);
  frame->sparse = std::vector<SparseBuffer>(n_sparse_);
  return frame;
}

void Executable::give_frame(std::unique_ptr<Frame> frame) {
  Frame* none = nullptr;
  if (spare_.compare_exchange_strong(none, frame.get(), std::memory_order_release,
                                     std::memory_order_relaxed)) {
    (void)frame.release();
    return;
  }
  std::lock_guard lock(frames_mutex_);
  frame->next = std::move(frames_);
  frames_ = std::move(frame);
}

void Executable::derive(const void* const* in, std::byte* derived, std::byte* arena,
                        RunContext& context) {
  run_steps(0, n_early_, in, nullptr, derived, arena, context);
}

void Executable::run(const void* const* in, void* const* out, const std::byte* derived,
                     std::byte* arena, RunContext& context) {
  run_steps(n_early_, steps_.size(), in, out, const_cast<std::byte*>(derived), arena, context);
}

void Executable::run_steps(size_t begin, size_t end, const void* const* in, void* const* out,
                           std::byte* derived, std::byte* arena, RunContext& context) {
  std::unique_ptr<Frame> frame = take_frame();
  void** pointers = frame->pointers.data();
  if (frame->arena != arena || frame->derived != derived || arena == nullptr) {
    const auto address = [&](Place place) -> void* {
      switch (place.kind) {
        case Place::constant: return constants_[place.at].raw();
        case Place::sparse: return frame->sparse[place.at].pointer();
        case Place::derived: return derived + place.at;
        default: return arena + place.at;
      }
    };
    for (const PointerSource& s : fixed_) pointers[s.pointer] = address(s.place);
    frame->arena = arena;
    frame->derived = derived;
  }
  for (const PointerSource& s : moving_)
    pointers[s.pointer] = s.place.kind == Place::input ? const_cast<void*>(in[s.place.at])
                          : out                        ? out[s.place.at]
                                                       : nullptr;
  struct GiveBack {
    Executable& exe;
    std::unique_ptr<Frame>& frame;
    ~GiveBack() { exe.give_frame(std::move(frame)); }
  } give_back{*this, frame};

  const bool is_checked = is_verified();
  const bool is_profiled = profile::on.load(std::memory_order_relaxed);
  for (size_t i = begin; i < end; ++i) {
    const Step& step = steps_[i];
    if (context.stopped && context.stopped(context.host)) stop_now();
    if (!is_profiled)
      run_step(step, pointers, arena, context);
    else
      profile::bar(step.name, step.node, step.work,
                   [&] { run_step(step, pointers, arena, context); });
    if (is_checked) [[unlikely]] {
      const std::string difference = jit::take_difference();
      invariant(difference.empty(), "step ", i, " (", step.name, "): ", difference);
    }
  }
}

inline void Executable::run_step(const Step& step, void** pointers, std::byte* arena,
                                 RunContext& context) {
  void** first = pointers + step.first;
  if (step.group) {
    step.group->run(first, first + step.n_in, arena + step.scratch);
  } else if (step.many) {
    step.many->run(first, first + step.n_in);
  } else {
    context.scratch = arena + step.scratch;
    run_kernel(step, first, context);
  }
}

/// Reports bad data (an index out of range) with the names that the user knows.
void Executable::run_kernel(const Step& step, void** pointers, RunContext& context) {
  naming_errors(step.node, step.has_bodies,
                [&] { step.kernel->run(pointers, pointers + step.n_in, context); });
}

std::string Executable::describe() const {
  std::string out;
  for (size_t i = 0; i < steps_.size(); ++i)
    out += text_of("step ", i, i < n_early_ ? " (once): " : ": ", steps_[i].name, "\n");
  return out + text_of("arena: ", arena_bytes_, " bytes, ", steps_.size(), " steps\n");
}

}  // namespace horngate::native
