# Third-party libraries, as interface targets. They link by file name rather than by imported
# target, so that the exported package does not ask its users for them.
include(HorngateWheels)
horngate_locate_wheels()

# horngate_dnnl: -DDNNL_ROOT=<prefix>, then the PyPI wheels, then Debian's libdnnl-dev.
add_library(horngate_dnnl INTERFACE)
if(DNNL_ROOT)
  find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.hpp HINTS "${DNNL_ROOT}/include" REQUIRED NO_DEFAULT_PATH)
  find_library(DNNL_LIBRARY NAMES dnnl libdnnl.so.3 HINTS "${DNNL_ROOT}/lib" "${DNNL_ROOT}/lib64"
               REQUIRED NO_DEFAULT_PATH)
  horngate_bundle(dnnl_file "${DNNL_LIBRARY}")
  set(dnnl_include "${DNNL_INCLUDE_DIR}")
elseif(WHEEL_DNNL_LIBRARY AND WHEEL_DNNL_INCLUDE)
  horngate_bundle(dnnl_file "${WHEEL_DNNL_LIBRARY}")
  set(dnnl_include "${WHEEL_DNNL_INCLUDE}")
else()
  find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.hpp)
  find_library(DNNL_LIBRARY dnnl)
  if(NOT DNNL_INCLUDE_DIR OR NOT DNNL_LIBRARY)
    message(FATAL_ERROR "oneDNN not found: run tools/setup.sh, or pass -DDNNL_ROOT=<prefix>.")
  endif()
  set(dnnl_file "${DNNL_LIBRARY}")
  set(dnnl_include "${DNNL_INCLUDE_DIR}")
endif()
target_link_libraries(horngate_dnnl INTERFACE "${dnnl_file}")
# SYSTEM keeps their warnings out of our build.
target_include_directories(horngate_dnnl SYSTEM INTERFACE "${dnnl_include}")

# horngate_openblas: -DOPENBLAS_ROOT=<prefix>, then the PyPI wheel, whose symbols are called
# scipy_cblas_sgemm and so on, then Debian's.
add_library(horngate_openblas INTERFACE)
if(WHEEL_OPENBLAS_LIBRARY AND WHEEL_OPENBLAS_INCLUDE AND NOT OPENBLAS_ROOT)
  horngate_bundle(openblas_file "${WHEEL_OPENBLAS_LIBRARY}")
  set(openblas_include "${WHEEL_OPENBLAS_INCLUDE}")
  set(openblas_prefix scipy_)
else()
  find_path(OPENBLAS_INCLUDE_DIR cblas.h HINTS "${OPENBLAS_ROOT}/include"
            PATH_SUFFIXES openblas openblas-openmp openblas-pthread)
  find_library(OPENBLAS_LIBRARY openblas HINTS "${OPENBLAS_ROOT}/lib" PATH_SUFFIXES openblas-openmp)
  if(NOT OPENBLAS_INCLUDE_DIR OR NOT OPENBLAS_LIBRARY)
    message(FATAL_ERROR "OpenBLAS not found: run tools/setup.sh, or install libopenblas-dev.")
  endif()
  set(openblas_file "${OPENBLAS_LIBRARY}")
  set(openblas_include "${OPENBLAS_INCLUDE_DIR}")
  set(openblas_prefix "")
endif()
target_link_libraries(horngate_openblas INTERFACE "${openblas_file}")
target_include_directories(horngate_openblas SYSTEM INTERFACE "${openblas_include}")
target_compile_definitions(horngate_openblas INTERFACE HORNGATE_BLAS_PREFIX=${openblas_prefix})

# horngate_highway: bundled, because few machines have it and Debian offers no static library.
add_library(horngate_highway INTERFACE)
find_path(HIGHWAY_INCLUDE_DIR hwy/highway.h REQUIRED)
find_library(HIGHWAY_LIBRARY hwy REQUIRED)
if(HIGHWAY_LIBRARY MATCHES "\\.so")
  horngate_bundle(highway_file "${HIGHWAY_LIBRARY}")
else()
  set(highway_file "${HIGHWAY_LIBRARY}")
endif()
target_link_libraries(horngate_highway INTERFACE "${highway_file}")
target_include_directories(horngate_highway SYSTEM INTERFACE "${HIGHWAY_INCLUDE_DIR}")

find_package(nlohmann_json 3.11 REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

message(STATUS "oneDNN: ${dnnl_file}")
message(STATUS "OpenBLAS: ${openblas_file} (prefix \"${openblas_prefix}\")")
message(STATUS "Highway: ${highway_file}")
