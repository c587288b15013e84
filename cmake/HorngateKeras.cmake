# libhorngate_keras.so: models, on top of what libhorngate.so exports. As there, an object library lets
# tests reach what is hidden.
if(NOT TARGET horngate)
  return()
endif()
file(GLOB keras_sources CONFIGURE_DEPENDS src/keras/*.cpp src/keras/*/*.cpp)

add_library(horngate_keras_objects OBJECT ${keras_sources})
set_target_properties(horngate_keras_objects PROPERTIES
  POSITION_INDEPENDENT_CODE ON
  CXX_VISIBILITY_PRESET hidden
  VISIBILITY_INLINES_HIDDEN ON)
# GCC 12 believes that a variant in a list could be destroyed before it holds anything.
set(keras_warnings -Wall -Wextra $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
target_compile_options(horngate_keras_objects PRIVATE ${keras_warnings} -fno-semantic-interposition)
target_compile_definitions(horngate_keras_objects PRIVATE HORNGATE_VERSION="${PROJECT_VERSION}")
target_include_directories(horngate_keras_objects PRIVATE
  "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
target_link_libraries(horngate_keras_objects PRIVATE horngate_files)

add_library(horngate_keras SHARED $<TARGET_OBJECTS:horngate_keras_objects>)
add_library(Horngate::keras ALIAS horngate_keras)
# Users know it as Horngate::keras, whether it is built here or was installed.
set_target_properties(horngate_keras PROPERTIES
  VERSION ${HORNGATE_ABI} SOVERSION ${HORNGATE_ABI} EXPORT_NAME keras LINKER_LANGUAGE CXX INSTALL_RPATH "$ORIGIN" BUILD_RPATH "$ORIGIN")
target_link_libraries(horngate_keras PUBLIC Horngate::horngate PRIVATE horngate_files)
if(NOT HORNGATE_SANITIZE)
  target_link_options(horngate_keras PRIVATE -Wl,--no-undefined)
endif()
