#include "ir/switches.h"

#include <atomic>
#include <string>

#include "ir/check.h"
#include "ir/environment.h"

namespace horngate {
namespace {

constexpr const char* kNames[] = {
#define HORNGATE_PASS(name, what) #name,
#include "ir/switches.def"
#undef HORNGATE_PASS
};
static_assert(std::size(kNames) <= 64);

constexpr uint64_t bit(Pass pass) { return uint64_t{1} << static_cast<unsigned>(pass); }

uint64_t read(std::string_view names) {
  uint64_t without = 0;
  for (size_t at = 0; at < names.size();) {
    const size_t end = std::min(names.find(',', at), names.size());
    const std::string_view name = names.substr(at, end - at);
    at = end + 1;
    if (name.empty()) continue;
    size_t i = 0;
    while (i < std::size(kNames) && name != kNames[i]) ++i;
    if (i == std::size(kNames)) {
      std::string all;
      for (const char* known : kNames) all += text_of(all.empty() ? "" : ", ", known);
      fail("HORNGATE_WITHOUT", "must be a comma-separated list of passes (", all, "); got \"", name,
           "\".");
    }
    without |= uint64_t{1} << i;
  }
  return without;
}

/// HORNGATE_JIT=0 and HORNGATE_WINOGRAD=0 are older spellings of the same.
uint64_t read_environment() {
  uint64_t without = read(environment_text("HORNGATE_WITHOUT"));
  if (!environment_flag("HORNGATE_JIT", true)) without |= bit(Pass::jit);
  if (!environment_flag("HORNGATE_WINOGRAD", true)) without |= bit(Pass::winograd);
  return without;
}

std::atomic<uint64_t>& without() {
  static std::atomic<uint64_t> value = read_environment();
  return value;
}

std::atomic<bool>& verified() {
#ifdef NDEBUG
  constexpr bool kOtherwise = false;
#else
  constexpr bool kOtherwise = true;
#endif
  static std::atomic<bool> value = environment_flag("HORNGATE_VERIFY", kOtherwise);
  return value;
}

}  // namespace

bool is_on(Pass pass) { return !(without() & bit(pass)) && !is_plain(); }
void set_without(std::string_view names) { without() = read(names); }
bool is_plain() {
  static const bool value = environment_flag("HORNGATE_PLAIN");
  return value;
}
bool is_verified() { return verified(); }
void set_verified(bool value) { verified() = value; }

void check_switches() {
  (void)read_environment();
  (void)is_plain();
  (void)is_verified();
}

}  // namespace horngate
