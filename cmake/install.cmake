# cmake --install build: the programs, their documentation, and systemd units that are neither enabled nor started.
include(GNUInstallDirs)

install(TARGETS kasaned kasane-controller RUNTIME DESTINATION ${CMAKE_INSTALL_SBINDIR})
install(TARGETS kasanectl RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES README.md CHANGELOG.md SECURITY.md LICENSE docs/operating.md docs/packets.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
foreach(unit kasaned.service kasane-controller.service)
  configure_file(deploy/systemd/${unit}.in deploy/${unit} @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/deploy/${unit} DESTINATION lib/systemd/system)
endforeach()
install(FILES deploy/systemd/kasane.sysusers.conf DESTINATION lib/sysusers.d RENAME kasane.conf)
