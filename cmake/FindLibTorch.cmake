# Finds libtorch in the layout of the torch wheel and of the upstream archives:
#   LibTorch::LibTorch   headers and libraries for C++
#   LibTorch::Python     torch's Python binding (only in the wheel)
#   LibTorch_VERSION     such as 2.13.0
# Looks in LIBTORCH_ROOT (of CMake, or of the environment), then next to Torch_DIR of torch's own
# CMake files, in the torch package of Python_EXECUTABLE (or python3), and in that of an activated
# environment ($VIRTUAL_ENV). torch's own find_package(Torch) is not used: with a CUDA
# build it requires a CUDA toolkit, which no source of LEAPP needs.
set(LIBTORCH_ROOT "" CACHE PATH "Folder of libtorch, with include/ and lib/")

set(_roots ${LIBTORCH_ROOT} $ENV{LIBTORCH_ROOT})
if(Torch_DIR)
  list(APPEND _roots ${Torch_DIR}/../../..)
endif()
foreach(_prefix IN LISTS CMAKE_PREFIX_PATH)
  list(APPEND _roots ${_prefix} ${_prefix}/../..)
endforeach()
if(NOT LibTorch_INCLUDE_DIR)
  if(NOT Python_EXECUTABLE)
    find_program(LIBTORCH_PYTHON NAMES python3)
  endif()
  execute_process(
    COMMAND ${Python_EXECUTABLE} ${LIBTORCH_PYTHON} -c
      "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0], end='')"
    OUTPUT_VARIABLE _package ERROR_QUIET)
  list(APPEND _roots ${_package})
endif()

if(DEFINED ENV{VIRTUAL_ENV})
  file(GLOB _active $ENV{VIRTUAL_ENV}/lib/python3*/site-packages/torch)
  list(APPEND _roots ${_active})
endif()

find_path(LibTorch_INCLUDE_DIR ATen/ATen.h HINTS ${_roots} PATH_SUFFIXES include NO_DEFAULT_PATH)
cmake_path(GET LibTorch_INCLUDE_DIR PARENT_PATH LibTorch_ROOT)
set(_libs HINTS ${LibTorch_ROOT}/lib NO_DEFAULT_PATH)
find_library(LibTorch_LIBRARY torch ${_libs})
find_library(LibTorch_CPU_LIBRARY torch_cpu ${_libs})
find_library(LibTorch_C10_LIBRARY c10 ${_libs})
find_library(LibTorch_PYTHON_LIBRARY torch_python ${_libs})
mark_as_advanced(LibTorch_INCLUDE_DIR LibTorch_LIBRARY LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY
  LibTorch_PYTHON_LIBRARY LIBTORCH_PYTHON)

# The header with the version has moved over time.
foreach(_header IN ITEMS headeronly/version.h csrc/api/include/torch/version.h)
  if(EXISTS ${LibTorch_INCLUDE_DIR}/torch/${_header} AND NOT LibTorch_VERSION)
    file(STRINGS ${LibTorch_INCLUDE_DIR}/torch/${_header} _lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
    string(REGEX REPLACE "[^0-9;]" "" _lines "${_lines}")
    list(JOIN _lines "." LibTorch_VERSION)
  endif()
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch REQUIRED_VARS
  LibTorch_LIBRARY LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY LibTorch_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "name its folder, with include/ and lib/, as -DLIBTORCH_ROOT=<folder>, or install PyTorch ('pip install torch') for the python3 in use")

if(LibTorch_FOUND AND NOT TARGET LibTorch::LibTorch)
  add_library(LibTorch::LibTorch INTERFACE IMPORTED)
  target_include_directories(LibTorch::LibTorch SYSTEM INTERFACE
    ${LibTorch_INCLUDE_DIR} ${LibTorch_INCLUDE_DIR}/torch/csrc/api/include)
  # libtorch.so loads the CUDA part, so it must stay NEEDED. In some releases it exports functions of
# an older libstdc++ that it was linked with (std::filesystem), so the real one comes first.
  target_link_libraries(LibTorch::LibTorch INTERFACE
    -Wl,--push-state,--no-as-needed -lstdc++ ${LibTorch_LIBRARY} -Wl,--pop-state
    ${LibTorch_CPU_LIBRARY} ${LibTorch_C10_LIBRARY})
  # The CUDA part, if both it and CUDA's own headers exist.
  find_library(LibTorch_CUDA_LIBRARY torch_cuda ${_libs})
  find_library(LibTorch_C10_CUDA_LIBRARY c10_cuda ${_libs})
  find_path(LibTorch_CUDA_INCLUDE_DIR cuda_runtime_api.h
    HINTS $ENV{CUDA_HOME} /usr/local/cuda PATH_SUFFIXES include)
  find_library(LibTorch_CUDART_LIBRARY cudart
    HINTS $ENV{CUDA_HOME} /usr/local/cuda PATH_SUFFIXES lib64 lib)
  mark_as_advanced(LibTorch_CUDA_LIBRARY LibTorch_C10_CUDA_LIBRARY LibTorch_CUDA_INCLUDE_DIR
    LibTorch_CUDART_LIBRARY)
  # A toolkit with another major version than torch's would load a second CUDA runtime.
  set(_toolkit_fits ON)
  if(LibTorch_CUDA_INCLUDE_DIR AND EXISTS ${LibTorch_ROOT}/version.py)
    file(STRINGS ${LibTorch_ROOT}/version.py _torch_cuda REGEX "^cuda[: ]")
    string(REGEX REPLACE "[^0-9]*([0-9]*).*" "\\1" _torch_cuda "${_torch_cuda}")
    file(STRINGS ${LibTorch_CUDA_INCLUDE_DIR}/cuda_runtime_api.h _toolkit REGEX "define CUDART_VERSION ")
    string(REGEX REPLACE ".* ([0-9]+)[0-9][0-9][0-9]" "\\1" _toolkit "${_toolkit}")
    if(_torch_cuda AND NOT _torch_cuda STREQUAL _toolkit)
      message(STATUS "Leaving out CUDA graphs: torch has CUDA ${_torch_cuda}, ${LibTorch_CUDA_INCLUDE_DIR} ${_toolkit}")
      set(_toolkit_fits OFF)
    endif()
  endif()
  if(LibTorch_CUDA_LIBRARY AND LibTorch_C10_CUDA_LIBRARY AND LibTorch_CUDA_INCLUDE_DIR
     AND LibTorch_CUDART_LIBRARY AND _toolkit_fits)
    add_library(LibTorch::CUDA INTERFACE IMPORTED)
    target_compile_definitions(LibTorch::CUDA INTERFACE LEAPP_WITH_CUDA)
    target_include_directories(LibTorch::CUDA SYSTEM INTERFACE ${LibTorch_CUDA_INCLUDE_DIR})
    target_link_libraries(LibTorch::CUDA INTERFACE
      ${LibTorch_CUDA_LIBRARY} ${LibTorch_C10_CUDA_LIBRARY} ${LibTorch_CUDART_LIBRARY})
  endif()
  if(LibTorch_PYTHON_LIBRARY)
    add_library(LibTorch::Python INTERFACE IMPORTED)
    target_link_libraries(LibTorch::Python INTERFACE ${LibTorch_PYTHON_LIBRARY} LibTorch::LibTorch)
  endif()
endif()
