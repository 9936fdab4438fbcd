# The packages that LEAPP is built with. If one is missing, the configuration stops with a message.

function(leapp_need found what package)
  if(NOT ${found})
    message(FATAL_ERROR "LEAPP needs ${what}: install it with 'apt-get install ${package}'.")
  endif()
endfunction()

add_library(leapp_yaml INTERFACE)
if(LEAPP_STATIC_YAML)
  find_path(LEAPP_YAML_INCLUDE yaml-cpp/yaml.h)
  find_library(LEAPP_YAML_ARCHIVE libyaml-cpp.a)
  leapp_need(LEAPP_YAML_ARCHIVE "yaml-cpp as a static library" libyaml-cpp-dev)
  target_include_directories(leapp_yaml SYSTEM INTERFACE ${LEAPP_YAML_INCLUDE})
  target_link_libraries(leapp_yaml INTERFACE ${LEAPP_YAML_ARCHIVE})
else()
  find_package(yaml-cpp QUIET)
  leapp_need(yaml-cpp_FOUND "yaml-cpp" libyaml-cpp-dev)
  target_link_libraries(leapp_yaml INTERFACE yaml-cpp)
endif()
find_package(nlohmann_json QUIET)
leapp_need(nlohmann_json_FOUND "nlohmann_json" nlohmann-json3-dev)
find_package(ZLIB QUIET)
leapp_need(ZLIB_FOUND "zlib" zlib1g-dev)
find_path(LEAPP_PROTOZERO_INCLUDE protozero/pbf_reader.hpp)
leapp_need(LEAPP_PROTOZERO_INCLUDE "protozero" libprotozero-dev)
add_library(leapp_protozero INTERFACE)
target_include_directories(leapp_protozero SYSTEM INTERFACE ${LEAPP_PROTOZERO_INCLUDE})

# ONNX Runtime and Graphviz are opened at run time; of ONNX Runtime the engine needs the headers.
# If the system has none, they are downloaded once into the source directory.
macro(leapp_find_onnxruntime)
  find_path(LEAPP_ONNXRUNTIME_INCLUDE onnxruntime_c_api.h
    HINTS ${PROJECT_SOURCE_DIR}/.cache/onnxruntime/include
    PATH_SUFFIXES onnxruntime onnxruntime/core/session
    NO_CMAKE_FIND_ROOT_PATH  # the same for every processor
    DOC "Folder that holds onnxruntime_c_api.h")
endmacro()
leapp_find_onnxruntime()
if(NOT LEAPP_ONNXRUNTIME_INCLUDE)
  message(STATUS "Fetching ONNX Runtime's headers into .cache/onnxruntime")
  execute_process(COMMAND bash tools/onnxruntime_headers.sh .cache/onnxruntime
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE output ERROR_VARIABLE output)
  leapp_find_onnxruntime()
endif()
if(NOT LEAPP_ONNXRUNTIME_INCLUDE)
  message(FATAL_ERROR "LEAPP needs ONNX Runtime's headers, and could not fetch them:\n${output}\n"
    "Pass -DLEAPP_ONNXRUNTIME_INCLUDE=<folder that holds onnxruntime_c_api.h>.")
endif()
add_library(leapp_onnxruntime_headers INTERFACE)
target_include_directories(leapp_onnxruntime_headers SYSTEM INTERFACE ${LEAPP_ONNXRUNTIME_INCLUDE})

if(LEAPP_BUILD_PYTHON)
  find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
endif()
# A link to the ONNX Runtime of that Python, next to lib/ as in site-packages: the runtime looks there,
# so programs of the build tree run from any shell. The link is not installed. (Python does not run in
# the build directory, where it would import the link as the package.)
if(Python_EXECUTABLE)
  execute_process(
    COMMAND ${Python_EXECUTABLE} -c
      "import importlib.util as u; print(u.find_spec('onnxruntime').submodule_search_locations[0], end='')"
    WORKING_DIRECTORY ${CMAKE_CURRENT_LIST_DIR} OUTPUT_VARIABLE onnxruntime ERROR_QUIET)
  if(onnxruntime)
    file(CREATE_LINK ${onnxruntime} ${PROJECT_BINARY_DIR}/onnxruntime SYMBOLIC)
  endif()
endif()

if(LEAPP_WITH_TORCH)
  find_package(LibTorch QUIET)
  if(NOT LibTorch_FOUND)
    message(FATAL_ERROR "LEAPP needs libtorch: run 'pip install torch==2.13.0' for the Python in use "
      "(-DPython_EXECUTABLE=; with pip also --no-build-isolation), pass -DLIBTORCH_ROOT=<folder>, or "
      "build the torch-free half alone with -DLEAPP_WITH_TORCH=OFF.")
  endif()
  # std::string has two layouts in libstdc++; every other library here has the newer one.
  set(torch_config ${LibTorch_ROOT}/share/cmake/Torch/TorchConfig.cmake)
  if(EXISTS ${torch_config})
    file(STRINGS ${torch_config} old_abi REGEX "_GLIBCXX_USE_CXX11_ABI=0")
  endif()
  if(old_abi)
    message(FATAL_ERROR "The PyTorch ${LibTorch_VERSION} in ${LibTorch_ROOT} is built with the C++ ABI from before "
      "C++11, as PyPI's were until 2.6: run 'pip install torch==2.13.0' (2.7 is the oldest of PyPI that fits).")
  endif()
endif()
