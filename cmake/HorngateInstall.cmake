# Headers, library and the package that find_package(Horngate) reads.
if(NOT TARGET horngate)
  return()
endif()
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Horngate")
install(TARGETS horngate horngate_keras EXPORT HorngateTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime NAMELINK_COMPONENT devel)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/horngate"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT devel)
install(EXPORT HorngateTargets NAMESPACE Horngate:: DESTINATION "${package_dir}" COMPONENT devel)

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/HorngateConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/HorngateConfig.cmake"
  INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/HorngateConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/HorngateConfig.cmake"
              "${PROJECT_BINARY_DIR}/HorngateConfigVersion.cmake"
  DESTINATION "${package_dir}" COMPONENT devel)

# pkg-config; relative to the file itself, so that an installation can be moved.
file(RELATIVE_PATH pc_to_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
foreach(name IN ITEMS horngate horngate-keras)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in" "${PROJECT_BINARY_DIR}/${name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${name}.pc"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT devel)
endforeach()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT devel)
