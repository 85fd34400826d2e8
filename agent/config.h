// The agent's configuration: a YAML file and flags that override it, judged together.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/log.h"
#include "vswitch/host_view.h"

namespace kasane::agent {

inline constexpr std::string_view kDefaultConfigFile = "/etc/kasane/agent.yaml";

struct AgentConfig {
  HostId host_id;
  std::string controller;         // As written: "127.0.0.1:6650", "[::1]:6650", "controller.example:6650".
  std::string controller_target;  // The same as gRPC takes it.
  bool insecure = false;
  vswitch::TunnelAddresses tunnel_addresses;  // At least one.
  std::string admin_socket;
  std::string state_dir;
  struct Datapath {
    std::string type;  // "ovs"
    std::string ovs_run_dir;
    std::string bridge;
    std::string datapath_type;      // "auto", "netdev", "system"
    uint32_t replication_rate = 0;  // Frames a second and port. 0: no limit.
  } datapath;
  log::Options log;
};

// One thing wrong.
struct ConfigFault {
  std::string where;    // "/etc/kasane/agent.yaml:3", "--controller", or "" for a key that is nowhere.
  std::string key;      // "datapath.bridge". Empty: the file as a whole.
  std::string message;  // What is wrong and how to fix it.

  bool operator==(const ConfigFault&) const = default;
};

// "/etc/kasane/agent.yaml:3: datapath.bridge: ..."
std::string ToString(const ConfigFault& fault);

// What a key was set to, and where.
struct ConfigEntry {
  std::vector<std::string> values;
  std::string where;
};
using ConfigEntries = std::map<std::string, ConfigEntry>;  // By key: "datapath.bridge".

enum class KeyType { kText, kFlag, kList };

// Each key that there is: the one table that the file, the flags and --help are made from.
struct ConfigKey {
  std::string_view name;  // In the file; a dot is a level.
  std::string_view flag;  // "--bridge"
  KeyType type = KeyType::kText;
  std::string_view default_value;  // As it would be written.
  std::string_view help;
};
std::span<const ConfigKey> ConfigKeys();

// Reads the text of a configuration file named `file`. Appends what is wrong with its form.
ConfigEntries ParseConfig(const std::string& file, const std::string& text, std::vector<ConfigFault>& faults);

// Judges all entries, of the file and of the flags together. Appends everything wrong with them; the
// result is to be used only if nothing was appended. `host_name` is the default for host_id.
AgentConfig ValidateConfig(const ConfigEntries& entries, const std::string& host_name,
                           std::vector<ConfigFault>& faults);

}  // namespace kasane::agent
