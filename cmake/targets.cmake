# kasane_library(NAME SRCS ... DEPS ...): a static library of our own code.
# kasane_program(NAME SRCS ... DEPS ...): a program in build/bin.
# kasane_test(NAME [LABEL lab] SRCS ... DEPS ...): tests beside the code, run by ctest. Those that need root and
#   real programs (Open vSwitch, namespaces) have the label lab, all others unit.
# DEPS are what the folder table of the design allows; the link fails for anything else.

# The ASan tree is a unity build (CMakePresets.json): a third of the time. A suite's files have helpers of one name for
# different things: its tests stay by themselves.
function(kasane_by_themselves)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

kasane_precompiled(kasane_pch)
kasane_precompiled(kasane_test_pch GTest::gmock GTest::gtest)
target_precompile_headers(kasane_test_pch PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
target_compile_options(kasane_test_pch PRIVATE -O0)

# What is installed or brings up a lab.
add_custom_target(programs)
# The tests of a label, or all.
add_custom_target(unit_tests)
add_custom_target(lab_tests)
add_custom_target(all_tests DEPENDS unit_tests lab_tests)

function(kasane_library name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SRCS})
  target_link_libraries(${name} PUBLIC ${ARG_DEPS} PRIVATE kasane_options)
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
  if(NOT "${ARG_SRCS}" MATCHES "[.]c(;|$)")
    target_precompile_headers(${name} REUSE_FROM kasane_pch)
  endif()
endfunction()

function(kasane_program name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SRCS})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} kasane_options)
  target_precompile_headers(${name} REUSE_FROM kasane_pch)
  add_dependencies(programs ${name})
endfunction()

function(kasane_test name)
  cmake_parse_arguments(ARG "" "LABEL" "SRCS;DEPS" ${ARGN})
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  add_executable(${name} ${ARG_SRCS})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest_main kasane_options)
  target_precompile_headers(${name} REUSE_FROM kasane_test_pch)
  # gtest's headers cost most of a test's build, and optimising them buys nothing.
  target_compile_options(${name} PRIVATE -O0)
  add_dependencies(${ARG_LABEL}_tests ${name})
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT 120)
endfunction()
