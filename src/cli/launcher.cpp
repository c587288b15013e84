// Which mpirun there is, and how it is told what to do.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "child.h"
#include "horngate/error.h"
#include "launch.h"

namespace horngate::cli {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& path) { return access(path.c_str(), X_OK) == 0; }

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// bin/mpirun above a file or folder that HORNGATE_MPI names.
fs::path program_near(fs::path place) {
  for (int up = 0; up < 4 && !place.empty(); ++up, place = place.parent_path())
    for (const char* name : {"bin/mpirun", "bin/mpirun.openmpi", "bin/mpiexec"})
      if (is_program(place / name)) return place / name;
  return {};
}

fs::path program_at_home() {
  fs::path home = variable("HORNGATE_HOME");
  if (home.empty() && !variable("HOME").empty()) home = fs::path(variable("HOME")) / ".horngate";
  for (const char* name : {"openmpi", "mpich"})
    if (const fs::path found = home / "comm" / name / "bin" / "mpirun"; is_program(found))
      return found;
  return {};
}

fs::path program_on_path() {
  std::istringstream folders(variable("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const fs::path found = fs::path(folder) / "mpirun"; is_program(found)) return found;
  return {};
}

}  // namespace

Launcher find_launcher() {
  fs::path found;
  if (const std::string set = variable("HORNGATE_MPI"); !set.empty()) {
    found = program_near(set);
    if (found.empty())
      throw ValueError("horngate launch: there is no mpirun near HORNGATE_MPI, which is " + set +
                       ".");
  }
  if (found.empty()) found = program_at_home();
  if (found.empty()) found = program_on_path();
  if (found.empty())
    throw ValueError(
        "horngate launch: there is no mpirun. `horngate comm install openmpi` gets one; or put one "
        "on "
        "PATH, or name its folder in HORNGATE_MPI.");
  const std::string version = output_of({found.string(), "--version"}).text;
  const auto says = [&](const char* text) { return version.find(text) != std::string::npos; };
  if (says("HYDRA") || says("MPICH") || says("Intel(R) MPI"))
    return {found.string(), Launcher::Kind::mpich};
  if (says("OpenRTE") || says("(Open MPI) 4.")) return {found.string(), Launcher::Kind::open_mpi_4};
  if (says("Open MPI") || says("PRRTE") || says("prterun"))
    return {found.string(), Launcher::Kind::open_mpi_5};
  throw ValueError(
      "horngate launch: " + found.string() +
      " is neither Open MPI's nor MPICH's mpirun. Start the program with it by yourself.");
}

std::vector<std::string> launch_command(const Launcher& launcher, const LaunchOptions& options,
                                        const std::string& self) {
  std::vector<std::string> words = {launcher.path};
  const auto add = [&](std::initializer_list<const char*> more) {
    words.insert(words.end(), more.begin(), more.end());
  };
  if (launcher.kind == Launcher::Kind::mpich) {
    if (!options.hosts.empty()) words.insert(words.end(), {"-hosts", options.hosts});
    if (options.elastic) add({"-disable-auto-cleanup"});
  } else {
    // Threads are ours to place; more ranks than processors are the user's wish.
    add({"--bind-to", "none"});
    if (!options.hosts.empty())
      words.insert(words.end(), {"--host", options.hosts});
    else
      add({"--oversubscribe"});
    if (geteuid() == 0) add({"--allow-run-as-root"});
    if (options.elastic && launcher.kind == Launcher::Kind::open_mpi_5) add({"--with-ft", "ulfm"});
    if (options.elastic && launcher.kind == Launcher::Kind::open_mpi_4)
      add({"--mca", "orte_enable_recovery", "1"});
  }
  words.insert(words.end(), {"-n", std::to_string(options.ranks), self, "rank"});
  if (options.all_output) words.push_back("--all-output");
  words.push_back("--");
  words.insert(words.end(), options.program.begin(), options.program.end());
  return words;
}

}  // namespace horngate::cli
