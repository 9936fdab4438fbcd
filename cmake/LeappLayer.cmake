# leapp_layer(<name> DIR <folder under src> [TORCH] [DEPENDS layer...] [PRIVATE library...])
#
# One folder of src/ is one static library. Layers say what they may depend on; the shared libraries
# take whole layers. A layer without TORCH never sees libtorch's include folders.
function(leapp_layer name)
  cmake_parse_arguments(ARG "TORCH" "DIR" "DEPENDS;PRIVATE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${ARG_DIR}/*.cpp)
  add_library(${name} STATIC ${sources})
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
  target_link_libraries(${name} PUBLIC ${ARG_DEPENDS} PRIVATE leapp_warnings ${ARG_PRIVATE})
  set_target_properties(${name} PROPERTIES
    POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  if(ARG_TORCH)
    target_link_libraries(${name} PUBLIC leapp_torch)
    target_precompile_headers(${name} PRIVATE <torch/torch.h>)
  endif()
endfunction()
