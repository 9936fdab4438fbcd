# leapp_layer(<name> DIR <directory under src> [TORCH] [ONCE] [APART header]
#             [DEPENDS layer...] [PRIVATE library...])
# Each directory of src/ is one static library. A layer lists the layers that it may depend on; the shared
# libraries consist of whole layers. Files of src/core/ and src/tools/ are included by their path in there:
# a layer of the core does not get the include directories of the tools or of tracing, and one of the
# tools does not get those of tracing. A layer without TORCH never gets libtorch's include directories.
# ONCE, for a layer without TORCH, is for code that runs once per export, where optimising costs more than
# it gains: -O1 in a Release build. APART, for a layer with ONCE, compiles each source separately, because
# its sources use the same names in their unnamed namespaces; the common header is parsed once.
function(leapp_layer name)
  cmake_parse_arguments(ARG "TORCH;ONCE" "DIR;APART" "DEPENDS;PRIVATE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${ARG_DIR}/*.cpp)
  add_library(${name} STATIC ${sources})
  string(REGEX MATCH "^(core|tools)/" part ${ARG_DIR})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src/${part})
  target_compile_definitions(${name} PRIVATE LEAPP_VERSION="${PROJECT_VERSION}")
  target_link_libraries(${name} PUBLIC ${ARG_DEPENDS} PRIVATE leapp_warnings ${ARG_PRIVATE})
  set_target_properties(${name} PROPERTIES
    LEAPP_DIR ${ARG_DIR} LEAPP_LINKS "${ARG_PRIVATE}" LEAPP_TORCH ${ARG_TORCH})
  set_property(GLOBAL APPEND PROPERTY LEAPP_LAYERS ${name})
  if(ARG_TORCH)
    target_link_libraries(${name} PUBLIC LibTorch::LibTorch)
    leapp_precompile(${name} leapp_torch_pch)
  elseif(ARG_ONCE)
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
    if(ARG_APART)
      leapp_precompiled(${name}_pch OPTIONS $<$<CONFIG:Release>:-O1>
        HEADERS ${LEAPP_STD_HEADERS} ${PROJECT_SOURCE_DIR}/src/${ARG_APART})
      target_include_directories(${name}_pch PRIVATE ${PROJECT_SOURCE_DIR}/include
        ${PROJECT_SOURCE_DIR}/src/core ${PROJECT_SOURCE_DIR}/src)
      leapp_precompile(${name} ${name}_pch)
    else()
      leapp_precompile(${name} leapp_once_pch)
    endif()
  else()
    leapp_precompile(${name} leapp_std_pch)
  endif()
  if(NOT ARG_APART)
    leapp_compile_together(${name} 16)
  endif()
endfunction()

# leapp_kernel_texts(<layer> [further file..])
# Embeds the texts of the files in the layer's kernels/ directory, which it copies into generated
# code.
function(leapp_kernel_texts layer)
  get_target_property(folder ${layer} LEAPP_DIR)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/kernels/*.h)
  list(APPEND files ${ARGN})
  set(output ${PROJECT_BINARY_DIR}/generated/${layer}_kernel_texts.cpp)
  set(script ${PROJECT_SOURCE_DIR}/cmake/LeappKernelTexts.cmake)
  add_custom_command(OUTPUT ${output} VERBATIM DEPENDS ${files} ${script}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} "-DFILES=${files}" -P ${script})
  target_sources(${layer} PRIVATE ${output})
endfunction()

# leapp_library(<name> LAYERS layer... [PLUGIN] [EXPORT_NAME x] COMPONENT c [USES library...])
# Builds a shared library from whole layers. It links what they link, but no layer of another library:
# a symbol that crosses libraries must carry LEAPP_EXPORT, or the link fails here. A plugin is opened at
# run time and never linked to.
function(leapp_library name)
  cmake_parse_arguments(ARG "PLUGIN" "EXPORT_NAME;COMPONENT" "LAYERS;USES" ${ARGN})
  set(objects)
  set(links)
  foreach(layer IN LISTS ARG_LAYERS)
    list(APPEND objects $<TARGET_OBJECTS:${layer}>)
    get_target_property(layer_links ${layer} LEAPP_LINKS)
    list(APPEND links ${layer_links})
  endforeach()
  list(REMOVE_DUPLICATES links)
  if(ARG_PLUGIN)
    add_library(${name} MODULE ${objects})
    target_link_libraries(${name} PRIVATE ${ARG_USES})
  else()
    add_library(${name} SHARED ${objects})
    add_library(leapp::${ARG_EXPORT_NAME} ALIAS ${name})
    target_include_directories(${name} INTERFACE
      $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_compile_features(${name} INTERFACE cxx_std_20)
    target_link_libraries(${name} PUBLIC ${ARG_USES})
    # The interface may change with a minor version while the major one is 0.
    set(interface ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
    set_target_properties(${name} PROPERTIES EXPORT_NAME ${ARG_EXPORT_NAME}
      VERSION ${interface} SOVERSION ${interface})
  endif()
  target_link_libraries(${name} PRIVATE ${links})
  # The symbols of a static library that we link (some toolchains have only libstdc++.a) are not exported,
    # because they would mix with those of another copy in the process.
  target_link_options(${name} PRIVATE -Wl,--no-undefined -Wl,--exclude-libs,ALL
    -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map)
  set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exports.map)
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX LEAPP_COMPONENT ${ARG_COMPONENT}
    INSTALL_RPATH "$ORIGIN")
  if("LibTorch::LibTorch" IN_LIST ARG_USES)  # in site-packages: leapp/lib next to torch/lib
    set_property(TARGET ${name} APPEND PROPERTY INSTALL_RPATH "$ORIGIN/../../torch/lib")
  endif()
  set_property(GLOBAL APPEND PROPERTY LEAPP_LIBRARIES ${name})
endfunction()
