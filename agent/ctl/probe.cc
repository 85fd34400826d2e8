#include "agent/ctl/probe.h"

#include <algorithm>
#include <optional>

#include "agent/ctl/packet_builder.h"
#include "kasane/v1/agent.pb.h"
#include "vswitch/base/status.h"

namespace kasane::ctl {
namespace {

constexpr size_t kMinPrefix = 4;

std::string NameOf(const v1::LocalPort& port) {
  return port.name().empty() ? port.id() : fmt::format("{} ({})", port.name(), port.id());
}

absl::StatusOr<std::optional<IpAddress>> OptionalIp(const char* option, const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto ip = IpAddress::Parse(text);
  if (!ip.ok()) return Annotate(ip.status(), option);
  return *ip;
}

absl::StatusOr<std::optional<MacAddress>> OptionalMac(const char* option, const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto mac = MacAddress::Parse(text);
  if (!mac.ok()) return Annotate(mac.status(), option);
  return *mac;
}

// The port's first address of the family.
absl::StatusOr<IpAddress> SourceOf(const v1::LocalPort& port, IpFamily family) {
  for (const std::string& text : port.ip_addresses()) {
    const auto ip = IpAddress::Parse(text);
    if (ip.ok() && ip->family() == family) return *ip;
  }
  return Invalid("port {} has no {} address to send from; give one with --src-ip", NameOf(port),
                 family == IpFamily::kV4 ? "IPv4" : "IPv6");
}

// A router's interface on the port's network, with the prefix that holds the source.
struct Gateway {
  MacAddress mac;
  IpPrefix prefix;
  std::string router;
};

std::optional<Gateway> GatewayOf(const v1::ListRoutersReply& routers, const v1::LocalPort& port,
                                 const IpAddress& source) {
  for (const v1::RouterInfo& router : routers.routers()) {
    for (const v1::RouterPortInfo& interface : router.ports()) {
      const auto mac = MacAddress::Parse(interface.mac_address());
      if (interface.network_id() != port.network_id() || !mac.ok()) continue;
      for (const std::string& text : interface.addresses()) {
        const auto prefix = IpPrefix::ParseLenient(text);
        if (!prefix.ok() || prefix->address().IsLinkLocal() || !prefix->Contains(source)) continue;
        return Gateway{*mac, *prefix, router.name().empty() ? router.id() : router.name()};
      }
    }
  }
  return std::nullopt;
}

struct NextHop {
  MacAddress mac;
  std::string text;
};

absl::StatusOr<NextHop> OnLink(const v1::LocalPort& port, const IpAddress& destination,
                               const Resolver& resolve) {
  v1::ResolveRequest request;
  request.set_port(port.id());
  request.set_ip_address(destination.ToString());
  const absl::StatusOr<v1::ResolveReply> reply = resolve(request);
  if (absl::IsNotFound(reply.status())) {
    return Error(
        absl::StatusCode::kNotFound,
        "nothing on the port's network {} has {}, and no router of it leads there: the VM would find no MAC to "
        "send to; --dst-mac gives one",
        port.network_name().empty() ? port.network_id() : port.network_name(), destination);
  }
  RETURN_IF_ERROR(reply.status());
  ASSIGN_OR_RETURN(const MacAddress mac, MacAddress::Parse(reply->mac_address()));
  const std::string& name = reply->name().empty() ? reply->id() : reply->name();
  return NextHop{
      mac, fmt::format("{} has {} on the port's network, at {}", reply->kind() + " " + name, destination, mac)};
}

// As the VM's stack decides: on the link, or through the router whose prefix the source is in.
absl::StatusOr<NextHop> FindNextHop(const v1::LocalPort& port, const IpAddress& source,
                                    const IpAddress& destination, const v1::ListRoutersReply& routers,
                                    const Resolver& resolve) {
  if (destination.IsMulticast()) return NextHop{MulticastMac(destination), ""};
  if (destination == IpAddress::V4(0xffffffff)) return NextHop{MacAddress::Broadcast(), ""};
  const std::optional<Gateway> gateway = GatewayOf(routers, port, source);
  if (!gateway || destination.IsLinkLocal() || gateway->prefix.Contains(destination)) {
    return OnLink(port, destination, resolve);
  }
  return NextHop{gateway->mac, fmt::format("{} is not in {}: by way of router {}, at {}", destination,
                                           gateway->prefix, gateway->router, gateway->mac)};
}

absl::StatusOr<NextHop> DestinationMac(const PacketSpec& spec, const v1::LocalPort& port,
                                       const v1::ListRoutersReply& routers, const Resolver& resolve) {
  if (spec.protocol == Protocol::kArp) return NextHop{MacAddress::Broadcast(), ""};
  if (spec.protocol == Protocol::kNd) return NextHop{MulticastMac(SolicitedNode(spec.destination)), ""};
  return FindNextHop(port, spec.source, spec.destination, routers, resolve);
}

absl::StatusOr<PacketSpec> SpecOf(const ProbeOptions& options, const v1::LocalPort& port) {
  PacketSpec spec;
  const auto protocol = ProtocolFromText(options.protocol);
  if (!protocol) return Invalid("--proto '{}' is not icmp, tcp, udp, arp or nd", options.protocol);
  spec.protocol = *protocol;
  ASSIGN_OR_RETURN(const auto destination, OptionalIp("--dst-ip", options.destination_ip));
  if (!destination) return Invalid("--dst-ip is missing: where does the packet go? (or give a whole --frame)");
  spec.destination = *destination;
  ASSIGN_OR_RETURN(const auto source, OptionalIp("--src-ip", options.source_ip));
  if (source) {
    spec.source = *source;
  } else {
    ASSIGN_OR_RETURN(spec.source, SourceOf(port, destination->family()));
  }
  ASSIGN_OR_RETURN(const auto source_mac, OptionalMac("--src-mac", options.source_mac));
  if (source_mac) {
    spec.source_mac = *source_mac;
  } else {
    ASSIGN_OR_RETURN(spec.source_mac, MacAddress::Parse(port.mac_address()));
  }
  spec.source_port = options.source_port;
  spec.destination_port = options.destination_port;
  if (options.ttl > 255) return Invalid("--ttl {} is not 0 to 255", options.ttl);
  spec.ttl = static_cast<uint8_t>(options.ttl);
  spec.payload = options.size;
  return spec;
}

absl::StatusOr<v1::LocalPort> OnlyOne(const std::vector<const v1::LocalPort*>& found, const std::string& text) {
  if (found.size() == 1) return *found.front();
  std::string candidates;
  for (const v1::LocalPort* port : found) candidates += (candidates.empty() ? "" : ", ") + NameOf(*port);
  return Error(absl::StatusCode::kFailedPrecondition, "'{}' names {} local ports: {}; give an id", text,
               found.size(), candidates);
}

}  // namespace

absl::StatusOr<v1::LocalPort> FindLocalPort(const v1::ListPortsReply& ports, const std::string& text) {
  const auto matching = [&](auto matches) {
    std::vector<const v1::LocalPort*> out;
    for (const v1::LocalPort& port : ports.ports()) {
      if (matches(port)) out.push_back(&port);
    }
    return out;
  };
  auto found = matching([&](const v1::LocalPort& port) { return port.id() == text; });
  if (found.empty()) found = matching([&](const v1::LocalPort& port) { return port.name() == text; });
  if (found.empty() && text.size() >= kMinPrefix) {
    found = matching([&](const v1::LocalPort& port) { return port.id().starts_with(text); });
  }
  if (!found.empty()) return OnlyOne(found, text);
  return Error(absl::StatusCode::kNotFound, "this host has no port '{}'; `kasanectl ports` lists those it has",
               text);
}

absl::StatusOr<Probe> PlanProbe(const ProbeOptions& options, const v1::ListPortsReply& ports,
                                const v1::ListRoutersReply& routers, const Resolver& resolve) {
  Probe probe;
  ASSIGN_OR_RETURN(const v1::LocalPort port, FindLocalPort(ports, options.port));
  probe.port_id = port.id();
  if (!options.frame.empty()) {
    ASSIGN_OR_RETURN(probe.frame, FrameFromHex(options.frame));
    return probe;
  }
  ASSIGN_OR_RETURN(PacketSpec spec, SpecOf(options, port));
  ASSIGN_OR_RETURN(const auto destination_mac, OptionalMac("--dst-mac", options.destination_mac));
  if (destination_mac) {
    spec.destination_mac = *destination_mac;
  } else {
    ASSIGN_OR_RETURN(const NextHop next_hop, DestinationMac(spec, port, routers, resolve));
    spec.destination_mac = next_hop.mac;
    probe.text = next_hop.text;
  }
  ASSIGN_OR_RETURN(probe.frame, BuildFrame(spec));
  return probe;
}

}  // namespace kasane::ctl
