# Precompiled headers: what nearly every source of a kind includes is parsed once per kind.
#
# leapp_precompiled(<name> [LINKS library...] [OPTIONS option...] HEADERS header...) makes one,
# leapp_precompile(<target> <name>) lets a target use it. A source still includes what it needs: the
# tidy preset builds without any of this. What few sources include stays out, since each source that
# uses a precompiled header also pays for the templates that its contents leave to the end of a file:
# an empty source took 5 s of processor time with <torch/script.h>, 2 s with what is listed here.
function(leapp_precompiled name)
  cmake_parse_arguments(ARG "" "" "LINKS;OPTIONS;HEADERS" ${ARGN})
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${name}.cpp CONTENT "")
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/${name}.cpp)
  target_link_libraries(${name} PRIVATE leapp_warnings ${ARG_LINKS})
  target_compile_options(${name} PRIVATE ${ARG_OPTIONS})
  target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
  if(LEAPP_CCACHE AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    set(header ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${name}.dir/cmake_pch.hxx.gch)
    set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER
      "${PROJECT_SOURCE_DIR}/cmake/precompile.sh;${header};${CMAKE_CXX_COMPILER_LAUNCHER}")
  endif()
endfunction()

function(leapp_precompile target name)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL EXECUTABLE)  # a precompiled header is position independent as in a library
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fPIC>)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${name})
endfunction()

# leapp_compile_together(<target> <most>)
#
# Compiles a target's sources up to so many at a time: most of what a source costs is what its headers
# leave for the end of a file, and that is paid once per handful. Where precompiled headers are off
# (the tidy preset), each is compiled alone, which shows a source that includes too little.
function(leapp_compile_together target most)
  if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${most})
  endif()
endfunction()

set(LEAPP_STD_HEADERS <algorithm> <array> <chrono> <filesystem> <fstream> <functional> <map> <memory>
  <numeric> <optional> <set> <span> <sstream> <string> <unordered_map> <unordered_set> <variant> <vector>)
# What a tensor, the dispatcher and the header of an operator bring along.
set(LEAPP_TORCH_HEADERS <ATen/core/Tensor.h> <ATen/core/dispatch/Dispatcher.h> <ATen/core/stack.h>
  <ATen/ops/empty.h> <c10/util/flat_hash_map.h>)

leapp_precompiled(leapp_std_pch HEADERS ${LEAPP_STD_HEADERS})
# From 13 on, g++ uses a precompiled header only where the level of optimisation is the same.
leapp_precompiled(leapp_once_pch OPTIONS $<$<CONFIG:Release>:-O1> HEADERS ${LEAPP_STD_HEADERS})
if(LEAPP_WITH_TORCH)
  leapp_precompiled(leapp_torch_pch LINKS LibTorch::LibTorch
    HEADERS ${LEAPP_STD_HEADERS} ${LEAPP_TORCH_HEADERS})
endif()
