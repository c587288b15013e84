// Which mpirun there is, and how it is told what to do.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>

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

/// Names of the variables that ranks on other hosts get too: all but those about one host, session or launcher.
/// MPICH's mpirun passes on all variables by itself.
std::vector<std::string> variables_for_others() {
  std::vector<std::string> out;
  for (char** one = environ; *one; ++one) {
    const std::string_view entry = *one, name = entry.substr(0, entry.find('='));
    const auto is_one_of = [&](std::initializer_list<std::string_view> beginnings) {
      return std::any_of(beginnings.begin(), beginnings.end(),
                         [&](std::string_view b) { return name.starts_with(b); });
    };
    const bool is_plain =
        !name.empty() &&
        name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") ==
            std::string_view::npos;
    if (is_plain && !is_one_of({"HOSTNAME", "HOME",  "USER",   "LOGNAME", "SHELL", "SHLVL", "PWD",
                                "OLDPWD",   "TERM",  "TMPDIR", "DISPLAY", "SSH_",  "XDG_",  "DBUS_",
                                "SUDO_",    "OMPI_", "OPAL_",  "PMIX_",   "PRTE_", "PMI_",  "_"}))
      out.emplace_back(name);
  }
  return out;
}

}  // namespace

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return is_program(name) ? name : "";
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/bin:/usr/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const std::string found = (folder.empty() ? "." : folder) + "/" + name; is_program(found))
      return found;
  return {};
}

Launcher find_launcher() {
  fs::path found;
  if (const std::string set = variable("HORNGATE_MPI"); !set.empty()) {
    found = program_near(set);
    if (found.empty())
      throw ValueError("horngate launch: found no bin/mpirun in or above HORNGATE_MPI=" + set +
                       ".");
  }
  if (found.empty()) found = program_at_home();
  if (found.empty()) found = find_program("mpirun");
  if (found.empty())
    throw ValueError(
        "horngate launch: there is no mpirun. `horngate comm install openmpi` gets one; or put one "
        "on PATH, or name its folder in HORNGATE_MPI.");
  const std::string version = output_of({found.string(), "--version"}).text;
  const auto says = [&](const char* text) { return version.find(text) != std::string::npos; };
  if (says("HYDRA") || says("MPICH") || says("Intel(R) MPI"))
    return {found.string(), Launcher::Kind::mpich};
  if (says("OpenRTE") || says("(Open MPI) 4.")) return {found.string(), Launcher::Kind::open_mpi_4};
  if (says("Open MPI") || says("PRRTE") || says("prterun"))
    return {found.string(), Launcher::Kind::open_mpi_5};
  throw ValueError("horngate launch: " + found.string() +
                   " is neither Open MPI's nor MPICH's mpirun. Start the ranks with it yourself.");
}

std::vector<std::string> launch_command(const Launcher& launcher, const LaunchOptions& options,
                                        const std::string& self) {
  std::vector<std::string> words = {launcher.path};
  const auto add = [&](std::initializer_list<const char*> more) {
    words.insert(words.end(), more.begin(), more.end());
  };
  if (launcher.kind == Launcher::Kind::mpich) {
    if (!options.hosts.empty()) words.insert(words.end(), {"-hosts", options.hosts});
    if (!options.ssh.empty())
      words.insert(words.end(), {"-launcher", "ssh", "-launcher-exec", options.ssh});
    if (options.elastic) add({"-disable-auto-cleanup"});
  } else {
    // Threads are ours to place; more ranks than processors are the user's wish.
    add({"--bind-to", "none"});
    if (!options.hosts.empty()) {
      words.insert(words.end(), {"--host", options.hosts});
      for (const std::string& name : variables_for_others())
        words.insert(words.end(), {"-x", name});
    } else {
      add({"--oversubscribe"});
    }
    if (!options.ssh.empty()) {
      const bool is_5 = launcher.kind == Launcher::Kind::open_mpi_5;
      words.insert(words.end(), {is_5 ? "--prtemca" : "--mca",
                                 is_5 ? "plm_ssh_agent" : "plm_rsh_agent", options.ssh});
    }
    if (geteuid() == 0) add({"--allow-run-as-root"});
    if (options.elastic && launcher.kind == Launcher::Kind::open_mpi_5) add({"--with-ft", "ulfm"});
    if (options.elastic && launcher.kind == Launcher::Kind::open_mpi_4)
      add({"--mca", "orte_enable_recovery", "1"});
  }
  words.insert(words.end(), {"-n", std::to_string(options.ranks), self, "rank"});
  if (options.all_output) words.push_back("--all-output");
  if (options.elastic) words.push_back("--elastic");
  words.push_back("--");
  words.insert(words.end(), options.program.begin(), options.program.end());
  return words;
}

}  // namespace horngate::cli
