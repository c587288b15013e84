# libhorngate.so, from an object library that the tests link too, to reach what is hidden.
file(GLOB horngate_sources CONFIGURE_DEPENDS
     src/api/*.cpp src/comm/*.cpp src/export/*.cpp src/show/*.cpp src/ir/*.cpp src/prims/*.cpp src/grad/*.cpp
     src/passes/*.cpp
     src/plan/*.cpp
     src/engines/*.cpp src/engines/native/*.cpp src/engines/native/*/*.cpp)

# export_onnx writes models by the rules of the onnx engine; what loads and runs them stays in the plug-in.
file(GLOB onnx_sources CONFIGURE_DEPENDS src/engines/onnx/*.cpp)
list(FILTER onnx_sources EXCLUDE REGEX "/(engine|executable|runtime)\\.cpp$")
list(APPEND horngate_sources ${onnx_sources})

if(NOT horngate_sources)
  message(WARNING "No sources in src/: nothing to build.")
  return()
endif()

# Compiled loops and block kernels come from one source and shall give the same bits: no rounding
# that is not written down.
file(GLOB fused_sources src/engines/native/fused/*.cpp)
set_source_files_properties(${fused_sources} PROPERTIES COMPILE_OPTIONS -ffp-contract=off)

# Sums over ranks are plain loops, which -O2 does not vectorise.
set_source_files_properties(src/comm/reduce.cpp PROPERTIES COMPILE_OPTIONS -O3)

# Readers and writers of files: both libraries take what they need of it.
file(GLOB files_sources CONFIGURE_DEPENDS src/files/*.cpp)
add_library(horngate_files STATIC ${files_sources})
set_target_properties(horngate_files PROPERTIES
  POSITION_INDEPENDENT_CODE ON
  CXX_VISIBILITY_PRESET hidden
  VISIBILITY_INLINES_HIDDEN ON)
target_compile_options(horngate_files PRIVATE -Wall -Wextra)
target_include_directories(horngate_files PRIVATE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
target_link_libraries(horngate_files PUBLIC nlohmann_json::nlohmann_json)

add_library(horngate_objects OBJECT ${horngate_sources})
set_target_properties(horngate_objects PROPERTIES
  POSITION_INDEPENDENT_CODE ON
  CXX_VISIBILITY_PRESET hidden
  VISIBILITY_INLINES_HIDDEN ON)
target_compile_options(horngate_objects PRIVATE -Wall -Wextra -Wno-address -fno-semantic-interposition)
target_compile_definitions(horngate_objects PRIVATE HORNGATE_VERSION="${PROJECT_VERSION}")
target_include_directories(horngate_objects
  PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
  PRIVATE "${PROJECT_SOURCE_DIR}/src")
set(horngate_libraries
  horngate_files horngate_dnnl horngate_openblas horngate_highway horngate_xbyak nlohmann_json::nlohmann_json
  horngate_openmp Threads::Threads ${CMAKE_DL_LIBS})
target_link_libraries(horngate_objects PRIVATE ${horngate_libraries})

add_library(horngate SHARED $<TARGET_OBJECTS:horngate_objects>)
add_library(Horngate::horngate ALIAS horngate)
target_include_directories(horngate PUBLIC
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
  "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
target_compile_features(horngate PUBLIC cxx_std_20)
target_link_libraries(horngate PRIVATE ${horngate_libraries})
# A forgotten definition shall fail here, not when the library is loaded. Sanitizers leave their
# own symbols open in shared libraries.
if(NOT HORNGATE_SANITIZE)
  target_link_options(horngate PRIVATE -Wl,--no-undefined)
endif()
# Libraries that are loaded later are found beside ours.
set_target_properties(horngate PROPERTIES LINKER_LANGUAGE CXX INSTALL_RPATH "$ORIGIN" BUILD_RPATH "$ORIGIN"
  VERSION ${HORNGATE_ABI} SOVERSION ${HORNGATE_ABI})
