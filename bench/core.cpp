// The first benchmarks: our functions, called from C++, in turn with the libraries underneath
// called directly and with a loop written by hand. bench/README.md says how to read the table.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "horngate/horngate.h"
#include "lib/direct.h"
#include "lib/measure.h"

namespace K = horngate;
using namespace horngate::bench;

namespace {

constexpr double kTie = 1.10;      // "within 10 %"
constexpr double kLoopTie = 1.05;  // of a loop written by hand

struct Settings {
  int threads = 1;
  double seconds = 1.0;
  bool json = false;
  bool wall = false;              // wall time even with one thread
  std::vector<std::string> only;  // beginnings of names
};

// Others on the machine make a call wait, which is no property of the call: with one thread the CPU
// time is what an idle machine would need. Several threads wait for each other, which is one.
bool uses_cpu_time(const Settings& settings) { return settings.threads == 1 && !settings.wall; }

bool is_wanted(const Settings& settings, const std::string& workload) {
  if (settings.only.empty()) return true;
  for (const std::string& name : settings.only)
    if (workload.rfind(name, 0) == 0) return true;
  return false;
}

K::Array randn(K::Ints dims, unsigned seed) {
  K::Array a(K::DType::float32, std::move(dims));
  std::mt19937 bits(seed);
  std::normal_distribution<float> normal;
  float* p = a.data<float>();
  for (int64_t i = 0; i < a.size(); ++i) p[i] = normal(bits);
  return a;
}

/// Collects what is printed last.
struct Marks {
  std::vector<std::pair<bool, std::string>> lines;
  void add(bool reached, const char* format, auto... values) {
    char text[200];
    std::snprintf(text, sizeof text, format, values...);
    lines.emplace_back(reached, text);
  }
};

/// Ours first; the second contender is the one that the mark is about.
struct Workload {
  std::string name;
  std::vector<Contender> contenders;
};

class Report {
 public:
  explicit Report(const Settings& settings) : settings_(settings) {
    if (settings.json) return;
    std::printf("C++, threads: %d; %s per call in microseconds, contenders in turn\n",
                settings.threads,
                uses_cpu_time(settings) ? "CPU time (calls under 2 ms: wall time)" : "wall time");
    std::printf("%-14s %-36s %11s %11s %16s\n", "workload", "who", "min", "median",
                "min, ours = 1");
  }

  std::vector<Times> measure(const Workload& w) {
    const std::vector<Times> times = in_turn(w.contenders, {.seconds = settings_.seconds,
                                                            .threads = settings_.threads,
                                                            .cpu_time = uses_cpu_time(settings_)});
    for (size_t i = 0; i < times.size(); ++i) print(w, i, times[i], times[0].min());
    return times;
  }

  Marks marks;

  void print_marks() const {
    if (!settings_.json) std::printf("\n");
    for (const auto& [reached, text] : marks.lines)
      if (settings_.json)
        std::printf("{\"mark\": \"%s\", \"pass\": %s}\n", text.c_str(), reached ? "true" : "false");
      else
        std::printf("%s  %s\n", reached ? "PASS" : "FAIL", text.c_str());
  }

 private:
  void print(const Workload& w, size_t i, const Times& t, double ours) const {
    const char* who = w.contenders[i].name.c_str();
    if (settings_.json)
      std::printf(
          "{\"workload\": \"%s\", \"who\": \"%s\", \"threads\": %d, \"min_us\": %.4g, "
          "\"median_us\": %.4g, \"batches\": %zu}\n",
          w.name.c_str(), who, settings_.threads, t.min() * 1e6, t.median() * 1e6,
          t.samples.size());
    else
      std::printf("%-14s %-36s %11.2f %11.2f %16.2f\n", i == 0 ? w.name.c_str() : "", who,
                  t.min() * 1e6, t.median() * 1e6, t.min() / ours);
    std::fflush(stdout);
  }

  const Settings& settings_;
};

/// A benchmark of wrong results would be worthless, so both are compared first.
void check_equal(Report& report, const std::string& workload, const K::Array& ours,
                 const K::Array& direct, double tolerance) {
  const float *a = ours.data<float>(), *b = direct.data<float>();
  double worst = 0;
  for (int64_t i = 0; i < ours.size(); ++i)
    worst = std::max(worst, static_cast<double>(std::fabs(a[i] - b[i])));
  if (!(worst <= tolerance))
    report.marks.add(false, "%s: results differ by up to %.2g", workload.c_str(), worst);
}

void mark_tie(Report& report, const std::string& workload, const std::vector<Times>& times,
              const char* against, double tie = kTie) {
  const double ratio = times[0].min() / times[1].min();
  report.marks.add(ratio <= tie, "%s: %.2f times the time of %s (mark: <= %.2f)", workload.c_str(),
                   ratio, against, tie);
}

void run_call(Report& report) {
  const K::Tensor x = K::placeholder({.shape = {K::None}});
  const K::Function f = K::function({x}, {x + 1.0});
  const K::Array a = K::Array::of({1.0f});
  const auto times = report.measure({"call_add1", {{"horngate", [&] { (void)f({a}); }}}});
  const double us = times[0].min() * 1e6;
  report.marks.add(us < 2, "call_add1: x + 1 on one element from C++ in %.2f us (mark: < 2)", us);
}

void run_elementwise(Report& report, const std::string& name, int64_t n, int threads) {
  const K::Tensor x = K::placeholder({.shape = {K::None}});
  const K::Function f =
      K::function({x}, {K::sigmoid(x * 1.1 + 0.3) * K::tanh(x) + K::exp(-(x * x))});
  const K::Array a = randn({n}, 0), y(K::DType::float32, {n});
  const auto direct = [&] { fused_loop(n, a.data<float>(), y.data<float>(), threads); };
  direct();
  check_equal(report, name, f({a})[0], y, 2e-6);
  const std::string label = std::string("hand-written loop, ") + fused_loop_target();
  mark_tie(report, name,
           report.measure({name, {{"horngate", [&] { (void)f({a}); }}, {label, direct}}}),
           "the hand-written loop", kLoopTie);
}

void run_matmul(Report& report, const std::string& name, int64_t n, int threads) {
  const K::Tensor x = K::placeholder({.shape = {K::None, K::None}}),
                  y = K::placeholder({.shape = {K::None, K::None}});
  const K::Function f = K::function({x, y}, {K::dot(x, y)});
  const K::Array a = randn({n, n}, 0), b = randn({n, n}, 1), c(K::DType::float32, {n, n});
  const auto direct = [&](auto matmul) {
    return [&, matmul] { matmul(n, a.data<float>(), b.data<float>(), c.data<float>(), threads); };
  };
  const auto openblas = direct(openblas_matmul), onednn = direct(onednn_matmul);
  openblas();
  check_equal(report, name, f({a, b})[0], c, 1e-5 * static_cast<double>(n));
  mark_tie(report, name,
           report.measure({name,
                           {{"horngate", [&] { (void)f({a, b}); }},
                            {"OpenBLAS sgemm", openblas},
                            {"oneDNN sgemm", onednn}}}),
           "OpenBLAS sgemm");
}

void run_conv(Report& report, const std::string& name, const ConvSizes& s, int threads) {
  const K::Tensor x = K::placeholder({.shape = {K::None, s.side, s.side, s.channels}});
  const K::Array a = randn({s.images, s.side, s.side, s.channels}, 0),
                 w = randn({s.taps, s.taps, s.channels, s.filters}, 1),
                 y(K::DType::float32, {s.images, s.side, s.side, s.filters});
  const K::Variable kernel = K::variable(w);
  const K::Function f = K::function(
      {x}, {K::conv2d(x, kernel,
                      {.padding = K::Padding::same, .data_format = K::DataFormat::channels_last})});
  OnednnConv direct(s, a.data<float>(), w.data<float>(), y.data<float>(), threads);
  direct.run();
  check_equal(report, name, f({a})[0], y, 1e-3);
  mark_tie(report, name,
           report.measure({name,
                           {{"horngate", [&] { (void)f({a}); }},
                            {"oneDNN, weights packed before", [&] { direct.run(); }},
                            {"oneDNN, weights packed in the call",
                             [&] {
                               direct.pack();
                               direct.run();
                             }}}}),
           "oneDNN (weights packed before)");
}

void run_all(const Settings& s) {
  Report report(s);
  if (is_wanted(s, "call_add1")) run_call(report);
  for (const auto& [name, n] :
       {std::pair{"elem_1k", 1000}, {"elem_1M", 1000000}, {"elem_10M", 10000000}})
    if (is_wanted(s, name)) run_elementwise(report, name, n, s.threads);
  for (const auto& [name, n] : {std::pair{"matmul_512", 512}, {"matmul_1024", 1024}})
    if (is_wanted(s, name)) run_matmul(report, name, n, s.threads);
  const ConvSizes conv3x3{.images = 32, .side = 56, .channels = 64, .filters = 64, .taps = 3};
  if (is_wanted(s, "conv3x3_nhwc")) run_conv(report, "conv3x3_nhwc", conv3x3, s.threads);
  report.print_marks();
}

constexpr const char* kUsage =
    "usage: bench_core [--threads N] [--seconds S] [--wall] [--json] [workload ...]\n"
    "  --threads  for us and for what we are compared with; default HORNGATE_NUM_THREADS, then 1\n"
    "  --seconds  of measuring per workload, default 1\n"
    "  --wall     wall time; without it one thread is measured in CPU time\n"
    "  --json     one line of JSON per result\n";

Settings parse(int count, char** words) {
  Settings s;
  if (const char* threads = std::getenv("HORNGATE_NUM_THREADS")) s.threads = std::atoi(threads);
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const bool has_value = i + 1 < count;
    if (word == "--threads" && has_value) {
      s.threads = std::atoi(words[++i]);
    } else if (word == "--seconds" && has_value) {
      s.seconds = std::atof(words[++i]);
    } else if (word == "--wall") {
      s.wall = true;
    } else if (word == "--json") {
      s.json = true;
    } else if (word[0] != '-') {
      s.only.push_back(word);
    } else {
      std::fputs(kUsage, stderr);
      std::exit(word == "--help" ? 0 : 2);
    }
  }
  s.threads = std::max(1, s.threads);
  return s;
}

}  // namespace

int main(int count, char** words) {
  const Settings settings = parse(count, words);
  setenv("HORNGATE_NUM_THREADS", std::to_string(settings.threads).c_str(), 1);
  try {
    K::set_quiet(true);
    run_all(settings);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_core: %s\n", e.what());
    return 1;
  }
}
