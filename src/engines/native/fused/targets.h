// Included before any Highway header: the instruction sets we compile for. The baseline is
// Highway's one-lane target (there is none for SSE2); SSSE3 and the AVX-512 extensions would only
// cost compile time.
#pragma once

// Newer compilers would take four emulated lanes, whose minimum, maximum and rounding are not those that we correct.
#ifndef HWY_BROKEN_EMU128
#define HWY_BROKEN_EMU128 1
#endif
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#endif
