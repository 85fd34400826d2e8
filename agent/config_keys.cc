// The table of configuration keys.
#include <array>
#include <span>

#include "agent/config.h"

namespace kasane::agent {
namespace {

constexpr std::array kKeys = {
    ConfigKey{"host_id", "--host-id", KeyType::kText, "",
              "This host's id, as in a port's binding:host_id. Default: the host name"},
    ConfigKey{"controller", "--controller", KeyType::kText, "127.0.0.1:6650",
              "ADDRESS:PORT of kasane-controller. One that is not loopback needs `insecure`"},
    ConfigKey{"insecure", "--insecure", KeyType::kFlag, "false",
              "Allow a connection without TLS to a controller on another machine"},
    ConfigKey{"tunnel_addresses", "--tunnel-address", KeyType::kList, "",
              "This host's own VTEP addresses, at most one per family; required (repeat the flag for two)"},
    ConfigKey{"admin_socket", "--admin-socket", KeyType::kText, "/run/kasane/agent.sock",
              "Unix socket that kasanectl talks to; mode 0660"},
    ConfigKey{"state_dir", "--state-dir", KeyType::kText, "/var/lib/kasane-agent",
              "Directory of the last good state, made if missing (mode 0700); one for each agent"},
    ConfigKey{"datapath.type", "--datapath", KeyType::kText, "ovs", "What forwards: ovs"},
    ConfigKey{"datapath.ovs_run_dir", "--ovs-run-dir", KeyType::kText, "/var/run/openvswitch",
              "Directory with the sockets of the Open vSwitch daemons"},
    ConfigKey{"datapath.bridge", "--bridge", KeyType::kText, "br-int",
              "Integration bridge; all of its flows and meters are Kasane's"},
    ConfigKey{"datapath.datapath_type", "--datapath-type", KeyType::kText, "auto",
              "netdev (userspace), system (kernel module) or auto"},
    ConfigKey{"datapath.replication_rate", "--replication-rate", KeyType::kText, "1000",
              "Frames a second that one port may have replicated (broadcast, multicast, unknown unicast); 0: "
              "no limit"},
    ConfigKey{"log.level", "--log-level", KeyType::kText, "info", "debug, info, warning or error"},
    ConfigKey{"log.format", "--log-format", KeyType::kText, "text",
              "text (key=value) or json, one line per event"},
    ConfigKey{"log.file", "--log-file", KeyType::kText, "", "File to append to. Default: standard error"},
};

}  // namespace

std::span<const ConfigKey> ConfigKeys() { return kKeys; }

}  // namespace kasane::agent
