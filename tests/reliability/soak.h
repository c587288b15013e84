// What the programs here share: arguments, figures as one JSON line, memory in use, children with a time limit.
#pragma once

#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace soak {

/// --name value, or what stands here.
inline int64_t argument(int argc, char** argv, const char* name, int64_t otherwise) {
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strncmp(argv[i], "--", 2) == 0 && std::strcmp(argv[i] + 2, name) == 0)
      return std::strtoll(argv[i + 1], nullptr, 10);
  return otherwise;
}

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Resident, in megabytes; what malloc keeps for itself is given back first.
inline double megabytes() {
  malloc_trim(0);
  long pages = 0, resident = 0;
  if (std::FILE* f = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(f, "%ld %ld", &pages, &resident) != 2) resident = 0;
    std::fclose(f);
  }
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1048576.0;
}

/// One JSON line; finish() prints it and gives the status of the program.
class Report {
 public:
  explicit Report(const char* name) : text_(std::string("{\"soak\": \"") + name + "\"") {}
  void add(const char* name, double value) {
    char number[64];
    std::snprintf(number, sizeof number, "%.6g", value);
    text_ += std::string(", \"") + name + "\": " + number;
  }
  /// A figure that must not be above `most`.
  void limit(const char* name, double value, double most) {
    add(name, value);
    if (!(value <= most)) is_well_ = false;
  }
  int finish() {
    add("seconds", now() - begin_);
    std::printf("%s, \"ok\": %s}\n", text_.c_str(), is_well_ ? "true" : "false");
    std::fflush(stdout);
    return is_well_ ? 0 : 1;
  }

 private:
  std::string text_;
  double begin_ = now();
  bool is_well_ = true;
};

enum class Ended { well, wrong, hung };

/// Waits for a child; one that is not done in time is ended.
inline Ended wait_for(pid_t child, double seconds) {
  const double until = now() + seconds;
  int status = 0;
  while (true) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) break;
    if (ended < 0) return Ended::wrong;
    if (now() > until) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return Ended::hung;
    }
    usleep(500);
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? Ended::well : Ended::wrong;
}

}  // namespace soak
