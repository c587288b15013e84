// A net on frugally-deep behind C functions, for fdeep_runner.py, which compiles it against the headers that its user has.
#include <algorithm>
#include <cstddef>
#include <fdeep/fdeep.hpp>
#include <memory>

namespace {

struct Net {
  fdeep::model model;
  fdeep::tensor_shape shape;
};

}  // namespace

extern "C" void* net_load(const char* path, std::size_t height, std::size_t width,
                          std::size_t channels) {
  return std::make_unique<Net>(Net{fdeep::load_model(path, false, nullptr),
                                   fdeep::tensor_shape(height, width, channels)})
      .release();
}

// It has no batches: one image after the other.
extern "C" void net_predict(void* handle, const float* images, std::size_t n, float* out) {
  const Net& net = *static_cast<Net*>(handle);
  const std::size_t size = net.shape.volume();
  for (std::size_t i = 0; i < n; ++i) {
    const float* image = images + i * size;
    const auto result =
        net.model.predict({fdeep::tensor(net.shape, std::vector<float>(image, image + size))});
    const auto& values = *result.front().as_vector();
    out = std::copy(values.begin(), values.end(), out);
  }
}
