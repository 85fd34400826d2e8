# Libraries from Debian's packages (deploy/install-deps.sh), and libopenvswitch, which
# deploy/build-libopenvswitch.sh builds once outside of the build tree.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(GTest REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(absl REQUIRED)
find_package(Protobuf REQUIRED)
find_package(gRPC REQUIRED)
pkg_check_modules(YAMLCPP REQUIRED IMPORTED_TARGET yaml-cpp)
pkg_check_modules(TINS REQUIRED IMPORTED_TARGET libtins)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(SQLITE3 REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(LIBNL REQUIRED IMPORTED_TARGET libnl-3.0 libnl-route-3.0)

execute_process(COMMAND ${CMAKE_SOURCE_DIR}/deploy/build-libopenvswitch.sh --path
  OUTPUT_VARIABLE OVS_PREFIX OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE OVS_RESULT)
if(NOT OVS_RESULT EQUAL 0)
  message(FATAL_ERROR "libopenvswitch cannot be built; deploy/install-deps.sh installs what it needs")
endif()

# Part of the build, not of configuring, so that all that does not need it is compiled meanwhile. The recipe and the
# version are in the path: another one is another file.
# The outputs are links in the build tree, so that cleaning it does not take the library from the others.
set(OVS_LIBRARIES ${CMAKE_BINARY_DIR}/libopenvswitch.a ${CMAKE_BINARY_DIR}/libopenvswitchavx512.a)
add_custom_command(OUTPUT ${OVS_LIBRARIES}
  COMMAND ${CMAKE_SOURCE_DIR}/deploy/build-libopenvswitch.sh
  COMMAND ${CMAKE_COMMAND} -E create_symlink ${OVS_PREFIX}/lib/.libs/libopenvswitch.a
    ${CMAKE_BINARY_DIR}/libopenvswitch.a
  COMMAND ${CMAKE_COMMAND} -E create_symlink ${OVS_PREFIX}/lib/.libs/libopenvswitchavx512.a
    ${CMAKE_BINARY_DIR}/libopenvswitchavx512.a
  COMMENT "Building libopenvswitch (once for all build trees)" VERBATIM)
add_custom_target(libopenvswitch DEPENDS ${OVS_LIBRARIES})

add_library(openvswitch INTERFACE)
add_dependencies(openvswitch libopenvswitch)
target_include_directories(openvswitch SYSTEM INTERFACE
  ${OVS_PREFIX} ${OVS_PREFIX}/include ${OVS_PREFIX}/lib)
target_link_libraries(openvswitch INTERFACE ${OVS_LIBRARIES} ssl crypto unbound rt m atomic Threads::Threads)
