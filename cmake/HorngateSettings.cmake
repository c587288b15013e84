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

# In the libraries' file names: programs built with 0.1.x run with every 0.1.y, from 1.0 on with every 1.y
# (docs/release.md). No third number, as a wheel cannot hold links.
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(HORNGATE_ABI "0.${PROJECT_VERSION_MINOR}")
else()
  set(HORNGATE_ABI "${PROJECT_VERSION_MAJOR}")
endif()

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
  # scikit-build-core names the stable ABI here if the wheel is for all Pythons from some version on.
  find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module ${SKBUILD_SABI_COMPONENT})
else()
  find_package(Python 3.11 QUIET COMPONENTS Interpreter)
endif()
