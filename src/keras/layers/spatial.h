// What layers with one to three spatial axes share.
#pragma once

#include <limits>
#include <string>
#include <type_traits>

#include "horngate/config.h"
#include "keras/layers/body_of.h"

namespace horngate::keras {

template <class T, template <size_t> class U>
struct IsOfRank : std::false_type {};
template <size_t N, template <size_t> class U>
struct IsOfRank<U<N>, U> : std::true_type {};
/// U<N>, or const U<N>, of any rank: one `fields` for all.
template <class T, template <size_t> class U>
concept LikeRank = IsOfRank<std::remove_const_t<T>, U>::value;

/// "Conv", 2: "Conv2D".
inline std::string ranked(const char* family, size_t rank) {
  return family + std::to_string(rank) + "D";
}

/// What is not said is what image_data_format() says now.
inline void settle(DataFormatChoice& format) {
  if (!format) format = image_data_format();
}

/// The axis of the channels, among `rank` + 2.
inline size_t channel_axis(const DataFormatChoice& format, size_t rank) {
  return *format == DataFormat::channels_first ? 1 : rank + 1;
}

/// The first spatial axis.
inline size_t first_axis(const DataFormatChoice& format) {
  return *format == DataFormat::channels_first ? 2 : 1;
}

/// "Conv2D: strides must be positive; got [0, 1]." Larger ones than 2^31 - 1 could overflow where they are multiplied.
template <size_t N>
void check_sizes(const std::string& class_name, const char* what, const std::array<int64_t, N>& got,
                 int64_t least = 1) {
  for (const int64_t size : got)
    if (size < least || size > std::numeric_limits<int32_t>::max())
      throw ValueError(class_name + ": " + what + " must be " +
                       (size >= least ? "at most 2147483647"
                        : least == 1  ? "positive"
                                      : "at least " + std::to_string(least)) +
                       "; got " + to_json(got).dump() + ".");
}

}  // namespace horngate::keras
