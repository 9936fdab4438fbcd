# Debian packages, by `cpack -G DEB` in a tree of the deb preset. For a robot: libleapp-runtime0.1 (the
# library, named after its SONAME) and libleapp-dev (headers, CMake and pkg-config files). For a workstation:
# libleapp-tools0.1, libleapp-tools-dev, and leapp (the command).
set(interface ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(library_package libleapp-runtime${interface})
set(tools_package libleapp-tools${interface})

set(CPACK_PACKAGE_NAME leapp)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "LEAPP maintainers <maintainers@leapp.example>" CACHE STRING
  "Whom the Debian packages name as maintainer")
set(CPACK_COMPONENTS_ALL runtime dev tools tools_dev command)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)  # the command needs our own library
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME ${library_package})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_PROVIDES libleapp-runtime)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA
  ${PROJECT_BINARY_DIR}/runtime/shlibs ${PROJECT_BINARY_DIR}/triggers)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "runs exported policy pipelines without PyTorch
The shared library of LEAPP's runtime: it loads a bundle of ONNX models
and the wires between them, verifies it, and runs it tick by tick on a
robot. ONNX Runtime is opened when a bundle needs it.")

set(CPACK_DEBIAN_DEV_PACKAGE_NAME libleapp-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "${library_package} (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_DEV_DESCRIPTION "headers of LEAPP's runtime
What C and C++ programs that run policy pipelines are built with: headers
and the files of CMake and pkg-config.")

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME ${tools_package})
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_TOOLS_PACKAGE_PROVIDES libleapp-tools)
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "${library_package} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_TOOLS_PACKAGE_CONTROL_EXTRA
  ${PROJECT_BINARY_DIR}/tools/shlibs ${PROJECT_BINARY_DIR}/triggers)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS "graphviz")
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "desk tools for exported policy pipelines
The shared library behind the leapp command: it shows bundles of exported
policies in a browser, compares, draws, imports, merges and compiles them,
and replays what a robot recorded. No robot needs it.")

set(CPACK_DEBIAN_TOOLS_DEV_PACKAGE_NAME libleapp-tools-dev)
set(CPACK_DEBIAN_TOOLS_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_TOOLS_DEV_PACKAGE_DEPENDS
  "${tools_package} (= ${PROJECT_VERSION}), libleapp-dev (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_TOOLS_DEV_DESCRIPTION "headers of LEAPP's desk tools
What C++ programs that view, compare, import, merge or build exported
policies are built with: headers and the files of CMake and pkg-config.")

set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME leapp)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_COMMAND_PACKAGE_DEPENDS
  "${library_package} (= ${PROJECT_VERSION}), ${tools_package} (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_COMMAND_DESCRIPTION "inspect, check and run exported policy pipelines
The leapp command looks at bundles of exported policies, verifies them,
runs and measures them, and imports policies of other projects.")

# Files that Debian requires of every package, in addition to the installed ones.
file(CONFIGURE OUTPUT runtime/shlibs CONTENT "libleapp_runtime ${interface} ${library_package}\n")
file(CONFIGURE OUTPUT tools/shlibs CONTENT "libleapp_tools ${interface} ${tools_package}\n")
file(CONFIGURE OUTPUT triggers CONTENT "activate-noawait ldconfig\n")
file(CONFIGURE OUTPUT changelog CONTENT "leapp (${PROJECT_VERSION}) stable; urgency=medium

  * See CHANGELOG.md in the sources.

 -- ${CPACK_PACKAGE_CONTACT}  Sun, 01 Nov 2026 12:00:00 +0000
")
file(CONFIGURE OUTPUT copyright CONTENT "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: leapp

Files: *
Copyright: 2026 the LEAPP developers
License: Apache-2.0
 On Debian systems the full text is in /usr/share/common-licenses/Apache-2.0.
")
find_program(LEAPP_GZIP gzip)
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr" AND LEAPP_GZIP)
  configure_file(${PROJECT_SOURCE_DIR}/cli/leapp.1 ${PROJECT_BINARY_DIR}/leapp.1 COPYONLY)
  execute_process(COMMAND ${LEAPP_GZIP} -9nkf changelog leapp.1 WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
  install(FILES ${PROJECT_BINARY_DIR}/leapp.1.gz DESTINATION share/man/man1 COMPONENT command)
  foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    string(TOUPPER ${component} upper)
    install(FILES ${PROJECT_BINARY_DIR}/copyright ${PROJECT_BINARY_DIR}/changelog.gz
      DESTINATION share/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME} COMPONENT ${component})
  endforeach()
endif()
include(CPack)
