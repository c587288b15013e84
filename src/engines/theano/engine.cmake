# The worker's Python files are placed beside the plug-in.
file(GLOB theano_worker CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/engines/theano/worker/*.py")
set(theano_worker_dir "${HORNGATE_ENGINE_DIR}/theano_worker")
set(theano_worker_copies "")
foreach(file IN LISTS theano_worker)
  cmake_path(GET file FILENAME stem)
  add_custom_command(OUTPUT "${theano_worker_dir}/${stem}"
    COMMAND "${CMAKE_COMMAND}" -E copy "${file}" "${theano_worker_dir}/${stem}"
    DEPENDS "${file}")
  list(APPEND theano_worker_copies "${theano_worker_dir}/${stem}")
endforeach()
add_custom_target(horngate_theano_worker DEPENDS ${theano_worker_copies})
add_dependencies(${target} horngate_theano_worker)
install(FILES ${theano_worker}
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/horngate/engines/theano_worker" COMPONENT runtime)
