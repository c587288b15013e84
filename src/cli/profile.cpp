// horngate profile: runs a program with a trace, or reads a trace, and prints where the time went.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "child.h"
#include "commands.h"
#include "horngate/cpus.h"
#include "horngate/error.h"
#include "limits.h"

namespace horngate::cli {
namespace {

struct Row {
  double own = 0;  // microseconds, without what ran inside it
  double flops = 0, bytes = 0;
  int64_t times = 0;
};

struct Bar {
  double begin, end;
  Row* row;
  double inside = 0;
};

/// Own time of each bar: a bar that begins before another of its thread ends lies inside that one.
std::map<std::string, Row> rows_of(const nlohmann::json& trace) {
  std::map<std::string, Row> rows;
  std::map<int64_t, std::vector<Bar>> threads;
  for (const auto& e : trace.at("traceEvents")) {
    Row& row = rows[e.at("name").get<std::string>()];
    const double begin = e.at("ts"), duration = e.at("dur");
    row.times += 1;
    row.flops += e.at("args").at("flops").get<double>();
    row.bytes += e.at("args").at("bytes").get<double>();
    threads[e.at("tid")].push_back({begin, begin + duration, &row, 0});
  }
  for (auto& [thread, bars] : threads) {
    std::stable_sort(bars.begin(), bars.end(), [](const Bar& a, const Bar& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
    std::vector<Bar*> open;
    for (Bar& b : bars) {
      while (!open.empty() && open.back()->end <= b.begin) open.pop_back();
      if (!open.empty()) open.back()->inside += b.end - b.begin;
      open.push_back(&b);
    }
    for (const Bar& b : bars) b.row->own += b.end - b.begin - b.inside;
  }
  return rows;
}

/// A trace as a table: its rows, longest first, and what they are compared with.
struct Profile {
  std::vector<std::pair<std::string, Row>> rows;
  double total = 0;  // microseconds
  int threads = 1;
  Limits limits;
  std::string dropped;  // bars that did not fit

  explicit Profile(const nlohmann::json& trace)
      : threads(cpu_limits().threads), limits(measure_limits(threads)) {
    for (const auto& [name, row] : rows_of(trace)) rows.emplace_back(name, row);
    std::sort(rows.begin(), rows.end(),
              [](const auto& a, const auto& b) { return a.second.own > b.second.own; });
    for (const auto& [name, row] : rows) total += row.own;
    dropped = trace.value("/otherData/dropped"_json_pointer, std::string("0"));
  }

  double share(const Row& row) const { return total > 0 ? row.own / total : 0; }
  static double per_second(const Row& row, double what) {
    return row.own > 0 ? what / (row.own * 1e-6) : 0;
  }
  /// How near a row is to what this machine can do.
  double of_limit(const Row& row) const {
    return std::max(per_second(row, row.flops) / limits.flops,
                    per_second(row, row.bytes) / limits.bandwidth);
  }
};

void print_table(const Profile& p, size_t top) {
  std::printf("%10s %6s %8s %9s %8s %6s  %s\n", "time ms", "share", "calls", "GFLOP/s", "GB/s",
              "limit", "what");
  for (size_t i = 0; i < std::min(top, p.rows.size()); ++i) {
    const auto& [name, row] = p.rows[i];
    std::printf("%10.3f %5.1f%% %8lld ", row.own * 1e-3, 100 * p.share(row),
                static_cast<long long>(row.times));
    const auto rate = [](int width, double value) {
      if (value > 0)
        std::printf("%*.1f ", width, value * 1e-9);
      else
        std::printf("%*s ", width, "");
    };
    rate(9, p.per_second(row, row.flops));
    rate(8, p.per_second(row, row.bytes));
    if (const double share = p.of_limit(row); share > 0)
      std::printf("%5.0f%%  ", 100 * share);
    else
      std::printf("%6s  ", "");
    std::printf("%s\n", name.c_str());
  }
  if (p.rows.size() > top) std::printf("and %zu more (--top)\n", p.rows.size() - top);
  std::printf(
      "\ntotal %.3f ms. The limit of this machine, %d thread%s, measured now: %.0f GFLOP/s in "
      "registers, %.1f GB/s copied. More than 100%% means that the data was in the caches.\n",
      p.total * 1e-3, p.threads, p.threads == 1 ? "" : "s", p.limits.flops * 1e-9,
      p.limits.bandwidth * 1e-9);
  if (p.dropped != "0") std::printf("%s bars did not fit into the trace.\n", p.dropped.c_str());
}

/// The same for programs: seconds, and rates per second.
void print_json(const Profile& p, size_t top) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (size_t i = 0; i < std::min(top, p.rows.size()); ++i) {
    const auto& [name, row] = p.rows[i];
    rows.push_back({{"what", name},
                    {"seconds", row.own * 1e-6},
                    {"share", p.share(row)},
                    {"calls", row.times},
                    {"flops", p.per_second(row, row.flops)},
                    {"bandwidth", p.per_second(row, row.bytes)},
                    {"of_limit", p.of_limit(row)}});
  }
  const nlohmann::ordered_json all = {
      {"seconds", p.total * 1e-6},
      {"threads", p.threads},
      {"limits", {{"flops", p.limits.flops}, {"bandwidth", p.limits.bandwidth}}},
      {"dropped", std::atoll(p.dropped.c_str())},
      {"rows", rows}};
  std::puts(all.dump(1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

nlohmann::json read_trace(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw ValueError("horngate profile: there is no trace \"" + path + "\".");
  try {
    nlohmann::json trace = nlohmann::json::parse(file);
    (void)trace.at("traceEvents");
    return trace;
  } catch (const nlohmann::json::exception& e) {
    throw ValueError("horngate profile: \"" + path + "\" is not a Horngate trace (" + e.what() +
                     ").");
  }
}

/// Runs the program with HORNGATE_PROFILE; returns its exit code.
int run_program(const Arguments& command, const std::string& trace, bool to_stderr) {
  const ScopedVariable variable("HORNGATE_PROFILE", trace);
  try {
    return run_child(command, to_stderr);
  } catch (const std::system_error& e) {
    throw ValueError("horngate profile: cannot run \"" + command[0] + "\": " + e.code().message() +
                     ".");
  }
}

}  // namespace

int profile(const Arguments& arguments) {
  size_t at = 0;
  std::optional<size_t> top;
  std::optional<std::string> out;
  bool json = false;
  for (; at < arguments.size() && arguments[at].size() > 1 && arguments[at][0] == '-'; ++at) {
    const std::string& option = arguments[at];
    if (option == "--") {
      ++at;
      break;
    }
    const bool has_value = at + 1 < arguments.size();
    if (option == "--json")
      json = true;
    else if (option == "-o" && has_value)
      out = std::filesystem::absolute(arguments[++at]).string();
    else if (option == "--top" && has_value && std::atoi(arguments[at + 1].c_str()) > 0)
      top = static_cast<size_t>(std::atoi(arguments[++at].c_str()));
    else
      throw ValueError("horngate profile: invalid option \"" + option + "\".\n" + usage("profile"));
  }
  if (at == arguments.size()) throw ValueError(usage("profile"));
  const Arguments command(arguments.begin() + static_cast<int64_t>(at), arguments.end());
  const auto print = [&](const nlohmann::json& trace) {
    constexpr size_t kAll = size_t{1} << 40;
    if (json)
      print_json(Profile(trace), top.value_or(kAll));
    else
      print_table(Profile(trace), top.value_or(30));
  };
  if (command.size() == 1 && command[0].ends_with(".json")) {
    print(read_trace(command[0]));
    return 0;
  }
  const std::string made =
      (std::filesystem::temp_directory_path() / ("horngate_" + std::to_string(getpid()) + ".json"))
          .string();
  const std::string path = out.value_or(made);
  const int code = run_program(command, path, json);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    throw ValueError("horngate profile: \"" + command[0] + "\" ended with code " +
                     std::to_string(code) + " and ran nothing on Horngate.");
  const nlohmann::json trace = read_trace(path);
  if (!out) std::filesystem::remove(path, ignored);
  print(trace);
  if (code != 0) std::fprintf(stderr, "%s ended with code %d.\n", command[0].c_str(), code);
  return code;
}

}  // namespace horngate::cli
