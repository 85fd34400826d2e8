#include "model/claim_end.h"

#include <algorithm>

namespace kasane::model {
namespace {

bool HasAddress(const Port& port, const NetworkId& network, const IpAddress& address) {
  return port.network == network && std::any_of(port.fixed_ips.begin(), port.fixed_ips.end(),
                                                [&](const FixedIp& ip) { return ip.address == address; });
}

}  // namespace

bool GainsAddress(const Port* before, const Port& after, const NetworkId& network, const IpAddress& address) {
  return HasAddress(after, network, address) && (before == nullptr || !HasAddress(*before, network, address));
}

bool EndsClaim(const AddressClaim& claim, const NetworkState& before, const NetworkState& after) {
  return std::any_of(after.ports.begin(), after.ports.end(), [&](const auto& entry) {
    const auto& [id, port] = entry;
    const auto old = before.ports.find(id);
    if (id == claim.port || (old != before.ports.end() && old->second == port)) return false;
    return GainsAddress(old == before.ports.end() ? nullptr : old->second.get(), *port, claim.network,
                        claim.address);
  });
}

}  // namespace kasane::model
