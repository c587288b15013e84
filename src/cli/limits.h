// What this machine can do at most, measured on the spot: the yardstick of profiles.
#pragma once

namespace horngate::cli {

struct Limits {
  double flops;      // float32 multiply-adds (two each), per second, on all threads
  double bandwidth;  // bytes read and written per second by a large copy, on all threads
};
/// Takes a few tenths of a second.
Limits measure_limits(int threads);

}  // namespace horngate::cli
