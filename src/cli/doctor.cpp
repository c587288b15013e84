// horngate doctor: what is wrong with this installation, line by line, each with a remedy.
#include "doctor.h"

#include <horngate/horngate.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "commands.h"

namespace horngate::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char *kNative = "native", *kNull = "null";

const char* word_of(State state) {
  switch (state) {
    case State::ok: return "ok";
    case State::note: return "note";
    default: return "wrong";
  }
}

/// The settings, without writing keras.json as a first use would. False if nothing can run with them.
bool look_at_settings(Findings& findings) {
  setenv("HORNGATE_NO_CONFIG_WRITE", "1", 1);
  const fs::path file = fs::path(keras_home()) / "keras.json";
  std::error_code ignored;
  const bool exists = fs::exists(file, ignored);
  try {
    const Settings s = read_settings();
    findings.push_back({State::ok, "keras.json",
                        file.string() + (exists ? "" : ", which does not exist: defaults")});
    findings.push_back({State::ok, "settings",
                        std::string(name_of(s.floatx)) + ", " + name_of(s.image_data_format) +
                            ", engine " + s.engine.name + " (from " + s.engine.source + ")"});
  } catch (const Error& e) {
    findings.push_back(
        {State::wrong, "keras.json", e.what(), "Fix it, or remove it to use the defaults."});
    return false;
  }
  return true;
}

/// Whether the chosen engine can be used.
bool look_at_engines(Findings& findings) {
  const std::string chosen = engine_choice().name;
  const std::string another = "Choose another: KERAS_BACKEND, or \"backend\" in keras.json.";
  std::string absent;
  bool is_known = false, is_ready = false;
  for (const EngineInfo& e : list_engines()) {
    const bool is_chosen = e.name == chosen;
    is_known |= is_chosen;
    if (e.name == kNull) {  // for tests only
      if (is_chosen)
        findings.push_back({State::wrong, "engine " + e.name,
                            "it is chosen, but computes nothing: it is for tests", another});
      continue;
    }
    is_ready |= is_chosen && e.problem.empty();
    const std::string get = "`horngate engines install " + e.name + "` gets it.";
    if (e.problem.empty())
      findings.push_back(
          {State::ok, "engine " + e.name,
           e.version + (e.where.empty() ? "" : ", " + e.where) + (is_chosen ? ", chosen" : "")});
    else if (is_chosen)
      findings.push_back({State::wrong, "engine " + e.name,
                          "it is chosen, but cannot be used: " + e.problem,
                          get + " Or choose another: KERAS_BACKEND=native."});
    else if (!e.absent)
      findings.push_back({State::note, "engine " + e.name, e.problem, get});
    else
      absent += (absent.empty() ? "" : ", ") + e.name;
  }
  if (!is_known)
    findings.push_back(
        {State::wrong, "engine " + chosen, "there is no engine of that name", another});
  if (!absent.empty())
    findings.push_back({State::ok, "more engines",
                        absent + ": not installed; `horngate engines install NAME` gets one"});
  return is_ready;
}

/// A small net, whose answer is known: library, engine and threads work together.
void compute(Findings& findings) {
  set_quiet(true);
  const std::string engine = backend(), on = engine == kNative ? "" : ", on " + engine;
  const std::string remedy =
      "Look at the other lines; if they are fine, " +
      (engine == kNative ? "install Horngate again."
                         : "get the engine again: `horngate engines install " + engine +
                               " --force`. Or choose another: KERAS_BACKEND=native.");
  try {
    const int64_t n = 300;  // large enough for the libraries that multiply matrices
    const Tensor x = placeholder({.shape = {None, n}}),
                 image = placeholder({.shape = {1, 40, 40, 16}});
    const Function f =
        function({x, image}, {sum(dot(x, ones({n, n}))), sum(conv2d(image, ones({5, 5, 16, 32})))});
    const Arrays y = f({ones_array({n, n}), ones_array({1, 40, 40, 16})});
    const double product = y[0].item<float>(), convolution = y[1].item<float>();
    const double p = std::pow(double(n), 3), c = 36.0 * 36 * 32 * 5 * 5 * 16;
    const bool right = std::abs(product / p - 1) < 1e-5 && std::abs(convolution / c - 1) < 1e-5;
    findings.push_back(
        right ? Finding{State::ok, "computing", "a matrix product and a convolution are right" + on}
              : Finding{State::wrong, "computing",
                        "a matrix product or a convolution is wrong" + on, remedy});
  } catch (const std::exception& e) {
    findings.push_back({State::wrong, "computing", e.what(), remedy});
  }
}

/// Our libraries and those that computing needed, by the files that are mapped now.
void look_at_libraries(Findings& findings) {
  std::set<std::string> files;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const size_t at = line.find('/');
    if (at == std::string::npos) continue;
    const std::string file = fs::path(line.substr(at)).filename().string();
    for (const char* name : {"libhorngate", "dnnl", "openblas", "mkl", "gomp", "iomp"})
      if (file.find(name) != std::string::npos && file.find("_engine_") == std::string::npos)
        files.insert(line.substr(at));
  }
  for (const std::string& file : files) findings.push_back({State::ok, "library", file});
}

void print_lines(const Findings& findings, size_t wrong, size_t notes) {
  for (const Finding& f : findings) {
    std::printf("%-6s %-16s %s\n", word_of(f.state), f.what.c_str(), f.text.c_str());
    if (!f.remedy.empty()) std::printf("%-6s %-16s -> %s\n", "", "", f.remedy.c_str());
  }
  const auto count = [](size_t n, const char* one, const char* many) {
    return std::to_string(n) + (n == 1 ? one : many);
  };
  std::printf(
      "\n%s%s.\n",
      wrong ? count(wrong, " thing is wrong", " things are wrong").c_str() : "Nothing is wrong",
      notes ? (", " + count(notes, " note", " notes")).c_str() : "");
}

void print_json(const Findings& findings, size_t wrong) {
  nlohmann::json rows = nlohmann::json::array();
  for (const Finding& f : findings)
    rows.push_back(
        {{"state", word_of(f.state)}, {"what", f.what}, {"text", f.text}, {"remedy", f.remedy}});
  const nlohmann::json all = {{"version", HORNGATE_VERSION}, {"wrong", wrong}, {"findings", rows}};
  std::puts(all.dump(1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

}  // namespace

int doctor(const Arguments& arguments) {
  const bool json = arguments == Arguments{"--json"};
  if (!arguments.empty() && !json) throw ValueError(usage("doctor"));
  Findings findings;
  look_at_machine(findings);
  look_at_environment(findings);
  if (look_at_settings(findings)) {
    // If the chosen engine is broken, there is a line about it by now; try the rest on the built-in one.
    if (!look_at_engines(findings)) set_engine(kNative);
    compute(findings);
    look_at_libraries(findings);
  }
  look_at_python(findings);
  size_t wrong = 0, notes = 0;
  for (const Finding& f : findings) {
    wrong += f.state == State::wrong;
    notes += f.state == State::note;
  }
  if (json)
    print_json(findings, wrong);
  else
    print_lines(findings, wrong, notes);
  return wrong ? 1 : 0;
}

}  // namespace horngate::cli
