// Geometry of a convolution or pool, and the products of a convolution one by one: for tests of kernels.
#pragma once

#include <string>

#include "kernel_runner.h"

namespace horngate::native {

inline size_t at(int64_t i) { return static_cast<size_t>(i); }

struct Windows {
  int64_t n, c, o;
  Ints in, taps, strides, low, high, dilation;
  int64_t groups = 1;
  bool channels_first = false;

  std::string text() const {
    return text_of("n=", n, " c=", c, " o=", o, " in=", in, " taps=", taps, " strides=", strides,
                   " low=", low, " high=", high, " dilation=", dilation, " groups=", groups,
                   " channels_first=", channels_first);
  }
  Ints out() const {
    Ints r;
    for (size_t i = 0; i < in.size(); ++i)
      r.push_back(in[i] == 0
                      ? 0
                      : (in[i] + low[i] + high[i] - dilation[i] * (taps[i] - 1) - 1) / strides[i] +
                            1);
    return r;
  }
  Ints data_dims(int64_t channels, const Ints& spatial) const {
    Ints r = spatial;
    r.insert(channels_first ? r.begin() : r.end(), channels);
    r.insert(r.begin(), n);
    return r;
  }
  Ints kernel_dims() const {
    Ints r = taps;
    r.push_back(c / groups);
    r.push_back(o);
    return r;
  }
  int64_t products() const { return n * count_of(out()) * count_of(taps) * o * (c / groups); }

  /// Calls f(x, w, y) with the positions of every product.
  template <class F>
  void for_products(F f) const {
    const Ints size = out();
    const auto place = [&](int64_t image, int64_t ch, int64_t channels, int64_t p, int64_t pixels) {
      return channels_first ? at((image * channels + ch) * pixels + p)
                            : at((image * pixels + p) * channels + ch);
    };
    const int64_t cg = c / groups, og = o / groups;
    for_indices(size, [&](const Ints& p) {
      for_indices(taps, [&](const Ints& t) {
        Ints q(p.size());
        for (size_t i = 0; i < p.size(); ++i) {
          q[i] = p[i] * strides[i] - low[i] + t[i] * dilation[i];
          if (q[i] < 0 || q[i] >= in[i]) return;
        }
        const int64_t from = flat(q, in), to = flat(p, size), tap = flat(t, taps);
        for (int64_t image = 0; image < n; ++image)
          for (int64_t j = 0; j < o; ++j)
            for (int64_t i = 0; i < cg; ++i)
              f(place(image, j / og * cg + i, c, from, count_of(in)), at((tap * cg + i) * o + j),
                place(image, j, o, to, count_of(size)));
      });
    });
  }
};

template <class A>
A conv_attrs(const Windows& k) {
  A a;
  a.strides = k.strides;
  a.pad_low = k.low;
  a.pad_high = k.high;
  a.dilation = k.dilation;
  a.groups = k.groups;
  a.channels_first = k.channels_first;
  return a;
}

}  // namespace horngate::native
