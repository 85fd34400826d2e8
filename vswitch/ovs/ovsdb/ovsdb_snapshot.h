// What Kasane reads of an Open_vSwitch database, as values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kasane::ovs {

using OptionMap = std::map<std::string, std::string>;

struct OvsdbBridge {
  std::string datapath_type;  // Empty means "system".
  std::string fail_mode;
  std::vector<std::string> protocols;

  bool operator==(const OvsdbBridge&) const = default;
};

struct OvsdbInterface {
  std::string bridge;
  std::string port;
  std::string port_owner;  // external_ids:kasane-owner of the Port.
  std::string name;
  std::string type;  // Empty: a device of the system.
  std::string iface_id;
  std::string error;
  std::optional<int64_t> ofport;  // -1: the switch could not add it. Absent: it has not tried yet.
  OptionMap options;

  bool operator==(const OvsdbInterface&) const = default;
};

struct OvsdbSnapshot {
  bool connected = false;    // To the database now. If not, the rest is how it was last seen.
  bool initialised = false;  // Has its Open_vSwitch row.
  std::string ovs_version;
  std::vector<std::string> datapath_types;  // Empty: ovs-vswitchd never ran on this database.
  std::vector<std::string> iface_types;
  std::map<std::string, OvsdbBridge> bridges;
  std::vector<OvsdbInterface> interfaces;  // Sorted by name.

  bool operator==(const OvsdbSnapshot&) const = default;
};

}  // namespace kasane::ovs
