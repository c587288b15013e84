// CTC decoders against the enumeration of all paths and against plain code.
#include "ctc_problem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "engines/native/threads.h"

namespace horngate::native {
namespace kernels {
KernelPtr make_ctc_greedy(const KernelCall& call);
KernelPtr make_ctc_beam(const KernelCall& call);
}  // namespace kernels

namespace {

using namespace ctc_tests;

AttrRef greedy_attrs(bool merge) {
  return AttrRef(new AttrsOf<attrs::ctc_greedy>({.merge_repeated = merge}));
}

std::vector<std::vector<double>> greedy(const Problem& p, bool merge) {
  return run(Prim::ctc_greedy, kernels::make_ctc_greedy,
             {operand<float>(p.inputs, {p.batch, p.time, p.classes}),
              operand<int32_t>(p.input_length, {p.batch})},
             greedy_attrs(merge));
}

TEST(CtcGreedy, MergesAndDropsBlanks) {
  // Sample 0: a a - a b (b ignored); sample 1: equal values, the first wins.
  Problem p{2, 5, 3, 0, std::vector<double>(30, 0.0), {}, {4, 1}, {}};
  const int64_t path[] = {0, 0, 2, 0, 1};
  for (int64_t t = 0; t < 5; ++t) p.inputs[t * 3 + path[t]] = 1.5;
  const auto merged = greedy(p, true);
  EXPECT_EQ(merged[0], (std::vector<double>{0, 0, -1, -1, -1, 0, -1, -1, -1, -1}));
  EXPECT_EQ(merged[1], (std::vector<double>{2}));
  EXPECT_EQ(merged[2], (std::vector<double>{-6, 0}));
  const auto all = greedy(p, false);
  EXPECT_EQ(all[0], (std::vector<double>{0, 0, 0, -1, -1, 0, -1, -1, -1, -1}));
  EXPECT_EQ(all[1], (std::vector<double>{3}));
}

TEST(CtcGreedy, EqualsPlainCode) {
  for (const int64_t classes : {1, 2, 5, 16, 17, 100}) {
    const Problem p = random_problem(static_cast<uint64_t>(classes), 7, 9, classes, 0);
    const auto got = greedy(p, true);
    std::vector<double> decoded, scores;
    size_t width = 0;
    for (int64_t b = 0; b < p.batch; ++b) {
      std::vector<double> labels;
      double sum = 0;
      int64_t previous = -1;
      for (int64_t t = 0; t < p.input_length[b]; ++t) {
        const auto row = p.inputs.begin() + (b * p.time + t) * classes;
        const int64_t best = std::max_element(row, row + classes) - row;
        sum += row[best];
        if (best != classes - 1 && best != previous) labels.push_back(static_cast<double>(best));
        previous = best;
      }
      width = std::max(width, labels.size());
      labels.resize(static_cast<size_t>(p.time), -1);
      decoded.insert(decoded.end(), labels.begin(), labels.end());
      scores.push_back(-sum);
    }
    EXPECT_EQ(got[0], decoded);
    EXPECT_EQ(got[1][0], static_cast<double>(width));
    expect_close(got[2], scores, 1e-6);
  }
}

TEST(CtcGreedy, EmptyBatchAndTime) {
  EXPECT_EQ(greedy(random_problem(0, 0, 3, 4, 0), true)[1], (std::vector<double>{0}));
  EXPECT_EQ(greedy(random_problem(0, 2, 0, 4, 0), true)[2], (std::vector<double>{0, 0}));
}

template <class T>
std::vector<std::vector<double>> beam(const Problem& p, int64_t width, int64_t paths,
                                      bool merge = false) {
  return run(Prim::ctc_beam, kernels::make_ctc_beam,
             {operand<T>(p.inputs, {p.batch, p.time, p.classes}),
              operand<int64_t>(p.input_length, {p.batch})},
             AttrRef(new AttrsOf<attrs::ctc_beam>(
                 {.beam_width = width, .top_paths = paths, .merge_repeated = merge})));
}

// A beam that holds every prefix is exact.
TEST(CtcBeam, EqualsEnumeration) {
  constexpr int64_t kPaths = 6;
  for (uint64_t seed = 0; seed < 10; ++seed)
    for (const int64_t classes : {1, 2, 3, 4}) {
      const Problem p = random_problem(seed, 3, 5, classes, 0);
      const auto got = beam<double>(p, 400, kPaths);
      std::vector<size_t> widths(kPaths, 0);
      for (int64_t b = 0; b < p.batch; ++b) {
        std::vector<std::pair<double, Labels>> sorted;
        for (const auto& [labels, q] : enumerate(p, b)) sorted.emplace_back(std::log(q), labels);
        std::sort(sorted.rbegin(), sorted.rend());
        sorted.resize(kPaths, {-kInf, {}});
        for (int64_t k = 0; k < kPaths; ++k) {
          auto [log_q, labels] = sorted[k];
          widths[k] = std::max(widths[k], labels.size());
          labels.resize(static_cast<size_t>(p.time), -1);
          const double score = got[2][b * kPaths + k];
          if (std::isinf(log_q))
            EXPECT_EQ(score, log_q);
          else
            EXPECT_NEAR(score, log_q, 1e-12);
          for (int64_t t = 0; t < p.time; ++t)
            EXPECT_EQ(got[0][(k * p.batch + b) * p.time + t], static_cast<double>(labels[t]));
        }
      }
      for (int64_t k = 0; k < kPaths; ++k) EXPECT_EQ(got[1][k], static_cast<double>(widths[k]));
    }
}

// The same search, written with maps: each step keeps the best `width` prefixes.
std::vector<std::pair<double, Labels>> plain_beam(const Problem& p, int64_t b, size_t width) {
  struct Score {
    double blank = 0, label = 0;
    double total() const { return blank + label; }
  };
  std::map<Labels, Score> kept = {{{}, {1, 0}}};
  for (int64_t t = 0; t < p.input_length[b]; ++t) {
    std::vector<double> q(p.inputs.begin() + (b * p.time + t) * p.classes,
                          p.inputs.begin() + (b * p.time + t + 1) * p.classes);
    double sum = 0;
    for (double& x : q) sum += x = std::exp(x);
    for (double& x : q) x /= sum;
    std::map<Labels, Score> next;
    for (const auto& [labels, s] : kept) {
      next[labels].blank += s.total() * q.back();
      if (!labels.empty()) next[labels].label += s.label * q[labels.back()];
      for (int64_t c = 0; c + 1 < p.classes; ++c) {
        Labels longer = labels;
        longer.push_back(c);
        next[longer].label += (!labels.empty() && labels.back() == c ? s.blank : s.total()) * q[c];
      }
    }
    std::vector<std::pair<double, Labels>> order;
    for (const auto& [labels, s] : next) order.emplace_back(-s.total(), labels);
    std::sort(order.begin(), order.end());
    kept.clear();
    for (size_t i = 0; i < std::min(width, order.size()); ++i)
      if (order[i].first < 0) kept[order[i].second] = next[order[i].second];
  }
  std::vector<std::pair<double, Labels>> result;
  for (const auto& [labels, s] : kept) result.emplace_back(std::log(s.total()), labels);
  std::sort(result.rbegin(), result.rend());
  return result;
}

TEST(CtcBeam, NarrowBeamsEqualPlainCode) {
  for (const int64_t width : {1, 2, 3, 5, 17, 100})
    for (const int64_t classes : {2, 3, 6, 40}) {
      const Problem p =
          random_problem(static_cast<uint64_t>(width * 100 + classes), 5, 30, classes, 0);
      const auto got = beam<float>(p, width, 1);
      for (int64_t b = 0; b < p.batch; ++b) {
        auto [log_q, labels] = plain_beam(p, b, static_cast<size_t>(width)).front();
        EXPECT_NEAR(got[2][b], log_q, 1e-5 * std::max(1.0, std::abs(log_q)))
            << width << " " << classes;
        labels.resize(static_cast<size_t>(p.time), -1);
        for (int64_t t = 0; t < p.time; ++t)
          EXPECT_EQ(got[0][b * p.time + t], static_cast<double>(labels[t]))
              << width << " " << classes;
      }
    }
}

TEST(CtcBeam, MergeRepeated) {
  // a - a b - b
  Problem p{1, 6, 3, 0, std::vector<double>(18, -30.0), {}, {6}, {}};
  const int64_t path[] = {0, 2, 0, 1, 2, 1};
  for (int64_t t = 0; t < 6; ++t) p.inputs[t * 3 + path[t]] = 0;
  EXPECT_EQ(beam<float>(p, 1, 1, false)[0], (std::vector<double>{0, 0, 1, 1, -1, -1}));
  EXPECT_EQ(beam<float>(p, 1, 1, true)[0], (std::vector<double>{0, 1, -1, -1, -1, -1}));
  EXPECT_EQ(beam<float>(p, 1, 1, true)[1], (std::vector<double>{2}));
}

TEST(CtcBeam, NothingToDecode) {
  Problem p = random_problem(0, 2, 3, 4, 0);
  p.input_length = {0, 0};
  const auto got = beam<float>(p, 4, 2);
  EXPECT_EQ(got[0], std::vector<double>(12, -1));
  EXPECT_EQ(got[1], (std::vector<double>{0, 0}));
  EXPECT_EQ(got[2], (std::vector<double>{0, -kInf, 0, -kInf}));
  EXPECT_EQ(beam<float>(random_problem(0, 0, 3, 4, 0), 4, 2)[1], (std::vector<double>{0, 0}));
}

TEST(CtcBeam, InfinitiesAndNan) {
  Problem p{3, 2, 3, 0, std::vector<double>(18, 0.0), {}, {2, 2, 2}, {}};
  p.inputs[1] = -kInf;
  p.inputs[6] = std::nan("");
  p.inputs[12] = kInf;
  const auto got = beam<float>(p, 5, 1);
  EXPECT_TRUE(std::isfinite(got[2][0]));
  EXPECT_TRUE(std::isnan(got[2][1]) && std::isnan(got[2][2]));
  EXPECT_EQ(got[0][2], -1);
}

TEST(CtcBeam, ThreadsDoNotMatter) {
  const Problem p = random_problem(4, 17, 25, 9, 0);
  set_thread_count(1);
  const auto one = beam<float>(p, 10, 3);
  set_thread_count(4);
  EXPECT_EQ(beam<float>(p, 10, 3), one);
  set_thread_count(0);
}

}  // namespace
}  // namespace horngate::native
