# Options, compiler settings and where things are put.
include(GNUInstallDirs)

if(PROJECT_IS_TOP_LEVEL AND NOT SKBUILD)
  set(default_extras ON)
else()
  set(default_extras OFF)
endif()
option(HORNGATE_BUILD_PYTHON "Build the Python module" ${PROJECT_IS_TOP_LEVEL})
option(HORNGATE_BUILD_TESTS "Build the C++ tests" ${default_extras})
option(HORNGATE_BUILD_EXAMPLES "Build the examples" ${default_extras})
option(HORNGATE_BUILD_BENCH "Offer the target `bench`" ${default_extras})
set(HORNGATE_SANITIZE "" CACHE STRING "Sanitizers, as in -fsanitize=<list>")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()

# -O3 gains nothing here: the hot loops are written in SIMD or are the libraries'.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")

# The build tree can be moved, and so can what is installed.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
# A wheel holds the library in its package folder; lib64 or a Debian triplet would only hide it.
if(SKBUILD)
  set(CMAKE_INSTALL_LIBDIR lib)
endif()

if(HORNGATE_SANITIZE)
  add_compile_options(-fsanitize=${HORNGATE_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${HORNGATE_SANITIZE})
endif()

# The clone's own Python has the wheels that we build with.
if(NOT Python_EXECUTABLE AND EXISTS "${PROJECT_SOURCE_DIR}/.venv/bin/python")
  set(Python_EXECUTABLE "${PROJECT_SOURCE_DIR}/.venv/bin/python")
endif()
if(SKBUILD OR HORNGATE_BUILD_PYTHON)
  find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
else()
  find_package(Python 3.11 QUIET COMPONENTS Interpreter)
endif()
