// Starting a program as several ranks.
#pragma once

#include <string>
#include <vector>

namespace horngate::cli {

/// An mpirun, and what kind it is.
struct Launcher {
  enum class Kind { open_mpi_5, open_mpi_4, mpich };
  std::string path;
  Kind kind = Kind::open_mpi_5;
};

struct LaunchOptions {
  int ranks = 0;
  std::string hosts;  // host:slots,..
  std::string ssh;    // what reaches them; empty: ssh
  int restarts = 0;
  bool all_output = false, elastic = false;
  std::vector<std::string> program;
};

/// The words after `horngate launch`. Throws if they do not fit.
LaunchOptions read_launch_options(const std::vector<std::string>& words);

/// Where execvp finds a program; empty if it does not.
std::string find_program(const std::string& name);

/// HORNGATE_MPI's, else that of `horngate comm install`, else the one on PATH. Throws with advice if there is none.
Launcher find_launcher();

/// The words that start the ranks of the program, each through `horngate rank`.
std::vector<std::string> launch_command(const Launcher& launcher, const LaunchOptions& options,
                                        const std::string& self);

}  // namespace horngate::cli
