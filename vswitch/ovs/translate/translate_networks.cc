#include "vswitch/ovs/translate/translate_networks.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "vswitch/ovs/translate/actions.h"

namespace kasane::ovs {

void TranslateNetwork(const tables::Claimant<tables::Network>& winner, FlowTable& out) {
  const tables::Network& network = winner.value;
  if (!network.up) {
    AddDrop(out, Table::kTunnel, 100, fmt::format("tun_id={:#x}", network.vni.value()), winner.owner,
            vswitch::DropReason::kAdminDown);
    return;
  }
  // What is larger than the network's MTU ends where it enters.
  const std::string here = fmt::format("metadata={:#x}", network.vni.value());
  Add(out, Table::kMtu, 100, here, TestMtu(network.mtu) + Goto(Table::kMtuVerdict), winner.owner);
  Add(out, Table::kMtuVerdict, 100, fmt::format("{},{}=0x1/0x1", here, reg::kTooBig),
      ToAgent(slowpath::SlowPathCause::kTooBig, network.mtu), winner.owner);
}

// Only the tunnel addresses of known hosts are let in.
void TranslatePeer(const tables::Claimant<tables::Peer>& winner, const Bindings& bindings, FlowTable& out) {
  const auto admit = [&](const std::optional<IpAddress>& source, uint32_t port, std::string_view field) {
    if (!source || port == 0) return;
    Add(out, Table::kInput, 100, fmt::format("in_port={},{}={}", port, field, *source), Goto(Table::kTunnel),
        winner.owner);
  };
  admit(winner.value.addresses.v4, bindings.vxlan_v4, "tun_src");
  admit(winner.value.addresses.v6, bindings.vxlan_v6, "tun_ipv6_src");
}

}  // namespace kasane::ovs
