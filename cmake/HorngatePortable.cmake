# HORNGATE_GLIBC=<version>: what is built runs on systems with that glibc, and with the C++ library of their age,
# however new those of this machine are. Objects are the same as without; they are linked with stubs of the older
# libraries, and what these lack of the C++ library is linked statically (docs/release.md).
set(HORNGATE_GLIBC "" CACHE STRING "Link for systems with this glibc, for instance 2.27 (empty: as the system links)")

# What oneDNN takes its OpenMP from.
add_library(horngate_openmp INTERFACE)
if(NOT HORNGATE_GLIBC)
  find_package(OpenMP REQUIRED COMPONENTS CXX)
  target_link_libraries(horngate_openmp INTERFACE OpenMP::OpenMP_CXX)
  return()
endif()

set(portable_dir "${CMAKE_CURRENT_LIST_DIR}/portable")
set(stub_dir "${PROJECT_BINARY_DIR}/portable")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  "${portable_dir}/stubs.py" "${portable_dir}/compat.cpp" "${portable_dir}/start.cpp")

# The C++ library of manylinux_2_27 and manylinux_2_28: that of GCC 7 and 8.
execute_process(
  COMMAND "${Python_EXECUTABLE}" "${portable_dir}/stubs.py" "${stub_dir}" "${CMAKE_OBJDUMP}" "${CMAKE_CXX_COMPILER}"
          GLIBC=${HORNGATE_GLIBC} GLIBCXX=3.4.24 CXXABI=1.3.11 GCC=7.0.0
  COMMAND_ERROR_IS_FATAL ANY)
foreach(name IN ITEMS compat start)
  execute_process(
    COMMAND "${CMAKE_CXX_COMPILER}" -std=c++20 -O2 -fPIC -Wall -c "${portable_dir}/${name}.cpp" -o "${stub_dir}/${name}.o"
    COMMAND_ERROR_IS_FATAL ANY)
endforeach()
foreach(name IN ITEMS libstdc++.a libc_nonshared.a libgcc.a)
  execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-file-name=${name}
    OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(static_${name} "${path}")
endforeach()

# Targets of this directory and those below, not CMake's own checks. A shared library before its static half: only
# what the former lacks comes from the latter.
add_link_options(-nodefaultlibs -Wl,--exclude-libs,libstdc++.a:libgcc.a:libc_nonshared.a)
string(JOIN " " CMAKE_CXX_STANDARD_LIBRARIES
  "${stub_dir}/compat.o" "${stub_dir}/libstdc++.so.6" "${static_libstdc++.a}" "${stub_dir}/libm.so.6"
  "${static_libc_nonshared.a}" "${stub_dir}/libc.so.6" "${stub_dir}/ld-linux-x86-64.so.2"
  "${static_libgcc.a}" "${stub_dir}/libgcc_s.so.1"
  -Wl,--push-state,--no-as-needed "${stub_dir}/libpthread.so.0" "${stub_dir}/libdl.so.2" -Wl,--pop-state)

# The start of a program that is older than this machine's.
function(horngate_portable_program target)
  target_link_options(${target} PRIVATE -Wl,--wrap=__libc_start_main)
  target_link_libraries(${target} PRIVATE "${stub_dir}/start.o")
endfunction()

# A binding alone needs no more.
if(Horngate_ROOT)
  return()
endif()

add_library(horngate_gomp SHARED "${portable_dir}/gomp.cpp")
set_target_properties(horngate_gomp PROPERTIES VERSION 1 SOVERSION 1)
target_compile_options(horngate_gomp PRIVATE -Wall -Wextra)
target_link_options(horngate_gomp PRIVATE "-Wl,--version-script,${portable_dir}/gomp.map")
# The flag makes the objects those of any other build.
target_compile_options(horngate_openmp INTERFACE -fopenmp)
target_link_libraries(horngate_openmp INTERFACE horngate_gomp)
install(TARGETS horngate_gomp EXPORT HorngateTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime NAMELINK_SKIP)

# Makes a bundled library small and has it use our stand-in of GNU OpenMP.
find_program(PATCHELF patchelf REQUIRED)
function(horngate_make_portable library)
  execute_process(COMMAND "${CMAKE_STRIP}" -s "${library}" COMMAND_ERROR_IS_FATAL ANY)
  execute_process(
    COMMAND "${PATCHELF}" --replace-needed libgomp.so.1 libhorngate_gomp.so.1 --set-rpath "$ORIGIN" "${library}"
    COMMAND_ERROR_IS_FATAL ANY)
endfunction()
