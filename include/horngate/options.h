// Option values of K functions and the strings that Keras writes for them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "horngate/export.h"

namespace horngate {

/// Where image data has its channels: (rows, cols, channels) or (channels, rows, cols).
enum class DataFormat : uint8_t { channels_last, channels_first };

/// How convolutions and pooling treat borders. causal: all padding on the left, for time series;
/// full: every overlap.
enum class Padding : uint8_t { valid, same, causal, full };

enum class PoolMode : uint8_t { max, avg };

/// How resizing computes new pixels.
enum class Interpolation : uint8_t { nearest, bilinear };

/// The Keras string: name_of(Padding::same) is "same".
HORNGATE_API const char* name_of(DataFormat v);
HORNGATE_API const char* name_of(Padding v);
HORNGATE_API const char* name_of(PoolMode v);
HORNGATE_API const char* name_of(Interpolation v);

/// The value that a Keras string names. `function` begins the error, which lists the allowed
/// strings:
/// conv2d: padding must be "valid" or "same"; got "full".
HORNGATE_API DataFormat data_format_from(std::string_view text, std::string_view function);
HORNGATE_API Padding padding_from(std::string_view text, std::string_view function,
                                  std::initializer_list<Padding> allowed = {Padding::valid,
                                                                            Padding::same});
HORNGATE_API PoolMode pool_mode_from(std::string_view text, std::string_view function);
HORNGATE_API Interpolation interpolation_from(std::string_view text, std::string_view function);

/// The same check for a value given as an enumerator.
HORNGATE_API void check_padding(Padding padding, std::string_view function,
                                std::initializer_list<Padding> allowed = {Padding::valid,
                                                                          Padding::same});

}  // namespace horngate
