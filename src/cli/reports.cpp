// Reports of ranks as text.
#include "reports.h"

#include <string.h>
#include <sys/wait.h>

#include <sstream>
#include <utility>

namespace horngate::cli {
namespace {

constexpr char kMark = '\x1e';
constexpr std::string_view kWord = "\x1ehorngate rank ";
constexpr size_t kMost = 400;  // bytes of a report

}  // namespace

int Report::code() const {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string Report::text() const {
  const std::string how = WIFEXITED(status)
                              ? "with code " + std::to_string(WEXITSTATUS(status))
                              : std::string("by a signal: ") + strsignal(WTERMSIG(status));
  return "rank " + std::to_string(rank) + " (host " + host + ") ended " + how + ".";
}

std::string packed(const Report& report) {
  std::ostringstream out;
  out << kWord << report.rank << ' ' << report.status << ' ' << report.is_told << ' '
      << report.was_open << ' ' << report.host << kMark << '\n';
  return out.str();
}

std::string ReportReader::take(std::string_view data, std::vector<Report>& reports) {
  unread_ += data;
  std::string text;
  for (;;) {
    const size_t begin = unread_.find(kMark);
    text += unread_.substr(0, begin);
    unread_.erase(0, begin);  // all of it, if there is no mark
    const size_t end = unread_.find(kMark, 1), newline = unread_.find('\n', 1);
    const size_t known = std::min(unread_.size(), kWord.size());
    const bool is_ours = unread_.compare(0, known, kWord.substr(0, known)) == 0;
    if (unread_.empty() || (is_ours && newline == std::string::npos && unread_.size() < kMost))
      return text;  // the rest of it is to come
    Report report;
    std::istringstream words(
        is_ours && end < newline ? unread_.substr(kWord.size(), end - kWord.size()) : "");
    if (words >> report.rank >> report.status >> report.is_told >> report.was_open >> report.host) {
      reports.push_back(std::move(report));
      unread_.erase(0, newline + 1);
    } else {  // somebody else's mark
      text += kMark;
      unread_.erase(0, 1);
    }
  }
}

}  // namespace horngate::cli
