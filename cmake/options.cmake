# Compiler flags, sanitizers and ccache for all of our own code.

set(KASANE_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize= takes them; empty for none")

option(KASANE_FUZZ "Make tests/fuzz fuzzers of clang's libFuzzer" OFF)

find_program(CCACHE ccache)
if(CCACHE)
  # Paths below the source tree are hashed relative, so that build trees and clones share the cache. Depend mode
  # asks the compiler for a file's headers instead of preprocessing it first, which a cold cache pays for.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
    CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1 ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
endif()

# -O2, -Wno-restrict and -Wno-array-bounds: g++ 12 reports false ones in std::string.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g1")

add_library(kasane_options INTERFACE)
# -pthread for all: some libraries bring it, and the precompiled headers fit only one setting of it.
target_compile_options(kasane_options INTERFACE -pthread -Wall -Wextra -Werror
  $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict -Wno-array-bounds -Wnon-virtual-dtor -Wshadow>)
target_include_directories(kasane_options INTERFACE ${CMAKE_SOURCE_DIR})

if(CMAKE_UNITY_BUILD)
  # A type in an unnamed namespace of one .cc looks like that of a header.
  target_compile_options(kasane_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
endif()

if(KASANE_SANITIZE)
  # Unoptimised: instrumented code takes twice as long to compile with -O2, and unit tests do not wait for it.
  target_compile_options(kasane_options INTERFACE -O0 -fsanitize=${KASANE_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${KASANE_SANITIZE})
endif()

if(KASANE_FUZZ)
  # Fuzzers are only as good as they are fast. clang does not know all warnings that g++ is told.
  target_compile_options(kasane_options INTERFACE -O1 -fsanitize=fuzzer-no-link -Wno-unknown-warning-option)
endif()

# Most of a file's build time is these headers, over and over. Precompiled, they are read once for our code and
# once, with gtest's, for the tests. Linting (tests/run.sh) reads each file without them, so that a file that
# does not include what it uses is found.
function(kasane_precompiled name)
  add_library(${name} OBJECT ${CMAKE_SOURCE_DIR}/cmake/pch.cc)
  target_link_libraries(${name} PRIVATE ${ARGN} absl::status absl::statusor fmt::fmt kasane_options)
  target_precompile_headers(${name} PRIVATE <absl/status/statusor.h> <fmt/format.h> <algorithm> <chrono> <functional>
    <map> <memory> <mutex> <optional> <set> <string> <string_view> <utility> <variant> <vector>)
endfunction()
