# leapp_add_policy(<target> <bundle.yaml>)
# Builds a policy of C++ nodes (export_with="cpp") as a static library without dependencies. Link to it
# and include `<bundle>_policy.h`, which documents the class. The `leapp` command writes the sources at
# build time, and again if the bundle changes. It always runs on the build machine; set LEAPP_COMMAND if
# CMake does not find it when cross-compiling. For x86-64 the library contains code for SSE2, AVX2 and
# AVX-512 and selects one at run time, unless CMAKE_CXX_FLAGS select a processor (-m..). For other
# processors, the flags decide.
function(leapp_add_policy target yaml)
  if(TARGET leapp_cli)
    set(command leapp_cli)
  else()
    find_program(LEAPP_COMMAND leapp HINTS ${leapp_TOOLS_DIR} NO_CMAKE_FIND_ROOT_PATH REQUIRED)
    set(command ${LEAPP_COMMAND})
  endif()
  get_filename_component(yaml ${yaml} ABSOLUTE)
  get_filename_component(bundle ${yaml} DIRECTORY)
  get_filename_component(stem ${yaml} NAME_WE)
  string(REGEX REPLACE "[^A-Za-z0-9]" "_" name ${stem})
  if(name MATCHES "^[0-9]")
    set(name _${name})
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_source)
  set(nodes ${folder}/${name}_nodes.cpp)
  file(GLOB files CONFIGURE_DEPENDS ${bundle}/*.cpp ${bundle}/*.weights ${bundle}/*.safetensors)
  add_custom_command(
    OUTPUT ${folder}/${name}_policy.h ${folder}/${name}_policy.cpp ${folder}/${name}_nodes.h ${nodes}
    COMMAND ${command} build ${yaml} --source ${folder}
    DEPENDS ${yaml} ${files} VERBATIM)
  add_custom_target(${target}_source DEPENDS ${nodes})

  add_library(${target} STATIC ${folder}/${name}_policy.cpp ${folder}/${name}_policy.h)
  target_include_directories(${target} PUBLIC ${folder})  # the assembler also looks for weights there
  target_compile_features(${target} PUBLIC cxx_std_20)
  leapp_policy_variant(${target} ${nodes} plain)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT CMAKE_CXX_FLAGS MATCHES "-m")
    leapp_policy_variant(${target} ${nodes} avx2 -mavx2 -mfma)
    leapp_policy_variant(${target} ${nodes} avx512
      -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx2 -mfma)
    target_compile_definitions(${target} PRIVATE LEAPP_VARIANTS)
  endif()
endfunction()

# Compiles the nodes again, for another processor. The code does not use errno or the floating-point
  # exception flags, so vectorised code need not preserve them.
function(leapp_policy_variant target nodes variant)
  add_library(${target}_${variant} OBJECT ${nodes})
  add_dependencies(${target}_${variant} ${target}_source)
  target_compile_features(${target}_${variant} PRIVATE cxx_std_20)
  target_compile_definitions(${target}_${variant} PRIVATE LEAPP_VARIANT=${variant})
  target_compile_options(${target}_${variant} PRIVATE
    -O3 -fno-math-errno -fno-trapping-math -fno-exceptions -fno-rtti ${ARGN})
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_${variant}>)
endfunction()
