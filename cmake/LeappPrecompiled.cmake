# Precompiled headers: headers that nearly every source of a group includes are parsed once per group.
# leapp_precompiled(<name> [LINKS library...] [OPTIONS option...] HEADERS header...) creates one,
# leapp_precompile(<target> <name>) makes a target use it. A source still includes what it needs: the
# tidy preset builds without precompiled headers. Headers that few sources include are left out, because
# the compiler instantiates open templates of a precompiled header at the end of every source: an empty
# source took 5 s of processor time with <torch/script.h>, and takes 2 s with the headers below.
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
# Compiles up to <most> sources of a target as one file: most of the compile time of a source is spent on
# templates of its headers, once per file. Without precompiled headers (the tidy preset), each source is
# compiled alone, which shows missing includes.
function(leapp_compile_together target most)
  if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${most})
  endif()
endfunction()

set(LEAPP_STD_HEADERS <algorithm> <array> <chrono> <filesystem> <fstream> <functional> <map> <memory>
  <numeric> <optional> <set> <span> <sstream> <string> <unordered_map> <unordered_set> <variant> <vector>)
# The headers that a tensor, the dispatcher and an operator's header include.
set(LEAPP_TORCH_HEADERS <ATen/core/Tensor.h> <ATen/core/dispatch/Dispatcher.h> <ATen/core/stack.h>
  <ATen/ops/empty.h> <c10/util/flat_hash_map.h>)

leapp_precompiled(leapp_std_pch HEADERS ${LEAPP_STD_HEADERS})
# g++ 13 and later use a precompiled header only with the same optimisation level.
leapp_precompiled(leapp_once_pch OPTIONS $<$<CONFIG:Release>:-O1> HEADERS ${LEAPP_STD_HEADERS})
if(LEAPP_WITH_TORCH)
  leapp_precompiled(leapp_torch_pch LINKS LibTorch::LibTorch
    HEADERS ${LEAPP_STD_HEADERS} ${LEAPP_TORCH_HEADERS})
endif()
