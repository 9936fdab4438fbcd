# Finds MuJoCo in the layout of its PyPI wheel and of its release archives: MuJoCo::MuJoCo.
#
# Looks in MUJOCO_ROOT (a directory with include/mujoco/), then in the mujoco package of
# Python_EXECUTABLE. Only an example needs it.
set(MUJOCO_ROOT "" CACHE PATH "Folder of MuJoCo, with include/mujoco/")

set(_roots ${MUJOCO_ROOT})
if(Python_EXECUTABLE)
  execute_process(
    COMMAND ${Python_EXECUTABLE} -c
      "import importlib.util as u; print(u.find_spec('mujoco').submodule_search_locations[0], end='')"
    OUTPUT_VARIABLE _package ERROR_QUIET)
  list(APPEND _roots ${_package})
endif()

find_path(MuJoCo_INCLUDE_DIR mujoco/mujoco.h HINTS ${_roots} PATH_SUFFIXES include)
# The file name of the wheel's library contains its version.
foreach(_root IN LISTS _roots)
  file(GLOB _found ${_root}/libmujoco.so* ${_root}/lib/libmujoco.so*)
  list(APPEND _libraries ${_found})
endforeach()
if(_libraries)
  list(GET _libraries 0 MuJoCo_LIBRARY)
else()
  find_library(MuJoCo_LIBRARY mujoco)
endif()
mark_as_advanced(MuJoCo_INCLUDE_DIR MuJoCo_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MuJoCo REQUIRED_VARS MuJoCo_LIBRARY MuJoCo_INCLUDE_DIR)

if(MuJoCo_FOUND AND NOT TARGET MuJoCo::MuJoCo)
  add_library(MuJoCo::MuJoCo SHARED IMPORTED)
  set_target_properties(MuJoCo::MuJoCo PROPERTIES
    IMPORTED_LOCATION ${MuJoCo_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${MuJoCo_INCLUDE_DIR})
endif()
