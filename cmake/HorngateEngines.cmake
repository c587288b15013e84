# Plug-in engines: each folder of src/engines/ but native/ becomes a module that knows
# include/horngate/engine.h alone and is loaded by name while the program runs.
set(HORNGATE_ENGINE_DIR "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/horngate/engines")
set(horngate_engines "")

# A module of those sources in the folder horngate/<kind> beside the library.
function(horngate_plugin target kind)
  add_library(${target} MODULE ${ARGN})
  set_target_properties(${target} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/horngate/${kind}"
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    INSTALL_RPATH "$ORIGIN;$ORIGIN/../..")
  target_compile_options(${target} PRIVATE -Wall -Wextra)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/include")
  target_link_libraries(${target} PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
  # As for the library: a name that nobody has is an error here, not for the user who loads the module.
  if(NOT HORNGATE_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,--no-undefined)
  endif()
  install(TARGETS ${target}
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/horngate/${kind}" COMPONENT runtime)
endfunction()

file(GLOB engine_sources CONFIGURE_DEPENDS src/engines/*/*.cpp)
list(FILTER engine_sources EXCLUDE REGEX "/src/engines/native/")
set(engine_names "")
foreach(source IN LISTS engine_sources)
  cmake_path(GET source PARENT_PATH folder)
  cmake_path(GET folder FILENAME name)
  list(APPEND engine_names "${name}")
endforeach()
list(REMOVE_DUPLICATES engine_names)

foreach(name IN LISTS engine_names)
  set(sources "${engine_sources}")
  list(FILTER sources INCLUDE REGEX "/src/engines/${name}/")
  set(target horngate_engine_${name})
  horngate_plugin(${target} engines ${sources})
  # What only this engine needs (flags, libraries) stands beside its sources.
  include("${PROJECT_SOURCE_DIR}/src/engines/${name}/engine.cmake" OPTIONAL)
  list(APPEND horngate_engines ${target})
endforeach()

# Communicators, in the same manner: each folder of src/comm/ knows include/horngate/comm.h alone.
set(HORNGATE_COMM_DIR "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/horngate/comm")
set(horngate_comms "")
foreach(name IN ITEMS mpi threads)
  file(GLOB sources CONFIGURE_DEPENDS src/comm/${name}/*.cpp)
  horngate_plugin(horngate_comm_${name} comm ${sources})
  list(APPEND horngate_comms horngate_comm_${name})
endforeach()
