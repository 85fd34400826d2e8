// The plan of a lab: which hypervisors and VMs a topology asks for, with every name, address and route
// that they get. Pure: a function of the topology alone.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/ip_address.h"
#include "base/mac_address.h"
#include "model/network_state.h"
#include "vswitch/host_view.h"

namespace kasane::lab {

// Bytes of IP packet between hypervisors: what a tenant MTU of 1450 needs with VXLAN over IPv4.
inline constexpr uint32_t kUnderlayMtu = 1500;

// From 198.18.0.0/15 and 2001:2::/48, which RFC 2544 and RFC 5180 set apart for test set-ups. They exist in a
// lab's namespaces only.
IpPrefix UnderlayNetwork();    // 198.18.0.0/16
IpPrefix UnderlayNetwork6();   // 2001:2::/64, for hosts that pin an address in it.
IpPrefix ManagementNetwork();  // 198.19.0.0/16
// The controller's address, with the management network's length.
IpPrefix ControllerAddress();
inline constexpr uint16_t kControllerPort = 6650;
std::string ControllerEndpoint();  // "ADDRESS:PORT"

struct VmRoute {
  IpPrefix destination;
  IpAddress via;

  bool operator==(const VmRoute&) const = default;
};

struct Vm {
  std::string node;  // Its name in the lab: the port's, or the port's id if the name cannot be one.
  PortId port;
  size_t host = 0;        // Index in LabPlan::hosts.
  std::string interface;  // Of its end on the hypervisor.
  MacAddress mac;
  uint32_t mtu = 0;
  std::vector<IpPrefix> addresses;  // With the subnet's length, host bits kept.
  std::vector<VmRoute> routes;
  // Addresses behind it that a router's extra route leads to. Not empty: it forwards.
  std::vector<IpAddress> behind;

  bool operator==(const Vm&) const = default;
};

struct Hypervisor {
  std::string node;  // The host id.
  IpPrefix vtep;
  MacAddress vtep_mac;
  IpPrefix management;
  // Of its Open vSwitch: "netdev", the userspace datapath, or "system", the kernel's.
  std::string datapath_type = "netdev";

  bool operator==(const Hypervisor&) const = default;
};

struct LabPlan {
  std::vector<Hypervisor> hosts;  // Sorted by node.
  std::vector<Vm> vms;            // Sorted by node.
};

// Every port whose device_owner begins with "compute:" becomes a VM on its host, and every entry of `hosts` a
// hypervisor, with or without VMs. An error if there is no VM, or if a host's id or pinned tunnel address does
// not fit the lab.
absl::StatusOr<LabPlan> MakePlan(const model::NetworkState& topology);

const Vm* FindVm(const LabPlan& plan, std::string_view node);

// Its VTEP, as an agent has it.
vswitch::TunnelAddresses OwnAddresses(const Hypervisor& host);

}  // namespace kasane::lab
