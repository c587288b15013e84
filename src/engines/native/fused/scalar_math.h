// One element at a time, for the rare cases that vector code passes on and for what is not
// vectorised. Compiled only for the baseline.
#pragma once

#include <cstdint>

namespace horngate::native::fused::scalar {

float sin(float x);
double sin(double x);
float cos(float x);
double cos(double x);
float pow(float x, float y);
double pow(double x, double y);

// As in Python and NumPy: floor(x / y), and the remainder with the sign of y.
float floordiv(float x, float y);
double floordiv(double x, double y);
float mod(float x, float y);
double mod(double x, double y);

// Integers wrap around. Division by zero gives 0.
int32_t div(int32_t x, int32_t y);  // towards zero
int64_t div(int64_t x, int64_t y);
uint64_t div(uint64_t x, uint64_t y);
int32_t floordiv(int32_t x, int32_t y);
int64_t floordiv(int64_t x, int64_t y);
uint64_t floordiv(uint64_t x, uint64_t y);
int32_t mod(int32_t x, int32_t y);
int64_t mod(int64_t x, int64_t y);
uint64_t mod(uint64_t x, uint64_t y);
/// A negative exponent gives 0, except for the bases 1 and -1.
int32_t pow(int32_t x, int32_t y);
int64_t pow(int64_t x, int64_t y);
uint64_t pow(uint64_t x, uint64_t y);

/// Truncates; see float_to_int32 and the like for numbers that do not fit.
int32_t to_i32(double x);
int64_t to_i64(double x);
uint64_t to_u64(double x);

}  // namespace horngate::native::fused::scalar
