// For plug-ins: what a function that failed leaves, and how long it may wait.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string_view>

#include "horngate/comm.h"

namespace horngate::comm {

/// Fills the status, cutting off text that does not fit. Returns 1, like a function that failed.
inline int fail(hg_comm_status* status, int32_t code, std::string_view text, int32_t rank = -1) {
  status->code = code;
  status->rank = rank;
  const size_t n = std::min(text.size(), sizeof status->text - 1);
  std::memcpy(status->text, text.data(), n);
  status->text[n] = 0;
  return 1;
}

/// The value of an option, or `otherwise`.
inline std::string_view option(const hg_comm_open* how, std::string_view name,
                               std::string_view otherwise = {}) {
  for (uint32_t i = 0; i < how->n_option; ++i)
    if (how->option[i] == name) return how->value[i];
  return otherwise;
}

/// Whether waiting must end, asked often; looks at the clock and the host only every so often.
class Limit {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Limit(const hg_comm_patience* p) : patience_(p), began_(Clock::now()) {}

  /// 0, HG_INTERRUPTED or HG_COMM_TIMEOUT.
  int32_t reached() const {
    if (patience_->stopped && patience_->stopped(patience_->ctx)) return HG_INTERRUPTED;
    const auto past = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - began_);
    if (patience_->nanoseconds >= 0 && past.count() > patience_->nanoseconds)
      return HG_COMM_TIMEOUT;
    return 0;
  }
  Clock::time_point began() const { return began_; }

 private:
  const hg_comm_patience* patience_;
  const Clock::time_point began_;
};

}  // namespace horngate::comm
