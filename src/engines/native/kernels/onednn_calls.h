// oneDNN's header, with the C functions that we use (its C++ API calls them) bound at their first call: the library
// is large and its code generator slow to start, and many programs do not need it. A function missing from the list
// fails when libhorngate.so is linked.
#pragma once

#include "engines/native/late_library.h"
#include "oneapi/dnnl/dnnl.h"

namespace horngate::native::onednn {
/// oneDNN, loaded by the first call.
const LateLibrary& library();
}  // namespace horngate::native::onednn

#define HORNGATE_LATE(name)                                                    \
  ([] {                                                                        \
    static const auto kFound =                                                 \
        ::horngate::native::onednn::library().function<decltype(name)>(#name); \
    return kFound;                                                             \
  }())

#define dnnl_convolution_backward_data_primitive_desc_create \
  HORNGATE_LATE(dnnl_convolution_backward_data_primitive_desc_create)
#define dnnl_convolution_backward_weights_primitive_desc_create \
  HORNGATE_LATE(dnnl_convolution_backward_weights_primitive_desc_create)
#define dnnl_convolution_forward_primitive_desc_create \
  HORNGATE_LATE(dnnl_convolution_forward_primitive_desc_create)
#define dnnl_engine_create HORNGATE_LATE(dnnl_engine_create)
#define dnnl_engine_destroy HORNGATE_LATE(dnnl_engine_destroy)
#define dnnl_memory_create_v2 HORNGATE_LATE(dnnl_memory_create_v2)
#define dnnl_memory_desc_clone HORNGATE_LATE(dnnl_memory_desc_clone)
#define dnnl_memory_desc_create_with_strides HORNGATE_LATE(dnnl_memory_desc_create_with_strides)
#define dnnl_memory_desc_create_with_tag HORNGATE_LATE(dnnl_memory_desc_create_with_tag)
#define dnnl_memory_desc_destroy HORNGATE_LATE(dnnl_memory_desc_destroy)
#define dnnl_memory_desc_equal HORNGATE_LATE(dnnl_memory_desc_equal)
#define dnnl_memory_desc_get_size_v2 HORNGATE_LATE(dnnl_memory_desc_get_size_v2)
#define dnnl_memory_desc_query HORNGATE_LATE(dnnl_memory_desc_query)
#define dnnl_memory_destroy HORNGATE_LATE(dnnl_memory_destroy)
#define dnnl_memory_set_data_handle HORNGATE_LATE(dnnl_memory_set_data_handle)
#define dnnl_primitive_attr_create HORNGATE_LATE(dnnl_primitive_attr_create)
#define dnnl_primitive_attr_destroy HORNGATE_LATE(dnnl_primitive_attr_destroy)
#define dnnl_primitive_attr_set_scratchpad_mode \
  HORNGATE_LATE(dnnl_primitive_attr_set_scratchpad_mode)
#define dnnl_primitive_create HORNGATE_LATE(dnnl_primitive_create)
#define dnnl_primitive_desc_destroy HORNGATE_LATE(dnnl_primitive_desc_destroy)
#define dnnl_primitive_desc_query HORNGATE_LATE(dnnl_primitive_desc_query)
#define dnnl_primitive_desc_query_md HORNGATE_LATE(dnnl_primitive_desc_query_md)
#define dnnl_primitive_destroy HORNGATE_LATE(dnnl_primitive_destroy)
#define dnnl_primitive_execute HORNGATE_LATE(dnnl_primitive_execute)
#define dnnl_reorder_primitive_desc_create HORNGATE_LATE(dnnl_reorder_primitive_desc_create)
#define dnnl_sgemm HORNGATE_LATE(dnnl_sgemm)
#define dnnl_stream_create HORNGATE_LATE(dnnl_stream_create)
#define dnnl_stream_destroy HORNGATE_LATE(dnnl_stream_destroy)

#include "oneapi/dnnl/dnnl.hpp"  // IWYU pragma: export
