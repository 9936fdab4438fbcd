# cmake -DBUILD= -DSOURCE= -DWORK= -DCOMPONENTS= -DCOMPONENT= -DPYTHON= -DCLI= -DCC= -DTOOLCHAIN=
#   -DEMULATOR= -P run.cmake
# Installs components of a build tree into an empty prefix (without names: as in the README), then
# builds and runs a program that uses them.
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
    run(${EMULATOR} ${WORK}/prefix/bin/leapp --version)
  endif()
endif()
run(${CMAKE_COMMAND} -G Ninja -S ${SOURCE} -B ${WORK}/build -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCOMPONENT=${COMPONENT} -DPython_EXECUTABLE=${PYTHON}
    -DCMAKE_CXX_FLAGS=${FLAGS} -DCMAKE_TOOLCHAIN_FILE=${TOOLCHAIN})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${EMULATOR} ${WORK}/build/consumer)
message(STATUS "${output}")

# The same without CMake. A program is linked to the library name that contains the interface's
# version.
if(COMPONENT STREQUAL tools)
  return()
endif()
file(GLOB_RECURSE pc ${WORK}/prefix/leapp_runtime.pc)
cmake_path(GET pc PARENT_PATH pkgconfig)
cmake_path(GET pkgconfig PARENT_PATH libraries)
find_program(PKG_CONFIG NAMES pkg-config pkgconf REQUIRED)
run(${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${pkgconfig} ${PKG_CONFIG} --cflags --libs leapp_runtime)
separate_arguments(flags UNIX_COMMAND "${FLAGS} ${output}")
run(${CC} ${SOURCE}/runtime.c -o ${WORK}/c_consumer ${flags} -Wl,-rpath,${libraries})
run(${EMULATOR} ${WORK}/c_consumer)
run(readelf -d ${WORK}/c_consumer)
if(NOT output MATCHES "NEEDED[^\n]*libleapp_runtime\\.so\\.[0-9]+\\.[0-9]+\\]")
  message(FATAL_ERROR "libleapp_runtime.so has no versioned SONAME:\n${output}")
endif()

# If libtorch is not found, the error names an option to set; with that option the build works.
if(CLI AND COMPONENT STREQUAL trace)
  set(bundle ${SOURCE}/../data/bundles/leapp-cpp-0.1/walker/walker.yaml)
  set(check ${WORK}/prefix/bin/leapp check ${bundle})
  execute_process(COMMAND ${CMAKE_COMMAND} -E env LIBTORCH_ROOT=/nowhere ${check}
    RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE error)
  if(NOT status EQUAL 3 OR NOT error MATCHES "LIBTORCH_ROOT=<torch>")
    message(FATAL_ERROR "without libtorch, leapp check exits with ${status}:\n${error}")
  endif()
  run(${PYTHON} -c "import torch; print(torch.__path__[0], end='')")
  run(${CMAKE_COMMAND} -E env LIBTORCH_ROOT=${output} ${check})
endif()
