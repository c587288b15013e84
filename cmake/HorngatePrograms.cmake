# Programs: the command line, examples, benchmarks.
if(NOT TARGET horngate)
  return()
endif()

# The way from bin/ to lib/ of an installation.
file(RELATIVE_PATH bin_to_lib "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")

file(GLOB cli_sources CONFIGURE_DEPENDS src/cli/*.cpp)
if(EXISTS "${PROJECT_SOURCE_DIR}/src/cli/main.cpp")
  add_executable(horngate-cli ${cli_sources})
  set_target_properties(horngate-cli PROPERTIES
    OUTPUT_NAME horngate INSTALL_RPATH "$ORIGIN/${bin_to_lib}")
  target_compile_options(horngate-cli PRIVATE -Wall -Wextra)
  target_compile_definitions(horngate-cli PRIVATE HORNGATE_VERSION="${PROJECT_VERSION}")
  target_include_directories(horngate-cli PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(horngate-cli PRIVATE Horngate::keras nlohmann_json::nlohmann_json)
  if(HORNGATE_GLIBC)
    horngate_portable_program(horngate-cli)
  endif()
  install(TARGETS horngate-cli RUNTIME COMPONENT runtime)
  if(SKBUILD)
    # The package folder has it as bin/horngate; this one is on PATH.
    install(PROGRAMS python/command/horngate DESTINATION "${SKBUILD_SCRIPTS_DIR}" COMPONENT runtime)
  else()
    # `horngate engines install` is a Python program that needs nothing but Python.
    install(DIRECTORY python/horngate/_installer/ DESTINATION share/horngate/installer
      COMPONENT runtime FILES_MATCHING PATTERN "*.py" PATTERN "*.json")
  endif()
endif()

if(HORNGATE_BUILD_EXAMPLES)
  file(GLOB example_sources CONFIGURE_DEPENDS examples/*.cpp)
  foreach(source IN LISTS example_sources)
    cmake_path(GET source STEM name)
    add_executable(${name} ${source})
    target_compile_options(${name} PRIVATE -Wall -Wextra)
    target_compile_definitions(${name} PRIVATE
      HORNGATE_EXAMPLE_DATA="${PROJECT_SOURCE_DIR}/examples/data")
    target_link_libraries(${name} PRIVATE Horngate::keras)
  endforeach()
endif()

if(HORNGATE_BUILD_BENCH)
  add_custom_target(bench)
  # bench/*.cpp are programs; bench/lib/ is the timing and what we are compared with.
  file(GLOB bench_library_sources CONFIGURE_DEPENDS bench/lib/*.cpp)
  add_library(horngate_bench STATIC EXCLUDE_FROM_ALL ${bench_library_sources})
  target_compile_options(horngate_bench PRIVATE -Wall -Wextra)
  # A loop written by hand deserves all that the compiler can do for it.
  set_source_files_properties(bench/lib/fused_loop.cpp bench/lib/programs.cpp PROPERTIES COMPILE_OPTIONS "-O3;-ffast-math")
  target_include_directories(horngate_bench PUBLIC "${PROJECT_SOURCE_DIR}/bench")
  target_link_libraries(horngate_bench PRIVATE horngate_dnnl_linked horngate_openblas_linked OpenMP::OpenMP_CXX)
  file(GLOB bench_sources CONFIGURE_DEPENDS bench/*.cpp)
  foreach(source IN LISTS bench_sources)
    cmake_path(GET source STEM name)
    add_executable(bench_${name} EXCLUDE_FROM_ALL ${source})
    target_compile_options(bench_${name} PRIVATE -Wall -Wextra)
    # Some benchmarks measure a kernel alone, hence the internal headers.
    target_include_directories(bench_${name} PRIVATE "${PROJECT_SOURCE_DIR}/src")
    target_link_libraries(bench_${name} PRIVATE horngate_bench Horngate::keras)
    add_dependencies(bench bench_${name})
  endforeach()
  # The thread pool is inside of the library: objects, as the tests have them.
  target_sources(bench_threads PRIVATE $<TARGET_OBJECTS:horngate_objects>)
  target_link_libraries(bench_threads PRIVATE ${horngate_libraries} OpenMP::OpenMP_CXX)
  # Alone, so that only the library's own start is measured.
  add_executable(bench_startup EXCLUDE_FROM_ALL bench/compare/startup.cpp)
  target_compile_options(bench_startup PRIVATE -Wall -Wextra)
  target_link_libraries(bench_startup PRIVATE Horngate::horngate)
  add_dependencies(bench bench_startup)
endif()
