// Option values of K functions and the strings that Keras writes for them.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "horngate/dtype.h"
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

/// What Choice calls: the value of a type that a Keras string names.
HORNGATE_API Padding choice_from(std::string_view name, Padding);
HORNGATE_API PoolMode choice_from(std::string_view name, PoolMode);
HORNGATE_API Interpolation choice_from(std::string_view name, Interpolation);
HORNGATE_API DataFormat choice_from(std::string_view name, DataFormat);
inline DType choice_from(std::string_view name, DType) { return dtype_from(name); }

/// Text in any of its types.
template <class S>
concept TextLike =
    std::convertible_to<const S&, std::string_view> && !std::same_as<S, std::nullptr_t>;

/// One of a list, or its Keras string: K::Padding::same, or "same".
template <class E>
class Choice {
 public:
  constexpr Choice(E value) : value_(value) {}
  template <TextLike S>
  Choice(const S& name) : value_(choice_from(name, E())) {}
  constexpr operator E() const { return value_; }

 private:
  E value_;
};
using PaddingChoice = Choice<Padding>;
using PoolModeChoice = Choice<PoolMode>;
using InterpolationChoice = Choice<Interpolation>;

/// The same, or nothing.
template <class E>
class OptionalChoice : public std::optional<E> {
 public:
  using std::optional<E>::optional;
  constexpr OptionalChoice(const std::optional<E>& value) : std::optional<E>(value) {}
  template <TextLike S>
  OptionalChoice(const S& name) : std::optional<E>(choice_from(name, E())) {}
};
using DataFormatChoice = OptionalChoice<DataFormat>;
using DTypeChoice = OptionalChoice<DType>;

/// The same check for a value given as an enumerator.
HORNGATE_API void check_padding(Padding padding, std::string_view function,
                                std::initializer_list<Padding> allowed = {Padding::valid,
                                                                          Padding::same});

}  // namespace horngate
