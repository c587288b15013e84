# Finds C libraries inside Python wheels and keeps copies of bundled libraries beside ours.

# Sets WHEEL_DNNL_LIBRARY, WHEEL_DNNL_INCLUDE, WHEEL_OPENBLAS_LIBRARY and WHEEL_OPENBLAS_INCLUDE,
# each empty when its wheel is not installed.
function(horngate_locate_wheels)
  set(found "")
  if(Python_EXECUTABLE)
    execute_process(
      COMMAND "${Python_EXECUTABLE}" "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/locate_wheels.py"
      OUTPUT_VARIABLE found
      OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(REPLACE "\n" ";" found "${found}")
  endif()
  foreach(name IN ITEMS DNNL_LIBRARY DNNL_INCLUDE OPENBLAS_LIBRARY OPENBLAS_INCLUDE)
    set(line "${found}")
    list(FILTER line INCLUDE REGEX "^${name}=")
    string(REGEX REPLACE "^${name}=" "" path "${line}")
    set(WHEEL_${name} "${path}" PARENT_SCOPE)
  endforeach()
endfunction()

# Sets `out` to the name by which the dynamic linker knows a shared library.
function(horngate_soname out library)
  execute_process(
    COMMAND "${CMAKE_OBJDUMP}" -p "${library}"
    OUTPUT_VARIABLE headers COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCH "SONAME +([^ \n]+)" _ "${headers}")
  set(${out} "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()

# Copies a shared library under its soname beside libhorngate.so and installs it there too, so that
# the RPATH $ORIGIN finds it. Sets `out` to the copy.
function(horngate_bundle out library)
  horngate_soname(file "${library}")
  set(copy "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/${file}")
  file(REAL_PATH "${library}" library)
  file(MAKE_DIRECTORY "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
  # A time stamp check is not enough: wheels carry the time of their installation.
  file(COPY_FILE "${library}" "${copy}" ONLY_IF_DIFFERENT)
  if(HORNGATE_GLIBC)
    horngate_make_portable("${copy}")
  endif()
  install(PROGRAMS "${copy}" DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime)
  set(${out} "${copy}" PARENT_SCOPE)
endfunction()
