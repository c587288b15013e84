// horngate engines: a line per engine, or all as JSON.
#include <algorithm>
#include <cstdio>

#include "commands.h"
#include "horngate/config.h"
#include "horngate/engines.h"

namespace horngate::cli {
namespace {

/// Without the words with which every such error begins.
std::string reason(const EngineInfo& e) {
  const std::string start = "engine " + e.name + ": ", opening = "could not be opened: ";
  std::string text = e.problem;
  for (const std::string& words : {start, opening})
    if (text.rfind(words, 0) == 0) text.erase(0, words.size());
  return text;
}

std::string state(const EngineInfo& e) {
  if (e.problem.empty())
    return "ready          " + (e.path.empty()    ? std::string("built in")
                                : e.where.empty() ? e.path
                                                  : e.where);
  if (e.absent) return "not installed  `horngate engines install " + e.name + "` gets it";
  return "not ready      " + reason(e);
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    char code[8];
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20)
      out.append(code, static_cast<size_t>(std::snprintf(code, sizeof code, "\\u%04x", c)));
    else
      out += c;
  }
  return out + "\"";
}

void print_json(const std::vector<EngineInfo>& all, const std::string& current) {
  std::puts("[");
  for (const EngineInfo& e : all)
    std::printf(
        " {\"name\": %s, \"chosen\": %s, \"installed\": %s, \"ready\": %s, \"version\": %s,\n"
        "  \"where\": %s, \"plugin\": %s, \"problem\": %s}%s\n",
        quoted(e.name).c_str(), e.name == current ? "true" : "false", e.absent ? "false" : "true",
        e.problem.empty() ? "true" : "false", quoted(e.version).c_str(), quoted(e.where).c_str(),
        quoted(e.path).c_str(), quoted(reason(e)).c_str(), &e == &all.back() ? "" : ",");
  std::puts("]");
}

}  // namespace

/// `--only NAME..`: lists only those, and returns 1 unless all are ready.
int engines_list(const Arguments& arguments) {
  std::vector<EngineInfo> all = list_engines();
  const bool only = !arguments.empty() && arguments[0] == "--only";
  const bool json = arguments == Arguments{"--json"};
  if (!arguments.empty() && !only && !json) {
    std::fprintf(
        stderr,
        "horngate engines: unknown argument \"%s\"; use `horngate engines`, with --json, or "
        "`horngate engines install|remove|test NAME`.\n",
        arguments[0].c_str());
    return 2;
  }
  if (only)
    std::erase_if(all, [&](const EngineInfo& e) {
      return std::find(arguments.begin() + 1, arguments.end(), e.name) == arguments.end();
    });
  const std::string current = backend();
  if (json)
    print_json(all, current);
  else
    for (const EngineInfo& e : all)
      std::printf("%c %-12s %-8s %s\n", e.name == current ? '*' : ' ', e.name.c_str(),
                  e.version.empty() || !e.problem.empty() ? "-" : e.version.c_str(),
                  state(e).c_str());
  const bool ready =
      std::all_of(all.begin(), all.end(), [](const EngineInfo& e) { return e.problem.empty(); });
  return only && !ready ? 1 : 0;
}

}  // namespace horngate::cli
