# Compiler flags, sanitizers and ccache for all of our own code.

set(KASANE_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize= takes them; empty for none")

find_program(CCACHE ccache)
if(CCACHE)
  # Paths below the source tree are hashed relative, so that build trees and clones share the cache.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
endif()

# -O2 and -Wno-restrict: g++ 12 reports a false -Wrestrict in std::string.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g1")

add_library(kasane_options INTERFACE)
target_compile_options(kasane_options INTERFACE -Wall -Wextra -Werror
  $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict -Wnon-virtual-dtor -Wshadow>)
target_include_directories(kasane_options INTERFACE ${CMAKE_SOURCE_DIR})

if(KASANE_SANITIZE)
  # Unoptimised: instrumented code takes twice as long to compile with -O2, and unit tests do not wait for it.
  target_compile_options(kasane_options INTERFACE -O0 -fsanitize=${KASANE_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${KASANE_SANITIZE})
endif()
