# The CNTK libraries name two MPI libraries. Stand-ins with these names are built here and placed beside the
# plug-in.
set(cntk_dir "${PROJECT_SOURCE_DIR}/src/engines/cntk")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  "${cntk_dir}/mpi_names.txt" "${cntk_dir}/stand_in/mpi.cpp.in")
file(STRINGS "${cntk_dir}/mpi_names.txt" names REGEX "^[A-Za-z]")
list(REMOVE_ITEM names MPI_Initialized MPI_Finalize)
set(functions "")
foreach(one IN LISTS names)
  string(APPEND functions "FUNCTION(${one})\n")
endforeach()
configure_file("${cntk_dir}/stand_in/mpi.cpp.in" "${CMAKE_CURRENT_BINARY_DIR}/cntk/mpi.cpp" @ONLY)

foreach(library IN ITEMS mpi:12 mpi_cxx:1)
  string(REPLACE ":" ";" library "${library}")
  list(GET library 0 stem)
  list(GET library 1 so)
  if(stem STREQUAL mpi)
    set(source "${CMAKE_CURRENT_BINARY_DIR}/cntk/mpi.cpp")
  else()
    set(source "${cntk_dir}/stand_in/mpi_cxx.cpp")
  endif()
  add_library(horngate_cntk_${stem} MODULE "${source}")
  # A module has no soname; these need one, so that the loader finds them by it.
  set_target_properties(horngate_cntk_${stem} PROPERTIES
    PREFIX "" SUFFIX "" OUTPUT_NAME "lib${stem}.so.${so}"
    LIBRARY_OUTPUT_DIRECTORY "${HORNGATE_ENGINE_DIR}/cntk")
  target_link_options(horngate_cntk_${stem} PRIVATE "LINKER:-soname,lib${stem}.so.${so}")
  target_compile_options(horngate_cntk_${stem} PRIVATE -Wall -Wextra -U_FORTIFY_SOURCE)
  install(TARGETS horngate_cntk_${stem}
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/horngate/engines/cntk" COMPONENT runtime)
  add_dependencies(${target} horngate_cntk_${stem})
endforeach()

target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src/engines")
target_compile_features(${target} PRIVATE cxx_std_20)
