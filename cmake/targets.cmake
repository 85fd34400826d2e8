# kasane_library(NAME SRCS ... DEPS ...): a static library of our own code.
# kasane_program(NAME SRCS ... DEPS ...): a program in build/bin.
# kasane_test(NAME SRCS ... DEPS ...): unit tests beside the code, run by ctest.
# DEPS are what the folder table of the design allows; the link fails for anything else.

# Builds every test and nothing else.
add_custom_target(all_tests)

function(kasane_library name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SRCS})
  target_link_libraries(${name} PUBLIC ${ARG_DEPS} PRIVATE kasane_options)
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
endfunction()

function(kasane_program name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SRCS})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} kasane_options)
endfunction()

function(kasane_test name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SRCS})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest_main kasane_options)
  add_dependencies(all_tests ${name})
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT 120)
endfunction()
