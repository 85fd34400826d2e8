#include "tests/lab/sysctls.h"

#include <span>
#include <string>

#include "base/status.h"
#include "tests/lab/netns.h"

namespace kasane::lab {
namespace {

struct Sysctl {
  std::string_view name;
  std::string_view value;
};

// The fabric only carries; it takes no part in what it carries.
constexpr Sysctl kFabric[] = {
    {"ipv6/conf/all/disable_ipv6", "1"},
    {"ipv6/conf/default/disable_ipv6", "1"},
};

// The switch's ports must not speak IPv6 themselves, or the hypervisor would appear in tenants' networks.
// arp_ignore: the NIC and br-phy must not both answer for the VTEP address.
constexpr Sysctl kHypervisor[] = {
    {"ipv6/conf/all/disable_ipv6", "1"},
    {"ipv6/conf/default/disable_ipv6", "1"},
    {"ipv4/conf/all/arp_ignore", "1"},
    {"ipv4/conf/default/arp_ignore", "1"},
    {"ipv4/conf/all/rp_filter", "0"},
    {"ipv4/conf/default/rp_filter", "0"},
    {"ipv4/ip_forward", "0"},
};

// Addresses and routes come from the topology alone, and are usable at once.
constexpr Sysctl kVm[] = {
    {"ipv6/conf/all/accept_ra", "0"},    {"ipv6/conf/default/accept_ra", "0"},
    {"ipv6/conf/all/autoconf", "0"},     {"ipv6/conf/default/autoconf", "0"},
    {"ipv6/conf/all/accept_dad", "0"},   {"ipv6/conf/default/accept_dad", "0"},
    {"ipv6/conf/all/disable_ipv6", "0"}, {"ipv6/conf/default/disable_ipv6", "0"},
    {"ipv4/conf/all/rp_filter", "0"},    {"ipv4/conf/default/rp_filter", "0"},
};

absl::Status Set(const std::string& netns, std::span<const Sysctl> sysctls) {
  ASSIGN_OR_RETURN(const NetnsScope scope, NetnsScope::Enter(netns));
  for (const Sysctl& sysctl : sysctls) {
    RETURN_IF_ERROR(Annotate(SetSysctl(sysctl.name, sysctl.value), netns));
  }
  return absl::OkStatus();
}

absl::Status SetForwarding(const std::string& netns, bool on) {
  const std::string_view value = on ? "1" : "0";
  ASSIGN_OR_RETURN(const NetnsScope scope, NetnsScope::Enter(netns));
  RETURN_IF_ERROR(SetSysctl("ipv4/ip_forward", value));
  return SetSysctl("ipv6/conf/all/forwarding", value);
}

}  // namespace

absl::Status SetSysctls(const Layout& layout, const LabPlan& plan) {
  RETURN_IF_ERROR(Set(layout.Namespace(kFabricNode), kFabric));
  for (const Hypervisor& host : plan.hosts) RETURN_IF_ERROR(Set(layout.Namespace(host.node), kHypervisor));
  for (const Vm& vm : plan.vms) {
    RETURN_IF_ERROR(Set(layout.Namespace(vm.node), kVm));
    RETURN_IF_ERROR(SetForwarding(layout.Namespace(vm.node), !vm.behind.empty()));
  }
  return absl::OkStatus();
}

}  // namespace kasane::lab
