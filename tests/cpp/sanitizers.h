// Which sanitizer the tests were built with: some of them measure what one of these changes.
#pragma once

#if defined(__SANITIZE_THREAD__)
#define HORNGATE_SANITIZED 2
#elif defined(__SANITIZE_ADDRESS__)
#define HORNGATE_SANITIZED 1
#else
#define HORNGATE_SANITIZED 0
#endif

namespace horngate::testing {

inline constexpr bool kSanitized = HORNGATE_SANITIZED != 0;
inline constexpr bool kAddressSanitizer = HORNGATE_SANITIZED == 1;
inline constexpr bool kThreadSanitizer = HORNGATE_SANITIZED == 2;
/// Why tests that fork are skipped there.
inline constexpr const char* kNoForks = "a fork takes more locks than the thread sanitizer counts";

}  // namespace horngate::testing
