// float32 convolutions by oneDNN, on plain channels-last data and weights in oneDNN's own order.
// channels_first data goes through channels-last copies in scratch: measured on Zen 4 (32 images of
// 56 x 56, 3x3, 64 channels), that takes 72 ms, and oneDNN on channels_first data 104 ms.
#include <atomic>
#include <cstring>

#include "engines/native/kernels/conv_shape.h"
#include "engines/native/kernels/onednn.h"
#include "engines/native/kernels/workers.h"

namespace horngate::native {
namespace {

using dnnl::memory;
using onednn::Op;

memory::dims spatial(const ConvShape& s, const ConvShape::Axes& axes) {
  return memory::dims(axes.begin() + (s.rank == 3 ? 0 : 1), axes.end());
}

memory::dims data_dims(const ConvShape& s, int64_t channels, const ConvShape::Axes& axes) {
  memory::dims dims = spatial(s, axes);
  dims.insert(dims.begin(), {s.n, channels});
  return dims;
}

/// Channels-last, dense.
memory::desc data_desc(const ConvShape& s, int64_t channels, const ConvShape::Axes& axes) {
  const memory::dims dims = data_dims(s, channels, axes);
  memory::dims strides(dims.size());
  int64_t stride = channels;
  for (size_t i = dims.size(); i-- > 2;) {
    strides[i] = stride;
    stride *= dims[i];
  }
  strides[1] = 1;
  strides[0] = stride;
  return onednn::strided(dims, strides);
}

/// Channels-first: some rows of planes with `plane` elements each.
memory::desc planes_desc(const ConvShape& s, int64_t channels, const ConvShape::Axes& axes,
                         int64_t plane) {
  const memory::dims dims = data_dims(s, channels, axes);
  memory::dims strides(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 2;) {
    strides[i] = stride;
    stride *= dims[i];
  }
  strides[1] = plane;
  strides[0] = plane * channels;
  return onednn::strided(dims, strides);
}

memory::dims weight_dims(const ConvShape& s) {
  memory::dims dims = spatial(s, s.taps);
  dims.insert(dims.begin(), {s.o_per_group(), s.c_per_group()});
  if (s.groups > 1) dims.insert(dims.begin(), s.groups);
  return dims;
}

/// Our order of weights: (taps.., c / groups, o).
memory::desc weight_desc(const ConvShape& s) {
  const memory::dims dims = weight_dims(s);
  memory::dims strides(dims.size());
  const size_t lead = s.groups > 1 ? 3 : 2;
  int64_t stride = s.c_per_group() * s.o;
  for (size_t i = dims.size(); i-- > lead;) {
    strides[i] = stride;
    stride *= dims[i];
  }
  strides[lead - 1] = s.o;
  strides[lead - 2] = 1;
  if (s.groups > 1) strides[0] = s.o_per_group();
  return onednn::strided(dims, strides);
}

/// The primitive for one shape of piece.
struct Variant {
  Op conv, stage_x, stage_y;  // stages only with channels_first
  memory::desc weights;
  size_t pack = 0;
  size_t x_bytes = 0, y_bytes = 0;
};

struct PadsAndSteps {
  memory::dims stride, dilation, low, high;
  explicit PadsAndSteps(const ConvShape& s)
      : stride(spatial(s, s.stride)),
        dilation(spatial(s, s.dilation)),
        low(spatial(s, s.low)),
        high(spatial(s, s.high)) {
    for (auto& d : dilation) --d;  // oneDNN counts the elements left out
  }
};

template <class Desc>
void reject_reference(const Desc& pd) {
  // "ref" implementations are orders of magnitude slower than our own.
  if (std::strstr(pd.impl_info_str(), "ref"))
    throw dnnl::error(dnnl_unimplemented, "reference only");
}

Variant make_variant(const ConvShape& s, ConvResult result, const memory::desc& weights) {
  const memory::desc x = data_desc(s, s.c, s.in), y = data_desc(s, s.o, s.out);
  const PadsAndSteps p(s);
  const auto direct = dnnl::algorithm::convolution_direct;
  const auto attr = onednn::user_scratchpad();
  const dnnl::convolution_forward::primitive_desc fwd(
      onednn::engine(), dnnl::prop_kind::forward_training, direct, x,
      result == ConvResult::y ? weights : onednn::any_order(weight_dims(s)), y, p.stride,
      p.dilation, p.low, p.high, attr);
  Variant v;
  if (result == ConvResult::y) {
    reject_reference(fwd);
    v.weights = fwd.weights_desc();
    v.conv = Op(dnnl::convolution_forward(fwd),
                {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, v.weights}, {DNNL_ARG_DST, y}},
                fwd.scratchpad_desc());
  } else if (result == ConvResult::dx) {
    const dnnl::convolution_backward_data::primitive_desc pd(
        onednn::engine(), direct, x, weights, y, p.stride, p.dilation, p.low, p.high, fwd, attr);
    reject_reference(pd);
    v.weights = pd.weights_desc();
    v.conv = Op(dnnl::convolution_backward_data(pd),
                {{DNNL_ARG_DIFF_SRC, x}, {DNNL_ARG_WEIGHTS, v.weights}, {DNNL_ARG_DIFF_DST, y}},
                pd.scratchpad_desc());
  } else {
    const dnnl::convolution_backward_weights::primitive_desc pd(
        onednn::engine(), direct, x, weights, y, p.stride, p.dilation, p.low, p.high, fwd, attr);
    reject_reference(pd);
    v.weights = pd.diff_weights_desc();
    v.conv = Op(dnnl::convolution_backward_weights(pd),
                {{DNNL_ARG_SRC, x}, {DNNL_ARG_DIFF_WEIGHTS, v.weights}, {DNNL_ARG_DIFF_DST, y}},
                pd.scratchpad_desc());
  }
  return v;
}

/// Copies between the user's channels_first data and channels-last scratch.
void add_stages(const ConvShape& whole, const ConvShape& s, ConvResult result, Variant& v) {
  const auto stage = [&](int64_t channels, const ConvShape::Axes& axes, int64_t plane,
                         bool is_result, size_t* bytes) {
    if (!s.channels_first || channels == 1 || plane == 1) return Op();
    const memory::desc outside = planes_desc(s, channels, axes, plane);
    const memory::desc inside = data_desc(s, channels, axes);
    *bytes = aligned_bytes(inside.get_size());
    return is_result ? onednn::make_reorder(inside, outside)
                     : onednn::make_reorder(outside, inside);
  };
  v.stage_x = stage(s.c, s.in, whole.in_size(), result == ConvResult::dx, &v.x_bytes);
  v.stage_y = stage(s.o, s.out, whole.out_size(), result == ConvResult::y, &v.y_bytes);
  // Equal layouts (a plane with one column, say) need no copy.
  if (!v.stage_x.defined()) v.x_bytes = 0;
  if (!v.stage_y.defined()) v.y_bytes = 0;
}

class OnednnConv final : public Kernel {
 public:
  OnednnConv(const ConvShape& shape, ConvResult result, ConvPieces cut);

  size_t scratch_bytes() const override {
    return slots_offset_ + slot_bytes_ * static_cast<size_t>(slots_);
  }
  void run(const void* const* in, void* const* out, RunContext& context) override;

  /// Weights that do not change are put into oneDNN's order once.
  size_t packed_bytes(size_t operand) const override {
    return operand == 1 && result_ != ConvResult::dw ? pack_bytes_ : 0;
  }
  void pack(size_t, const void* from, void* to, void* scratch) override {
    const bool ok = pack_weights(static_cast<const float*>(from), static_cast<char*>(to),
                                 static_cast<char*>(scratch) + slots_offset_);
    invariant(ok, "oneDNN could not pack the weights of a convolution");
  }
  void use_packed(size_t) override { is_packed_ = true; }

 private:
  /// Weights in one of the orders that the variants want.
  struct Pack {
    memory::desc desc;
    Op reorder;         // y, dx: from our order; dw: back to it
    size_t offset = 0;  // in scratch
  };
  enum Part : size_t { kConv, kStageX, kStageY, kParts };

  void add_pack(Variant& v);
  void lay_out_scratch();
  bool pack_weights(const float* w, char* to, char* scratch);
  bool run_pieces(const float* x, const float* w, const char* packed, const float* y,
                  char* scratch);
  bool run_piece(const ConvPiece& piece, const float* x, const float* w, const float* y, char* slot,
                 char* slot_scratch);
  bool finish_weights(float* dw, char* scratch);

  ConvShape shape_;
  ConvResult result_;
  ConvPieces cut_;
  std::vector<Variant> variants_;
  std::vector<Pack> packs_;
  size_t partial_bytes_ = 0;  // dw: one result of a piece
  size_t pack_bytes_ = 0;     // of all packs
  bool is_packed_ = false;    // the weights come in that order
  size_t slots_offset_ = 0, slot_bytes_ = 0, x_stage_bytes_ = 0, y_stage_bytes_ = 0;
  int64_t slots_ = 1;
  onednn::Frames frames_;
};

OnednnConv::OnednnConv(const ConvShape& shape, ConvResult result, ConvPieces cut)
    : shape_(shape), result_(result), cut_(std::move(cut)) {
  for (const ConvShape& s : cut_.shapes) {
    // For dw all variants need the same order, since partial sums are added; for the others it
    // would only save packing.
    const bool follow = result == ConvResult::dw && !variants_.empty();
    variants_.push_back(
        make_variant(s, result, follow ? variants_[0].weights : onednn::any_order(weight_dims(s))));
    add_stages(shape_, s, result, variants_.back());
    add_pack(variants_.back());
  }
  slots_ = slots_for(static_cast<int64_t>(cut_.pieces.size()));
  lay_out_scratch();
  std::vector<const Op*> ops;
  for (const Variant& v : variants_) ops.insert(ops.end(), {&v.conv, &v.stage_x, &v.stage_y});
  for (const Pack& p : packs_) ops.push_back(&p.reorder);
  frames_.prepare(std::move(ops), slots_);
}

void OnednnConv::add_pack(Variant& v) {
  for (v.pack = 0; v.pack < packs_.size(); ++v.pack)
    if (packs_[v.pack].desc == v.weights) return;
  const memory::desc ours = weight_desc(shape_);
  Pack pack{v.weights, {}, 0};
  pack.reorder = result_ == ConvResult::dw ? onednn::make_reorder(v.weights, ours)
                                           : onednn::make_reorder(ours, v.weights);
  packs_.push_back(std::move(pack));
}

void OnednnConv::lay_out_scratch() {
  size_t offset = 0, op_bytes = 0;
  for (Pack& pack : packs_) {
    pack.offset = offset;
    const size_t bytes = aligned_bytes(pack.desc.get_size());
    if (result_ == ConvResult::dw) {
      partial_bytes_ = bytes;
      offset += bytes * cut_.pieces.size();
    } else if (pack.reorder.defined()) {
      offset += bytes;
    }
    op_bytes = std::max(op_bytes, pack.reorder.scratch_bytes());
  }
  slots_offset_ = offset;
  if (result_ != ConvResult::dw) pack_bytes_ = offset;
  for (const Variant& v : variants_) {
    x_stage_bytes_ = std::max(x_stage_bytes_, v.x_bytes);
    y_stage_bytes_ = std::max(y_stage_bytes_, v.y_bytes);
    for (const Op* op : {&v.conv, &v.stage_x, &v.stage_y})
      op_bytes = std::max(op_bytes, op->scratch_bytes());
  }
  slot_bytes_ = x_stage_bytes_ + y_stage_bytes_ + aligned_bytes(op_bytes);
}

bool OnednnConv::pack_weights(const float* w, char* to, char* scratch) {
  bool ok = true;
  onednn::Lease frame(frames_);
  for (size_t i = 0; i < packs_.size(); ++i)
    if (packs_[i].reorder.defined())
      ok = ok && frame->run(variants_.size() * kParts + i, {w, to + packs_[i].offset}, scratch);
  return ok;
}

bool OnednnConv::run_piece(const ConvPiece& piece, const float* x, const float* w, const float* y,
                           char* slot, char* slot_scratch) {
  const Variant& v = variants_[piece.shape];
  const ConvShape& s = shape_;
  const size_t op = piece.shape * kParts;
  const int axis = 3 - s.rank;
  // An image starts at a multiple of its size, a row in it at a multiple of what follows its axis;
  // with channels_first that holds within the first plane.
  const auto offset = [&](int64_t channels, const ConvShape::Axes& axes, int64_t row) {
    int64_t row_size = s.channels_first ? 1 : channels, image_size = channels;
    for (int i = axis; i < 3; ++i) image_size *= axes[i];
    for (int i = axis + 1; i < 3; ++i) row_size *= axes[i];
    return piece.image * image_size + row * row_size;
  };
  const float* x_outside = x + offset(s.c, s.in, piece.x_row);
  const float* y_outside = y + offset(s.o, s.out, piece.y_row);
  const void* x_inside = v.stage_x.defined() ? static_cast<const void*>(slot) : x_outside;
  const void* y_inside =
      v.stage_y.defined() ? static_cast<const void*>(slot + x_stage_bytes_) : y_outside;

  onednn::Lease frame(frames_);
  bool ok = true;
  if (v.stage_x.defined() && result_ != ConvResult::dx)
    ok = ok && frame->run(op + kStageX, {x_outside, x_inside}, slot_scratch);
  if (v.stage_y.defined() && result_ != ConvResult::y)
    ok = ok && frame->run(op + kStageY, {y_outside, y_inside}, slot_scratch);
  ok = ok && frame->run(op + kConv, {x_inside, w, y_inside}, slot_scratch);
  if (v.stage_x.defined() && result_ == ConvResult::dx)
    ok = ok && frame->run(op + kStageX, {x_inside, x_outside}, slot_scratch);
  if (v.stage_y.defined() && result_ == ConvResult::y)
    ok = ok && frame->run(op + kStageY, {y_inside, y_outside}, slot_scratch);
  return ok;
}

bool OnednnConv::run_pieces(const float* x, const float* w, const char* packed, const float* y,
                            char* scratch) {
  std::atomic<bool> ok{true};
  for_units(static_cast<int64_t>(cut_.pieces.size()), slots_,
            [&](int64_t slot_index, int64_t unit) {
              char* slot = scratch + slots_offset_ + slot_bytes_ * static_cast<size_t>(slot_index);
              const ConvPiece& piece = cut_.pieces[static_cast<size_t>(unit)];
              const Pack& pack = packs_[variants_[piece.shape].pack];
              const void* weights = w;
              if (result_ == ConvResult::dw)
                weights = scratch + partial_bytes_ * static_cast<size_t>(unit);
              else if (pack.reorder.defined())
                weights = packed + pack.offset;
              if (!run_piece(piece, x, static_cast<const float*>(weights), y, slot,
                             slot + x_stage_bytes_ + y_stage_bytes_))
                ok.store(false, std::memory_order_relaxed);
            });
  return ok.load(std::memory_order_relaxed);
}

/// dw = sum of the pieces' results, first to last, in our order.
bool OnednnConv::finish_weights(float* dw, char* scratch) {
  const size_t pieces = cut_.pieces.size();
  const int64_t count = static_cast<int64_t>(packs_[0].desc.get_size() / sizeof(float));
  const size_t step = partial_bytes_ / sizeof(float);
  float* first = reinterpret_cast<float*>(scratch);
  const bool plain = !packs_[0].reorder.defined();
  float* sum = plain ? dw : first;
  if (pieces > 1 || plain)
    parallel_for(count, 1 << 14, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        float total = first[i];
        for (size_t p = 1; p < pieces; ++p) total += first[p * step + static_cast<size_t>(i)];
        sum[i] = total;
      }
    });
  if (plain) return true;
  onednn::Lease frame(frames_);
  return frame->run(variants_.size() * kParts, {sum, dw}, scratch + slots_offset_);
}

void OnednnConv::run(const void* const* in, void* const* out, RunContext& context) {
  char* scratch = static_cast<char*>(context.scratch);
  const float *a = static_cast<const float*>(in[0]), *b = static_cast<const float*>(in[1]);
  float* r = static_cast<float*>(out[0]);
  bool ok = true;
  switch (result_) {
    case ConvResult::y:
    case ConvResult::dx: {
      const char* packed = is_packed_ ? reinterpret_cast<const char*>(b) : scratch;
      if (!is_packed_) ok = pack_weights(b, scratch, scratch + slots_offset_);
      const bool forward = result_ == ConvResult::y;
      ok = ok && run_pieces(forward ? a : r, b, packed, forward ? r : a, scratch);
      break;
    }
    case ConvResult::dw:
      ok = run_pieces(a, nullptr, nullptr, b, scratch) && finish_weights(r, scratch);
      break;
  }
  invariant(ok, "oneDNN could not run a convolution that it had accepted");
}

/// Cases in which our own kernels are faster; measured on Zen 4.
bool others_are_faster(const ConvShape& s, ConvResult result) {
  // Repeating the channels takes about a quarter of the time of a grouped convolution.
  if (s.is_depthwise() && s.o != s.c) return true;
  // oneDNN takes as long for 4 channels of dx as for 8.
  if (result == ConvResult::dx && s.groups == 1 && s.c < 8) return true;
  // A plain product on channels_first data needs no channels-last copies.
  return s.is_pointwise() && s.channels_first && s.groups == 1;
}

/// 3-D weight gradients that oneDNN 3.2 gets wrong: it adds to uncleared memory or writes past the end. Cases: an axis has more
/// padding than "same" has, or padding and a window as long as the image; or depth has a stride above 1 and as much padding.
bool is_wrong(const ConvShape& s, ConvResult result) {
  if (result != ConvResult::dw || s.rank != 3) return false;
  for (int i = 0; i < 3; ++i) {
    const int64_t padding = std::max(s.low[i], s.high[i]);
    const int64_t window = (s.taps[i] - 1) * s.dilation[i] + 1;
    if (padding > 0 && (window >= s.in[i] || padding > window - padding)) return true;
  }
  return s.stride[0] > 1 && std::max(s.low[0], s.high[0]) >= s.stride[0];
}

}  // namespace

KernelPtr make_conv_onednn(const ConvShape& shape, ConvResult result) {
  if (others_are_faster(shape, result) || is_wrong(shape, result) || !onednn::library().is_there())
    return nullptr;
  const onednn::OneThread one_thread;
  // oneDNN does not check whether it got memory, so make sure there is some.
  (void)Storage::allocate(size_t{1} << 20);
  const auto unless_memory_is_out = [](const dnnl::error& e) {
    if (e.status == dnnl_out_of_memory) throw std::bad_alloc();
  };
  try {
    return std::make_unique<OnednnConv>(shape, result, cut_conv(shape, result));
  } catch (const dnnl::error& e) {
    unless_memory_is_out(e);
  }
  // Maybe only a piece has a shape that oneDNN does not know.
  try {
    return std::make_unique<OnednnConv>(shape, result, ConvPieces{{shape}, {{0, 0, 0, 0}}});
  } catch (const dnnl::error& e) {
    unless_memory_is_out(e);
    return nullptr;
  }
}

}  // namespace horngate::native
