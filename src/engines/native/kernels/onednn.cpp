// oneDNN as our kernels use it.
#include "engines/native/kernels/onednn.h"

// From GNU OpenMP, which oneDNN is linked with. We compile nothing with -fopenmp ourselves.
extern "C" {
void omp_set_num_threads(int) noexcept;
int omp_get_max_threads() noexcept;
}

namespace horngate::native::onednn {

OneThread::OneThread() : before_(omp_get_max_threads()) {
  if (before_ != 1) omp_set_num_threads(1);
}
OneThread::~OneThread() {
  if (before_ != 1) omp_set_num_threads(before_);
}

const LateLibrary& library() {
  static const LateLibrary kLibrary("oneDNN", HORNGATE_DNNL_FILE);
  return kLibrary;
}

const dnnl::engine& engine() {
  // Never destroyed: kernels in the user's static objects may outlive our statics.
  static const dnnl::engine* const kEngine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *kEngine;
}

dnnl::primitive_attr user_scratchpad() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

dnnl::memory::desc strided(const dnnl::memory::dims& dims, const dnnl::memory::dims& strides) {
  return {dims, dnnl::memory::data_type::f32, strides};
}
dnnl::memory::desc any_order(const dnnl::memory::dims& dims) {
  return {dims, dnnl::memory::data_type::f32, dnnl::memory::format_tag::any};
}

Op::Op(dnnl::primitive primitive, std::vector<Arg> args, const dnnl::memory::desc& scratchpad)
    : primitive_(std::move(primitive)),
      args_(std::move(args)),
      scratch_bytes_(scratchpad.get_size()) {
  args_.push_back({DNNL_ARG_SCRATCHPAD, scratchpad});
}

Op make_reorder(const dnnl::memory::desc& from, const dnnl::memory::desc& to) {
  if (from == to) return {};
  const dnnl::reorder::primitive_desc pd(engine(), from, engine(), to, user_scratchpad());
  return Op(dnnl::reorder(pd), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}, pd.scratchpad_desc());
}

Frame::Frame(const std::vector<const Op*>& ops) : bound_(ops.size()), stream_(engine()) {
  for (size_t i = 0; i < ops.size(); ++i) {
    if (!ops[i]->defined()) continue;
    bound_[i].primitive = ops[i]->primitive().get();
    for (const Op::Arg& arg : ops[i]->args()) {
      bound_[i].memories.emplace_back(arg.desc, engine(), static_cast<void*>(nullptr));
      bound_[i].args.push_back({arg.id, bound_[i].memories.back().get()});
    }
  }
}

bool Frame::run(size_t i, std::initializer_list<const void*> pointers, void* scratch) {
  Bound& bound = bound_[i];
  size_t n = 0;
  // oneDNN takes all memory as mutable, but writes only to what the primitive calls its results.
  for (const void* p : pointers)
    dnnl_memory_set_data_handle(bound.args[n++].memory, const_cast<void*>(p));
  dnnl_memory_set_data_handle(bound.args[n].memory, scratch);
  return dnnl_primitive_execute(bound.primitive, stream_.get(), static_cast<int>(bound.args.size()),
                                bound.args.data()) == dnnl_success;
}

void Frames::prepare(std::vector<const Op*> ops, int64_t ready) {
  ops_ = std::move(ops);
  free_.reserve(64);  // so that giving back does not allocate
  for (int64_t i = 0; i < ready; ++i) free_.push_back(std::make_unique<Frame>(ops_));
}

std::unique_ptr<Frame> Frames::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      std::unique_ptr<Frame> frame = std::move(free_.back());
      free_.pop_back();
      return frame;
    }
  }
  return std::make_unique<Frame>(ops_);
}

void Frames::give_back(std::unique_ptr<Frame> frame) {
  const std::lock_guard lock(mutex_);
  if (free_.size() < free_.capacity()) free_.push_back(std::move(frame));  // needs no memory
}

}  // namespace horngate::native::onednn
