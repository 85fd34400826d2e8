#include "tests/random/random_cloud.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "tests/random/cloud_builder.h"

namespace kasane::random {

std::vector<PortId> LocalPorts() {
  std::vector<PortId> ports;
  for (int n = 0; n < kPortCount; ++n) ports.emplace_back(fmt::format("p{}", n));
  return ports;
}

vswitch::TunnelAddresses OwnVteps() {
  return {*IpAddress::Parse("192.0.2.100"), *IpAddress::Parse("fd00::100")};
}

std::vector<IpAddress> PeerVteps() {
  std::vector<IpAddress> peers;
  for (const char* form : {"192.0.2.{}", "fd00::{}"}) {
    for (int n = 1; n <= kPeerCount; ++n)
      peers.push_back(*IpAddress::Parse(fmt::format(fmt::runtime(form), 100 + n)));
  }
  return peers;
}

MacAddress NthMac(uint32_t n) {
  return MacAddress(
      {0xfa, 0x16, 0x3e, static_cast<uint8_t>(n >> 16), static_cast<uint8_t>(n >> 8), static_cast<uint8_t>(n)});
}

IpAddress Nth(const IpPrefix& prefix, uint32_t n) {
  std::vector<uint8_t> bytes(prefix.address().bytes().begin(), prefix.address().bytes().end());
  for (size_t at = bytes.size(); n != 0 && at-- > 0; n >>= 8) {
    n += bytes[at];
    bytes[at] = static_cast<uint8_t>(n);
  }
  if (prefix.family() == IpFamily::kV4) return IpAddress::V4(std::span<const uint8_t, 4>(bytes.data(), 4));
  return IpAddress::V6(std::span<const uint8_t, 16>(bytes.data(), 16));
}

model::NetworkState RandomCloud(Random& random, const Kinds& kinds) {
  CloudBuilder builder({}, random, kinds);
  if (Has(kinds, Kind::kAimed) && Chance(random, 3)) builder.SecureAll();
  builder.AddHosts();
  const auto networks = 1 + Below(random, 4);
  for (uint64_t n = 0; n < networks; ++n) builder.AddNetwork(n);
  for (const PortId& port : LocalPorts()) builder.AddVm(port, kHost);
  const auto remotes = Below(random, 12);
  for (uint64_t n = 0; n < remotes; ++n) builder.AddVm(PortId(fmt::format("remote{}", n)), builder.AnyPeer());
  const auto routers = Below(random, 4);
  for (uint64_t n = 0; n < routers; ++n) builder.AddRouter(n);
  if (Has(kinds, Kind::kOwners)) {
    const auto owners = Below(random, 5);
    for (uint64_t n = 0; n < owners; ++n) builder.AddNeutronPort(n);
  }
  const auto claims = Below(random, 6);
  for (uint64_t n = 0; n < claims; ++n) builder.AddClaim();
  return builder.Take();
}

}  // namespace kasane::random
