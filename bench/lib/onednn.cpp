// oneDNN called directly.
#include "oneapi/dnnl/dnnl.hpp"

#include <omp.h>

#include "lib/direct.h"

namespace horngate::bench {
namespace {

using dnnl::memory;

/// oneDNN's threads are those of OpenMP, whose number belongs to the calling thread.
class OmpThreads {
 public:
  explicit OmpThreads(int n) : before_(omp_get_max_threads()) { omp_set_num_threads(n); }
  ~OmpThreads() { omp_set_num_threads(before_); }
  OmpThreads(const OmpThreads&) = delete;
  OmpThreads& operator=(const OmpThreads&) = delete;

 private:
  int before_;
};

memory::desc plain(const memory::dims& dims, memory::format_tag tag) {
  return {dims, memory::data_type::f32, tag};
}

/// oneDNN takes all memory as mutable; sources are only read.
memory over(const memory::desc& desc, const dnnl::engine& engine, const float* data) {
  return {desc, engine, const_cast<float*>(data)};
}

}  // namespace

void onednn_matmul(int64_t n, const float* a, const float* b, float* c, int threads) {
  const OmpThreads scope(threads);
  dnnl_sgemm('N', 'N', n, n, n, 1.0f, a, n, b, n, 0.0f, c, n);
}

struct OnednnConv::Parts {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  memory x, w, y, packed;
  dnnl::convolution_forward conv;
  dnnl::reorder reorder;
  int threads = 1;
};

OnednnConv::OnednnConv(const ConvSizes& s, const float* x, const float* w, float* y, int threads)
    : parts_(std::make_unique<Parts>()) {
  using tag = memory::format_tag;
  Parts& p = *parts_;
  p.threads = threads;
  const OmpThreads scope(threads);  // the primitive is made for that many
  const memory::desc xs = plain({s.images, s.channels, s.side, s.side}, tag::nhwc);
  const memory::desc ys = plain({s.images, s.filters, s.side, s.side}, tag::nhwc);
  const memory::dims w_dims{s.filters, s.channels, s.taps, s.taps};
  const memory::dims step{1, 1}, low{(s.taps - 1) / 2, (s.taps - 1) / 2},
      high{s.taps / 2, s.taps / 2};
  const dnnl::convolution_forward::primitive_desc pd(p.engine, dnnl::prop_kind::forward_inference,
                                                     dnnl::algorithm::convolution_direct, xs,
                                                     plain(w_dims, tag::any), ys, step, low, high);
  p.x = over(xs, p.engine, x);
  p.w = over(plain(w_dims, tag::hwio), p.engine, w);
  p.y = over(ys, p.engine, y);
  p.packed = memory(pd.weights_desc(), p.engine);
  p.conv = dnnl::convolution_forward(pd);
  p.reorder = dnnl::reorder(p.w, p.packed);
  pack();
}

OnednnConv::~OnednnConv() = default;

void OnednnConv::pack() {
  const OmpThreads scope(parts_->threads);
  parts_->reorder.execute(parts_->stream, parts_->w, parts_->packed);
  parts_->stream.wait();
}

void OnednnConv::run() {
  Parts& p = *parts_;
  const OmpThreads scope(p.threads);
  p.conv.execute(p.stream,
                 {{DNNL_ARG_SRC, p.x}, {DNNL_ARG_WEIGHTS, p.packed}, {DNNL_ARG_DST, p.y}});
  p.stream.wait();
}

}  // namespace horngate::bench
