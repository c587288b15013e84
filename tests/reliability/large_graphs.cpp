// Large graphs, measured: how long building, differentiating, compiling, running and freeing take, and how much
// memory. One JSON line per row; the status is 1 when a row is over its bar. Each row runs in a process of its own,
// so that the largest amount of memory is its own too.
//   reliability_large_graphs [--small] [--scale 0.1] [row ...]
// With a scale below 1 graphs are smaller by that factor, and so are the bars. --small is what `make test` runs: small
// graphs, CPU time instead of time that other programs take too, and wide bars; it is there to find what became
// quadratic.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "horngate/horngate.h"

namespace K = horngate;

namespace {

double seconds_of(const timeval& t) {
  return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
}

struct Clock {
  double wall = 0, cpu = 0;
  static Clock now() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return {
        std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(),
        seconds_of(used.ru_utime) + seconds_of(used.ru_stime)};
  }
};

double peak_megabytes() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_maxrss) / 1024.0;
}

/// The figures of a row: seconds of each stage, and what is compared with the bar.
class Figures {
 public:
  void stage(const char* name, const std::function<void()>& work) {
    const Clock before = Clock::now();
    work();
    const Clock after = Clock::now();
    const double wall = after.wall - before.wall, cpu = after.cpu - before.cpu;
    add(std::string(name) + "_s", wall);
    add(std::string(name) + "_cpu_s", cpu);
    add(std::string(name) + "_peak_mb", peak_megabytes());
    wall_ += wall;
    cpu_ += cpu;
    last_ = wall;
    last_cpu_ = cpu;
  }
  void add(const std::string& name, double value) {
    char text[96];
    std::snprintf(text, sizeof text, ", \"%s\": %.6g", name.c_str(), value);
    text_ += text;
  }
  double wall() const { return wall_; }
  double cpu() const { return cpu_; }
  double last() const { return last_; }
  double last_cpu() const { return last_cpu_; }
  const std::string& text() const { return text_; }

 private:
  double wall_ = 0, cpu_ = 0, last_ = 0, last_cpu_ = 0;
  std::string text_;
};

/// A chain of n operations with its gradient. `cheap`: products and sums alone; else every fourth is a tanh, whose
/// gradient takes its result.
void deep_chain(int64_t n, bool cheap, Figures& figures) {
  K::Tensor x, b, y, gradient;
  K::Function f;
  K::Arrays out;
  figures.stage("build", [&] {
    x = K::placeholder({.shape = {4}});
    b = K::placeholder({.shape = {4}});
    y = x;
    for (int64_t i = 0; i < n; ++i) switch (i % 4) {
        case 0: y = y * b; break;
        case 1: y = y + b; break;
        case 2: y = cheap ? y - b : K::tanh(y); break;
        default: y = y * 0.75; break;
      }
  });
  figures.stage("gradients", [&] { gradient = K::gradients(K::sum(y), {x})[0]; });
  figures.stage("function", [&] { f = K::function({x, b}, {y, gradient}); });
  const K::Array ones = K::Array::of({1.f, 1.f, 1.f, 1.f});
  figures.stage("first_call", [&] { out = f({ones, ones}); });
  figures.stage("free", [&] {
    x = b = y = gradient = {};
    f = {};
  });
  figures.stage("free_results", [&] { out.clear(); });
}

/// Two thousand small layers beside each other, each with a variable, and their training step: n nodes in all.
/// Gives the time of the first call.
double wide_graph(int64_t n, int64_t n_variables, bool train, bool cpu, Figures& figures) {
  std::vector<K::Tensor> variables;
  K::Tensor x, loss;
  std::vector<K::Update> updates;
  K::Function f;
  K::Arrays out;
  // A layer of k operations has about 3 k nodes with its gradient.
  const int64_t depth = std::max<int64_t>(1, n / n_variables / (train ? 3 : 1));
  figures.stage("build", [&] {
    x = K::placeholder({.shape = {8}});
    K::Tensor total;
    for (int64_t v = 0; v < n_variables; ++v) {
      variables.push_back(K::variable(
          K::Array::full(K::DType::float32, {8},
                         0.5 + 0.25 * static_cast<double>(v) / static_cast<double>(n_variables))));
      K::Tensor h = x * variables.back();
      for (int64_t i = 1; i < depth; ++i) switch (i % 4) {
          case 0: h = h * variables.back(); break;
          case 1: h = h + x; break;
          case 2: h = K::sigmoid(h); break;
          default: h = h * 0.5; break;
        }
      total = total.defined() ? total + h : h;
    }
    loss = K::sum(total);
  });
  if (train)
    figures.stage("gradients", [&] {
      const K::Tensors gradients = K::gradients(loss, variables);
      for (size_t i = 0; i < variables.size(); ++i)
        updates.push_back(K::update_sub(K::Variable(variables[i]), gradients[i] * 0.01));
    });
  figures.stage("function", [&] { f = K::function({x}, {loss}, updates); });
  const K::Array ones = K::Array::full(K::DType::float32, {8}, 1.0);
  figures.stage("first_call", [&] { out = f({ones}); });
  const double first = cpu ? figures.last_cpu() : figures.last();
  figures.stage("second_call", [&] { out = f({ones}); });
  figures.stage("free", [&] {
    variables.clear();
    updates.clear();
    x = loss = {};
    f = {};
  });
  return first;
}

using Build = std::function<K::Function(int64_t n, K::Arrays& feeds)>;

K::Array four(double value) { return K::Array::full(K::DType::float32, {4}, value); }

/// Functions with n of something.
const std::vector<std::pair<const char*, Build>>& many() {
  static const std::vector<std::pair<const char*, Build>> list = {
      {"outputs",
       [](int64_t n, K::Arrays& feeds) {
         const K::Tensor x = K::placeholder({.shape = {4}});
         std::vector<K::Tensor> out;
         for (int64_t i = 0; i < n; ++i)
           out.push_back(K::exp(x * (1.0 / static_cast<double>(i + 1))));
         feeds = {four(0.5)};
         return K::function({x}, out);
       }},
      {"outputs_of_variables",
       [](int64_t n, K::Arrays&) {
         std::vector<K::Tensor> out;
         for (int64_t i = 0; i < n; ++i) out.push_back(K::variable(four(0.5)));
         return K::function({}, out);
       }},
      {"updates",
       [](int64_t n, K::Arrays& feeds) {
         const K::Tensor x = K::placeholder({.shape = {4}});
         std::vector<K::Update> updates;
         K::Tensor sum;
         for (int64_t i = 0; i < n; ++i) {
           const K::Variable v = K::variable(four(0.5));
           updates.emplace_back(K::update_sub(v, x * v * 0.1));
           sum = sum.defined() ? sum + v : K::Tensor(v);
         }
         feeds = {four(0.5)};
         return K::function({x}, {sum}, updates);
       }},
      {"updates_of_products",
       [](int64_t n, K::Arrays& feeds) {
         const K::Tensor x = K::placeholder({.shape = {2, 2}});
         std::vector<K::Update> updates;
         for (int64_t i = 0; i < n; ++i) {
           const K::Variable v = K::variable(K::Array::full(K::DType::float32, {2, 2}, 0.5));
           updates.emplace_back(v, K::dot(x, v));
         }
         feeds = {K::Array::full(K::DType::float32, {2, 2}, 0.5)};
         return K::function({x}, {}, updates);
       }},
      {"readers",
       [](int64_t n, K::Arrays& feeds) {
         const K::Tensor x = K::placeholder({.shape = {4}}), h = K::exp(x);
         K::Tensor sum = h;
         for (int64_t i = 0; i < 5 * n / 2; ++i)
           sum = K::tanh(sum + h * (1.0 / static_cast<double>(i + 2)));
         feeds = {four(0.5)};
         return K::function({x}, {sum, K::gradients(K::sum(sum), {x})[0]});
       }},
      {"parts_of_a_concat",
       [](int64_t n, K::Arrays& feeds) {
         const K::Tensor x = K::placeholder({.shape = {4}});
         std::vector<K::Tensor> parts;
         for (int64_t i = 0; i < n; ++i)
           parts.push_back(K::exp(x * (1.0 / static_cast<double>(i + 1))));
         const K::Tensor all = K::concatenate(parts, 0);
         feeds = {four(0.5)};
         return K::function({x}, {all, K::gradients(K::sum(K::square(all)), {x})[0]});
       }},
      {"fed_parts_of_a_concat",
       [](int64_t n, K::Arrays& feeds) {
         std::vector<K::Tensor> parts;
         for (int64_t i = 0; i < n; ++i) {
           parts.push_back(K::placeholder({.shape = {4}}));
           feeds.push_back(four(0.5));
         }
         const K::Tensor all = K::concatenate(parts, 0);
         std::vector<K::Tensor> out = K::gradients(K::sum(K::square(all)), parts);
         out.push_back(all);
         return K::function(parts, out);
       }},
      {"feeds",
       [](int64_t n, K::Arrays& feeds) {
         std::vector<K::Tensor> in;
         K::Tensor sum;
         for (int64_t i = 0; i < n; ++i) {
           in.push_back(K::placeholder({.shape = {K::None}}));
           feeds.push_back(four(0.5));
           sum = sum.defined() ? sum + in.back() : in.back();
         }
         return K::function(in, {sum});
       }},
      {"slices",
       [](int64_t n, K::Arrays& feeds) {
         const K::Tensor x = K::placeholder({.shape = {n, 4}});
         K::Tensor sum;
         for (int64_t i = 0; i < n; ++i) {
           const K::Tensor row = K::exp(K::slice(x, {i, 0}, {1, 4}));
           sum = sum.defined() ? sum + row : row;
         }
         feeds = {K::Array::full(K::DType::float32, {n, 4}, 0.5)};
         return K::function({x}, {sum});
       }},
      {"products",
       [](int64_t n, K::Arrays& feeds) {
         const K::Tensor x = K::placeholder({.shape = {2, 2}});
         K::Tensor h = x;
         std::vector<K::Tensor> v;
         for (int64_t i = 0; i < n; ++i) {
           v.push_back(K::variable(K::Array::full(K::DType::float32, {2, 2}, 0.5)));
           h = K::tanh(K::dot(h, v.back()));
         }
         std::vector<K::Tensor> out = K::gradients(K::sum(h), v);
         feeds = {K::Array::full(K::DType::float32, {2, 2}, 0.5)};
         return K::function({x}, out);
       }},
  };
  return list;
}

constexpr int64_t kFactor = 8;

/// Building, the first call and freeing with n of something, and with an eighth of that: how much more CPU time each
/// piece takes in the large one. 1 is linear, 8 quadratic.
double growth(const Build& build, int64_t n, Figures& figures) {
  const auto once = [&](int64_t count) {
    const Clock before = Clock::now();
    K::Arrays feeds;
    K::Function f = build(count, feeds);
    K::Arrays out = f(feeds);
    feeds.clear();
    out.clear();
    f = {};
    return Clock::now().cpu - before.cpu;
  };
  once(n / kFactor);  // starts threads, loads libraries
  // Others on the machine disturb a turn or many: the best of a few counts.
  double few = 1e9, all = 1e9;
  for (int i = 0; i < 5; ++i) few = std::min(few, once(n / kFactor));
  figures.stage("many", [&] {
    for (int i = 0; i < 3; ++i) all = std::min(all, once(n));
  });
  figures.add("pieces", static_cast<double>(n));
  figures.add("few_cpu", few);
  figures.add("all_cpu", all);
  figures.add("growth_per_piece", all / (few * kFactor));
  return all / (few * kFactor);
}

struct Mode {
  double scale = 1;
  bool small = false;
  double time(const Figures& f) const { return small ? f.cpu() : f.wall(); }
  /// What a bar is for graphs of this scale.
  double seconds(double full) const { return full * scale * (small ? 4 : 1); }
  double megabytes(double full) const { return full * scale + 150 * (1 - scale); }
};

struct Row {
  std::string name;
  std::function<bool(const Mode&, Figures&)> run;  // whether it keeps to its bar
};

std::vector<Row> rows() {
  std::vector<Row> list;
  for (const bool cheap : {false, true})
    list.push_back(
        {cheap ? "deep_chain_of_sums" : "deep_chain", [cheap](const Mode& m, Figures& f) {
           deep_chain(static_cast<int64_t>(1e6 * m.scale), cheap, f);
           f.add("bar_s", m.seconds(10));
           f.add("bar_mb", m.megabytes(1500));
           return m.time(f) <= m.seconds(10) && peak_megabytes() <= m.megabytes(1500);
         }});
  for (const bool train : {false, true})
    list.push_back(
        {train ? "wide_training_step" : "wide_graph", [train](const Mode& m, Figures& f) {
           const double first = wide_graph(static_cast<int64_t>(3e5 * m.scale),
                                           static_cast<int64_t>(2000 * m.scale), train, m.small, f);
           f.add("bar_first_call_s", m.seconds(5));
           return first <= m.seconds(5);
         }});
  for (const auto& [name, build] : many())
    list.push_back({std::string("many_") + name, [&build](const Mode& m, Figures& f) {
                      constexpr double kBar = 4;
                      f.add("bar_growth", kBar);
                      return growth(build, m.small ? 8000 : static_cast<int64_t>(4e4 * m.scale),
                                    f) <= kBar;
                    }});
  return list;
}

}  // namespace

int main(int argc, char** argv) {
  Mode mode;
  std::vector<std::string> wanted;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--scale") == 0 && i + 1 < argc)
      mode.scale = std::atof(argv[++i]);
    else if (std::strcmp(argv[i], "--small") == 0)
      mode = {0.05, true};
    else
      wanted.push_back(argv[i]);
  }
  int status = 0;
  for (const Row& row : rows()) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), row.name) == wanted.end())
      continue;
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      Figures figures;
      bool fits = false;
      try {
        fits = row.run(mode, figures);
      } catch (const std::exception& e) {
        std::fprintf(stderr, "%s: %s\n", row.name.c_str(), e.what());
      }
      std::printf(
          "{\"row\": \"%s\", \"fits\": %s, \"wall_s\": %.6g, \"cpu_s\": %.6g, \"peak_mb\": "
          "%.6g%s}\n",
          row.name.c_str(), fits ? "true" : "false", figures.wall(), figures.cpu(),
          peak_megabytes(), figures.text().c_str());
      std::fflush(stdout);
      _exit(fits ? 0 : 1);
    }
    int result = 0;
    waitpid(child, &result, 0);
    if (result != 0) status = 1;
  }
  return status;
}
