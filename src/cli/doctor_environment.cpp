// What doctor finds in the environment, and in the Python beside it.
#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "doctor.h"
#include "python.h"

namespace horngate::cli {
namespace {

// tests/python/test_command.py compares the list with what the sources read.
constexpr std::string_view kVariables[] = {
    "HORNGATE_BACKEND_NAME",
    "HORNGATE_CNTK",
    "HORNGATE_CNTK_CONV_THREADS",
    "HORNGATE_COMM",
    "HORNGATE_COMM_OPTIONS",
    "HORNGATE_COMM_PATH",
    "HORNGATE_COMM_TIMEOUT",
    "HORNGATE_ENGINE_OPTIONS",
    "HORNGATE_ENGINE_PATH",
    "HORNGATE_HOME",
    "HORNGATE_JIT",
    "HORNGATE_KERAS_COMPAT",
    "HORNGATE_KERAS_COMPAT_WITHOUT",
    "HORNGATE_LOG",
    "HORNGATE_MPI",
    "HORNGATE_NO_CONFIG_WRITE",
    "HORNGATE_NUM_THREADS",
    "HORNGATE_ONNX",
    "HORNGATE_PLAIN",
    "HORNGATE_PLAN_BYTES",
    "HORNGATE_PROFILE",
    "HORNGATE_PYTHON",
    "HORNGATE_PYTHON_PATHS",
    "HORNGATE_QUIET",
    "HORNGATE_RESTART",
    "HORNGATE_SIMD",
    "HORNGATE_STRICT",
    "HORNGATE_TAPE_BYTES",
    "HORNGATE_TENSORFLOW",
    "HORNGATE_THEANO",
    "HORNGATE_THEANO_CACHE",
    "HORNGATE_THEANO_FLAGS",
    "HORNGATE_THEANO_MODE",
    "HORNGATE_VERIFY",
    "HORNGATE_WINOGRAD",
    "HORNGATE_WITHOUT",
};

/// How many letters must be added, left out or changed to make one word of another.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

constexpr const char* kAskPython = R"(
import importlib.util, json, sys
def version(name):
    if importlib.util.find_spec(name) is None:
        return None
    try:
        from importlib.metadata import version
        return version(name)
    except Exception:
        return "?"
found = {"python": sys.version.split()[0], "numpy": version("numpy"), "keras": version("Keras") or version("keras")}
try:
    import horngate
    found["horngate"] = horngate.__version__
except Exception as e:
    found["horngate"] = None
    found["why"] = f"{type(e).__name__}: {e}"
print(json.dumps(found))
)";

}  // namespace

void look_at_environment(Findings& findings) {
  bool all_known = true;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('='));
    const bool is_ours = name.rfind("HORNGATE_", 0) == 0 && name.rfind("HORNGATE_TEST_", 0) != 0;
    if (!is_ours ||
        std::find(std::begin(kVariables), std::end(kVariables), name) != std::end(kVariables))
      continue;
    all_known = false;
    const auto near =
        std::min_element(std::begin(kVariables), std::end(kVariables),
                         [&](auto a, auto b) { return distance(name, a) < distance(name, b); });
    findings.push_back(
        {State::note, "environment", std::string(name) + " is set, but nothing reads it",
         distance(name, *near) <= 3 ? "Did you mean " + std::string(*near) + "?" : "Unset it."});
  }
  if (all_known)
    findings.push_back(
        {State::ok, "environment", "all HORNGATE_ variables that are set are known"});
}

void look_at_python(Findings& findings) {
  const std::string python = find_python();
  const Output out = ask_python(kAskPython);
  const nlohmann::json found = nlohmann::json::parse(out.text, nullptr, false);
  if (out.code != 0 || !found.is_object()) {
    findings.push_back(
        {State::note, "python", "\"" + python + "\" cannot be run",
         "Only the Python module needs it: install Python, or set HORNGATE_PYTHON."});
    return;
  }
  const auto text = [&](const char* key) {
    return found[key].is_string() ? found[key].get<std::string>() : "";
  };
  findings.push_back(
      {State::ok, "python",
       text("python") + ", " + python + (text("numpy").empty() ? "" : ", NumPy " + text("numpy"))});
  const std::string version = text("horngate");
  if (version.empty())
    findings.push_back(
        {State::note, "module", "this Python cannot import horngate: " + text("why"),
         "C++ needs no Python. For Python: pip install horngate there, or set HORNGATE_PYTHON."});
  else if (version != HORNGATE_VERSION)
    findings.push_back(
        {State::wrong, "module",
         "this Python has horngate " + version + ", the command is " + HORNGATE_VERSION,
         "Two installations are mixed: remove one, or set HORNGATE_PYTHON."});
  else
    findings.push_back({State::ok, "module", "horngate " + version});
  if (text("keras").empty()) return;
  const char* backend = std::getenv("KERAS_BACKEND");
  const std::string keras = "Keras " + text("keras");
  if (text("keras").rfind("3", 0) == 0)
    findings.push_back({State::note, "keras", keras + " cannot use backends from other packages",
                        "Horngate serves Keras 1.0 to 2.3.1: pip install keras==2.3.1."});
  else if (backend && std::strncmp(backend, "horngate", 8) == 0)
    findings.push_back({State::ok, "keras", keras + " on " + backend});
  else
    findings.push_back(
        {State::ok, "keras", keras + "; it runs on Horngate with KERAS_BACKEND=horngate"});
}

}  // namespace horngate::cli
