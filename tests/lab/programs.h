// The programs that a lab needs, looked up before anything is built.
#pragma once

#include <absl/status/statusor.h>

#include <string>

namespace kasane::lab {

struct Programs {
  std::string ip;
  std::string ovsdb_tool;
  std::string ovsdb_server;
  std::string ovs_vswitchd;
  std::string ovs_vsctl;
  std::string agent;
  std::string controller;
  std::string lab;  // This program.
};

// The error names every program that is missing and what installs it.
absl::StatusOr<Programs> FindPrograms();

}  // namespace kasane::lab
