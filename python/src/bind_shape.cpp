// Changing shapes: what bind_regular.cpp does not bind.
#include "horngate/ops/shape.h"

#include "call.h"
#include "sections.h"
#include "text.h"

namespace horngate::python {
namespace {

/// ((before, after), ..), N pairs.
template <size_t N>
std::array<PaddingPair, N> pairs(Call& call, handle padding) {
  PyObject* items = PySequence_Fast(padding.ptr(), "");
  if (!items) PyErr_Clear();
  const nb::object held = nb::steal(items);
  if (!items || PySequence_Fast_GET_SIZE(items) != static_cast<Py_ssize_t>(N))
    throw ValueError(std::string(call.function()) + ": padding must be " + std::to_string(N) +
                     " pairs (before, after); got " + repr_of(padding) + ".");
  std::array<PaddingPair, N> out;
  for (size_t i = 0; i < N; ++i) {
    const handle item(PySequence_Fast_GET_ITEM(items, static_cast<Py_ssize_t>(i)));
    out[i] = call.several<2>(item, "padding");
  }
  return out;
}

void bind_resizing(nb::module_& m) {
  m.def("resize_images", [](Any x, Any height_factor, Any width_factor, Any data_format,
                            Any interpolation) {
    Call call("resize_images");
    const Tensor t = call.tensor(x);
    const DataFormat format = data_format_from(str_of(data_format), call.function());
    return call.result(resize_images(t, call.integer(height_factor, "height_factor"),
                                     call.integer(width_factor, "width_factor"), format,
                                     interpolation_from(str_of(interpolation), call.function())));
  });
  m.def("resize_volumes",
        [](Any x, Any depth_factor, Any height_factor, Any width_factor, Any data_format) {
          Call call("resize_volumes");
          const Tensor t = call.tensor(x);
          const DataFormat format = data_format_from(str_of(data_format), call.function());
          return call.result(resize_volumes(t, call.integer(depth_factor, "depth_factor"),
                                            call.integer(height_factor, "height_factor"),
                                            call.integer(width_factor, "width_factor"), format));
        });
  m.def("temporal_padding", [](Any x, Any padding) {
    Call call("temporal_padding");
    const Tensor t = call.tensor(x);
    return call.result(temporal_padding(t, call.several<2>(padding, "padding")));
  });
  m.def("spatial_2d_padding", [](Any x, Any padding, Any data_format) {
    Call call("spatial_2d_padding");
    const Tensor t = call.tensor(x);
    return call.result(spatial_2d_padding(
        t, {.padding = pairs<2>(call, padding), .data_format = call.data_format(data_format)}));
  });
  m.def("spatial_3d_padding", [](Any x, Any padding, Any data_format) {
    Call call("spatial_3d_padding");
    const Tensor t = call.tensor(x);
    return call.result(spatial_3d_padding(
        t, {.padding = pairs<3>(call, padding), .data_format = call.data_format(data_format)}));
  });
}

}  // namespace

void bind_shape(nb::module_& m) {
  m.def("reverse", [](Any x, Any axes) {
    Call call("reverse");
    const Tensor t = call.tensor(x);
    return call.result(reverse(t, call.ints(axes, "axes")));
  });
  bind_resizing(m);
}

}  // namespace horngate::python
