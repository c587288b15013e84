// Channels-last data inside of channels_first graphs.
#include "engines/native/layout.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "passes/rewriter.h"

namespace horngate::native {
namespace {

ValueId image(Rewriter& r, Ints dims) { return r.input(TensorType(DType::float32, Shape(dims))); }

ValueId conv(Rewriter& r, ValueId x, ValueId w) {
  return r.emit(attrs::conv{.strides = {1, 1},
                            .pad_low = {1, 1},
                            .pad_high = {1, 1},
                            .dilation = {1, 1},
                            .channels_first = true},
                {x, w});
}

int64_t count(const Graph& g, Prim prim) {
  return std::count_if(g.nodes.begin(), g.nodes.end(),
                       [&](const GraphNode& n) { return n.prim == prim; });
}

TEST(Layout, AChainOfImagesIsTurnedOnce) {
  Rewriter r;
  const ValueId x = image(r, {2, 16, 8, 8}), w = image(r, {3, 3, 16, 16}), b = image(r, {16});
  const ValueId bias = r.emit(attrs::reshape{.shape = {1, 16, 1, 1}}, {b});
  ValueId y = x;
  for (int i = 0; i < 3; ++i) {
    y = r.emit(Prim::add, {conv(r, y, w), bias});
    y = r.emit(Prim::maximum, {y, r.constant(Array::full(DType::float32, {}, 0.0))});
  }
  y = r.emit(attrs::pool{.window = {2, 2},
                         .strides = {2, 2},
                         .pad_low = {0, 0},
                         .pad_high = {0, 0},
                         .channels_first = true},
             {y});
  y = r.emit(attrs::reduce_sum{.axes = {2, 3}}, {y});
  const Graph before = r.finish({y});
  const std::optional<Graph> after = channels_last(before);
  ASSERT_TRUE(after);
  verify(*after, "layout");
  EXPECT_EQ(count(*after, Prim::transpose), 1);
  EXPECT_EQ(count(*after, Prim::conv), 3);
  for (const GraphNode& n : after->nodes) {
    if (n.prim == Prim::conv) {
      EXPECT_FALSE(n.as<attrs::conv>().channels_first);
    }
    if (n.prim == Prim::pool) {
      EXPECT_FALSE(n.as<attrs::pool>().channels_first);
    }
    if (n.prim == Prim::reduce_sum) {
      EXPECT_EQ(n.as<attrs::reduce_sum>().axes, (Ints{1, 2}));
    }
  }
  EXPECT_EQ(after->values[after->outputs[0]], before.values[before.outputs[0]]);
}

TEST(Layout, OneConvolutionStaysAsItIs) {
  Rewriter r;
  const ValueId x = image(r, {2, 16, 8, 8}), w = image(r, {3, 3, 16, 16});
  const ValueId y = conv(r, x, w);
  EXPECT_FALSE(channels_last(r.finish({y})));
}

TEST(Layout, ChannelsLastStaysAsItIs) {
  Rewriter r;
  const ValueId x = image(r, {2, 8, 8, 16}), w = image(r, {3, 3, 16, 16});
  const ValueId y = r.emit(
      attrs::conv{.strides = {1, 1}, .pad_low = {1, 1}, .pad_high = {1, 1}, .dilation = {1, 1}},
      {x, w});
  EXPECT_FALSE(channels_last(r.finish({y})));
}

}  // namespace
}  // namespace horngate::native
