// What each `horngate rank` tells `horngate launch` when its program has ended: through mpirun's standard error, the
// only channel that every mpirun has from every host.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace horngate::cli {

struct Report {
  int rank = 0;
  int status = 0;         // of wait
  bool is_told = false;   // it was told to end
  bool was_open = false;  // it had met the other ranks, which now can go on without it
  std::string host;

  bool is_well() const { return status == 0; }
  /// As of a shell: 128 + signal.
  int code() const;
  /// "rank 2 (host b) ended by a signal: Killed."
  std::string text() const;
};

/// One piece of output, between marks that ordinary text does not contain.
std::string packed(const Report& report);

/// Takes reports out of a stream of text.
class ReportReader {
 public:
  /// The text of what came, without reports; these go to `reports`.
  std::string take(std::string_view data, std::vector<Report>& reports);
  /// What is left at the end.
  std::string rest() { return std::exchange(unread_, {}); }

 private:
  std::string unread_;
};

}  // namespace horngate::cli
