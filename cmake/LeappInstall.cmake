# Installs LEAPP in components:
#   runtime         the library that a robot loads
#   dev             headers and package files to build programs for it
#   tools           the library of the tools
#   tools_dev       its headers
#   command         the leapp command
#   trace           the tracing library with its headers, and the TorchScript engine
#   python          the Python package with its own copy of the first two libraries (wheel leapp-runtime);
#                   the prefix is site-packages
#   python_scripts  its programs; the prefix is bin
#   python_trace    the tracing part of the Python package (wheel leapp)
# An installation without a component leaves out those of Python.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/leapp)
get_property(libraries GLOBAL PROPERTY LEAPP_LIBRARIES)

foreach(library IN LISTS libraries)
  get_target_property(component ${library} LEAPP_COMPONENT)
  get_target_property(type ${library} TYPE)
  set(exported)
  set(namelink)
  if(type STREQUAL SHARED_LIBRARY)
    set(exported EXPORT leapp_${component})
    set(dev_runtime dev)
    set(dev_tools tools_dev)
    set(dev_trace trace)
    install(EXPORT leapp_${component} NAMESPACE leapp:: DESTINATION ${package_dir}
      FILE leapp_${component}.cmake COMPONENT ${dev_${component}})
    set(namelink NAMELINK_COMPONENT ${dev_${component}})
  endif()
  install(TARGETS ${library} ${exported}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component} ${namelink})
  if(LEAPP_BUILD_PYTHON)
    set(wheel_runtime python)
    set(wheel_tools python)
    set(wheel_trace python_trace)
    install(TARGETS ${library} LIBRARY DESTINATION leapp/lib COMPONENT ${wheel_${component}}
      EXCLUDE_FROM_ALL NAMELINK_SKIP)  # a wheel cannot contain links
  endif()
endforeach()

set(headers ${PROJECT_SOURCE_DIR}/include/leapp)
set(headers_dir ${CMAKE_INSTALL_INCLUDEDIR}/leapp)
file(GLOB runtime_headers CONFIGURE_DEPENDS ${headers}/*.h)
list(REMOVE_ITEM runtime_headers ${headers}/leapp.h)
install(FILES ${runtime_headers} DESTINATION ${headers_dir} COMPONENT dev)
install(DIRECTORY ${headers}/tools DESTINATION ${headers_dir} COMPONENT tools_dev
  FILES_MATCHING PATTERN "*.h")
if(LEAPP_WITH_TORCH)
  install(FILES ${headers}/leapp.h DESTINATION ${headers_dir} COMPONENT trace)
  install(DIRECTORY ${headers}/trace DESTINATION ${headers_dir} COMPONENT trace
    FILES_MATCHING PATTERN "*.h")
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/FindLibTorch.cmake DESTINATION ${package_dir}
    COMPONENT trace)
endif()

if(TARGET leapp_cli)
  install(TARGETS leapp_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
  if(LEAPP_BUILD_PYTHON)
    set(scripts_dir .)
    if(SKBUILD_SCRIPTS_DIR)
      set(scripts_dir ${SKBUILD_SCRIPTS_DIR})
    endif()
    install(TARGETS leapp_cli RUNTIME DESTINATION ${scripts_dir} COMPONENT python_scripts
      EXCLUDE_FROM_ALL)
  endif()
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/leappConfig.cmake.in
  ${PROJECT_BINARY_DIR}/leappConfig.cmake INSTALL_DESTINATION ${package_dir}
  PATH_VARS CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/leappConfigVersion.cmake
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)  # `policy` is the same on every machine
install(FILES ${PROJECT_BINARY_DIR}/leappConfig.cmake ${PROJECT_BINARY_DIR}/leappConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/LeappPolicy.cmake
  DESTINATION ${package_dir} COMPONENT dev)

# The path from the file's directory to the prefix: libraries may be one directory deeper than usual.
file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
set(pc_runtime dev)
set(pc_tools tools_dev)
foreach(part runtime tools)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/leapp_${part}.pc.in
    ${PROJECT_BINARY_DIR}/leapp_${part}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/leapp_${part}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${pc_${part}})
endforeach()

# One target for everything that is installed: all except tests, examples and benchmarks.
add_custom_target(leapp_package)
foreach(target IN ITEMS ${libraries} leapp_cli _runtime _tools _trace)
  if(TARGET ${target})
    add_dependencies(leapp_package ${target})
  endif()
endforeach()
