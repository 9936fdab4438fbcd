# Text files as constants of a C++ source.
#
# leapp_embed(<target> HEADER header NAMESPACE n CONSTANT name file...  [CONSTANT name file...]...)
# defines `const std::string_view name` for each, with the texts of its files in order. As a script
# (cmake -P, with OUTPUT, HEADER, NAMESPACE and ARGUMENTS) it writes the source.
if(CMAKE_SCRIPT_MODE_FILE)
  set(source "#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\n")
  string(REPLACE "," ";" arguments "${ARGUMENTS}")
  set(name_next OFF)
  set(text "")
  set(name "")
  macro(finish_constant)
    if(name)
      string(APPEND source "\nconst std::string_view ${name} = R\"leapp(${text})leapp\";\n")
    endif()
  endmacro()
  foreach(word IN LISTS arguments)
    if(word STREQUAL "CONSTANT")
      finish_constant()
      set(name_next ON)
      set(text "")
    elseif(name_next)
      set(name ${word})
      set(name_next OFF)
    else()
      file(READ ${CMAKE_CURRENT_BINARY_DIR}/${word} content)
      string(APPEND text "${content}")
    endif()
  endforeach()
  finish_constant()
  file(WRITE ${OUTPUT} "${source}\n}  // namespace ${NAMESPACE}\n")
  return()
endif()

set(LEAPP_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(leapp_embed target)
  cmake_parse_arguments(ARG "" "HEADER;NAMESPACE" "" ${ARGN})
  set(files ${ARG_UNPARSED_ARGUMENTS})
  list(FILTER files INCLUDE REGEX "/")
  list(TRANSFORM files PREPEND ${PROJECT_SOURCE_DIR}/)
  list(JOIN ARG_UNPARSED_ARGUMENTS "," arguments)
  set(output ${PROJECT_BINARY_DIR}/${target}_assets.cpp)
  add_custom_command(OUTPUT ${output} DEPENDS ${files} ${LEAPP_EMBED_SCRIPT} VERBATIM
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DHEADER=${ARG_HEADER} -DNAMESPACE=${ARG_NAMESPACE}
            "-DARGUMENTS=${arguments}" -P ${LEAPP_EMBED_SCRIPT}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  target_sources(${target} PRIVATE ${output})
endfunction()
