// The options of `horngate launch`.
#include <cstdlib>
#include <sstream>

#include "commands.h"
#include "horngate/error.h"
#include "launch.h"

namespace horngate::cli {
namespace {

constexpr int kMost = 1000000;

/// -1 if it is none.
int number(const std::string& text) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  return text.empty() || *end != 0 || value < 0 || value > kMost ? -1 : static_cast<int>(value);
}

int number_of(const std::string& option, const std::string& text, int least) {
  const int value = number(text);
  if (value < least)
    throw ValueError("horngate launch: " + option + " must be a number of at least " +
                     std::to_string(least) + "; got \"" + text + "\".");
  return value;
}

/// How many ranks the hosts take; a host alone takes one.
int slots_of(const std::string& hosts) {
  int slots = 0;
  std::istringstream all(hosts);
  for (std::string one; std::getline(all, one, ',');) {
    const size_t colon = one.find(':');
    const int here = colon == std::string::npos ? 1 : number(one.substr(colon + 1));
    if (one.empty() || colon == 0 || here < 1)
      throw ValueError("horngate launch: -H must be HOST:SLOTS,HOST:SLOTS,..; got \"" + hosts +
                       "\".");
    slots += here;
  }
  return slots;
}

void check(LaunchOptions& o) {
  if (!o.hosts.empty()) {
    const int slots = slots_of(o.hosts);
    if (o.ranks == 0) o.ranks = slots;
    if (o.ranks > slots)
      throw ValueError("horngate launch: -H must have a slot for each of " +
                       std::to_string(o.ranks) + " ranks; got " + std::to_string(slots) + ".");
  }
  if (o.ranks == 0 || o.program.empty()) throw ValueError(usage("launch"));
  // Checked once here rather than by every rank; with other hosts, each rank finds out on its own.
  if (o.hosts.empty() && find_program(o.program[0]).empty())
    throw ValueError(
        "horngate launch: PROGRAM must be on PATH or the path of an executable file; got \"" +
        o.program[0] + "\".");
}

}  // namespace

LaunchOptions read_launch_options(const std::vector<std::string>& words) {
  LaunchOptions out;
  size_t at = 0;
  const auto value = [&] {
    if (at + 1 >= words.size())
      throw ValueError("horngate launch: " + words[at] + " needs a value.\n" + usage("launch"));
    return words[++at];
  };
  for (; at < words.size() && words[at].size() > 1 && words[at][0] == '-'; ++at) {
    const std::string& word = words[at];
    if (word == "--") {
      ++at;
      break;
    }
    if (word == "-n")
      out.ranks = number_of(word, value(), 1);
    else if (word == "-H")
      out.hosts = value();
    else if (word == "--ssh")
      out.ssh = value();
    else if (word == "--restarts")
      out.restarts = number_of(word, value(), 0);
    else if (word == "--all-output")
      out.all_output = true;
    else if (word == "--elastic")
      out.elastic = true;
    else
      throw ValueError("horngate launch: there is no option \"" + word + "\".\n" + usage("launch"));
  }
  out.program.assign(words.begin() + static_cast<ptrdiff_t>(at), words.end());
  check(out);
  return out;
}

}  // namespace horngate::cli
