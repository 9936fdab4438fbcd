# Compiles through ccache if it is installed. ccache needs this sloppiness to cache sources that use a
# precompiled header. With the base directory, two build trees share their results. For a precompiled
# header, ccache hashes the checksum of its input (cmake/precompile.sh), so a rebuilt header is still a
# cache hit.
find_program(LEAPP_CCACHE ccache)
if(LEAPP_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_PCH_EXTSUM=1
      ${LEAPP_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
endif()
