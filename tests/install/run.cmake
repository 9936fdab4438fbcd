# cmake -DBUILD= -DSOURCE= -DWORK= -DCOMPONENTS= -DCOMPONENT= -DPYTHON= -DCLI= -P run.cmake
# Installs components of a build tree (none named: as README does) into an empty prefix, builds the
# consumer against it, runs it.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    string(REPLACE ";" " " command "${ARGN}")
    message(FATAL_ERROR "${command}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
foreach(component IN LISTS COMPONENTS)
  run(${CMAKE_COMMAND} --install ${BUILD} --component ${component} --prefix ${WORK}/prefix)
endforeach()
if(NOT COMPONENTS)
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
  if(EXISTS ${WORK}/prefix/leapp)
    message(FATAL_ERROR "the Python package is no part of a default installation")
  endif()
  if(CLI)
    run(${WORK}/prefix/bin/leapp --version)
  endif()
endif()
run(${CMAKE_COMMAND} -G Ninja -S ${SOURCE} -B ${WORK}/build -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCOMPONENT=${COMPONENT} -DPython_EXECUTABLE=${PYTHON}
    -DCMAKE_CXX_FLAGS=${FLAGS})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/consumer)
message(STATUS "${output}")
