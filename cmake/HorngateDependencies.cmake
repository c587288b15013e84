# Third-party libraries, as interface targets. oneDNN and OpenBLAS are loaded while a program runs, by
# the file name HORNGATE_DNNL_FILE or HORNGATE_OPENBLAS_FILE; horngate_dnnl_linked and
# horngate_openblas_linked are for programs of ours that call them directly.
include(HorngateWheels)
horngate_locate_wheels()

# Offers `library` as horngate_<name> and horngate_<name>_linked.
function(horngate_late_library name library include)
  horngate_soname(file "${library}")
  string(TOUPPER "${name}" upper)
  add_library(horngate_${name} INTERFACE)
  # SYSTEM keeps their warnings out of our build.
  target_include_directories(horngate_${name} SYSTEM INTERFACE "${include}")
  target_compile_definitions(horngate_${name} INTERFACE HORNGATE_${upper}_FILE="${file}")
  add_library(horngate_${name}_linked INTERFACE)
  target_link_libraries(horngate_${name}_linked INTERFACE horngate_${name} "${library}")
endfunction()

# horngate_dnnl: -DDNNL_ROOT=<prefix>, then the PyPI wheels, then Debian's libdnnl-dev.
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
horngate_late_library(dnnl "${dnnl_file}" "${dnnl_include}")

# horngate_openblas: -DOPENBLAS_ROOT=<prefix>, then the PyPI wheel, whose symbols are called
# scipy_cblas_sgemm and so on, then Debian's.
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
  if(OPENBLAS_ROOT)
    horngate_bundle(openblas_file "${OPENBLAS_LIBRARY}")
  else()
    set(openblas_file "${OPENBLAS_LIBRARY}")
  endif()
  set(openblas_include "${OPENBLAS_INCLUDE_DIR}")
  set(openblas_prefix "")
endif()
horngate_late_library(openblas "${openblas_file}" "${openblas_include}")
target_compile_definitions(horngate_openblas INTERFACE HORNGATE_OPENBLAS_PREFIX="${openblas_prefix}")
target_compile_definitions(horngate_openblas_linked INTERFACE HORNGATE_BLAS_PREFIX=${openblas_prefix})

# horngate_highway: headers alone; src/engines/native/fused/targets.cpp has what its library is for.
add_library(horngate_highway INTERFACE)
find_path(HIGHWAY_INCLUDE_DIR hwy/highway.h REQUIRED)
target_include_directories(horngate_highway SYSTEM INTERFACE "${HIGHWAY_INCLUDE_DIR}")

find_path(XBYAK_INCLUDE_DIR xbyak/xbyak.h REQUIRED)
add_library(horngate_xbyak INTERFACE)
target_include_directories(horngate_xbyak SYSTEM INTERFACE "${XBYAK_INCLUDE_DIR}")

find_package(nlohmann_json 3.11 REQUIRED)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

message(STATUS "oneDNN: ${dnnl_file}")
message(STATUS "OpenBLAS: ${openblas_file} (prefix \"${openblas_prefix}\")")
message(STATUS "Highway: ${HIGHWAY_INCLUDE_DIR}")
