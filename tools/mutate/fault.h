// Included by every source that tools/mutate.py plants faults into: which of them is on. One number for the
// whole process, from the environment, so that one build serves all faults.
#pragma once

#include <stdlib.h>

inline const long horngate_fault_on = [] {
  const char* text = ::getenv("HORNGATE_FAULT");
  return text ? ::strtol(text, nullptr, 10) : 0L;
}();

#define HORNGATE_FAULT(number) (__builtin_expect(horngate_fault_on == (number), 0))
