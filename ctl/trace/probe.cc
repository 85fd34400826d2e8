#include "ctl/trace/probe.h"

#include <algorithm>
#include <optional>

#include "base/ip_address.h"
#include "base/status.h"
#include "kasane/v1/agent.pb.h"
#include "vswitch/packet/packet_encode.h"
#include "vswitch/packet/packet_syntax.h"
#include "vswitch/packet/packet_text.h"

namespace kasane::ctl {
namespace {

constexpr size_t kMinPrefix = 4;

std::string NameOf(const v1::LocalPort& port) {
  return port.name().empty() ? port.id() : fmt::format("{} ({})", port.name(), port.id());
}

// The port's first address of the family.
absl::StatusOr<IpAddress> SourceOf(const v1::LocalPort& port, IpFamily family) {
  for (const std::string& text : port.ip_addresses()) {
    const auto ip = IpAddress::Parse(text);
    if (ip.ok() && ip->family() == family) return *ip;
  }
  return Invalid("port {} has no {} address to send from; src= gives one", NameOf(port),
                 family == IpFamily::kV4 ? "IPv4" : "IPv6");
}

// A router's interface on the port's network, with the prefix that holds the source.
struct Gateway {
  MacAddress mac;
  IpPrefix prefix;
  std::string router;
};

std::optional<Gateway> GatewayOf(const v1::ListRoutersResponse& routers, const v1::LocalPort& port,
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
  const absl::StatusOr<v1::ResolveResponse> reply = resolve(request);
  if (absl::IsNotFound(reply.status())) {
    return Error(absl::StatusCode::kNotFound,
                 "nothing that is up on the port's network {} has {}, and no router of it leads there: the VM "
                 "would find no MAC to "
                 "send to; eth_dst= gives one",
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
                                    const IpAddress& destination, const v1::ListRoutersResponse& routers,
                                    const Resolver& resolve) {
  if (destination.IsMulticast()) return NextHop{MulticastMac(destination), ""};
  if (destination == IpAddress::V4(0xffffffff)) return NextHop{MacAddress::Broadcast(), ""};
  std::optional<Gateway> gateway = GatewayOf(routers, port, source);
  // With a source that is not its own, the VM's routes are those of its own addresses.
  if (const auto own = SourceOf(port, destination.family()); !gateway && own.ok()) {
    gateway = GatewayOf(routers, port, *own);
  }
  if (!gateway || destination.IsLinkLocal() || gateway->prefix.Contains(destination)) {
    return OnLink(port, destination, resolve);
  }
  return NextHop{gateway->mac, fmt::format("{} is not in {}: by way of router {}, at {}", destination,
                                           gateway->prefix, gateway->router, gateway->mac)};
}

// Fills in what a VM's stack would of one packet. Each step leaves alone what is given.
class Completion {
 public:
  Completion(packet::Layer& layer, const v1::LocalPort& port, const v1::ListRoutersResponse& routers,
             const Resolver& resolve)
      : layer_(layer), port_(port), routers_(routers), resolve_(resolve) {}

  // Where the destination MAC comes from; empty: it was given or follows from the packet.
  absl::StatusOr<std::string> Complete() {
    ASSIGN_OR_RETURN(mac_, MacAddress::Parse(port_.mac_address()));
    SetDefault("eth_src", mac_);
    if (layer_.kind == packet::LayerKind::kEth) return std::string();
    if (layer_.kind == packet::LayerKind::kArp) return CompleteArp();
    return CompleteIp();
  }

 private:
  void SetDefault(std::string_view name, packet::FieldValue value) {
    if (!layer_.Has(name)) layer_.Set(name, std::move(value));
  }
  template <typename T>
  std::optional<T> Get(std::string_view name) const {
    const packet::Field* field = layer_.Find(name);
    if (field == nullptr) return std::nullopt;
    return std::get<T>(field->value);
  }
  bool Is(std::initializer_list<packet::LayerKind> kinds) const {
    return std::find(kinds.begin(), kinds.end(), layer_.kind) != kinds.end();
  }

  absl::StatusOr<std::string> CompleteArp() {
    SetDefault("op", uint64_t{1});
    if (!layer_.Has("spa")) {
      ASSIGN_OR_RETURN(const IpAddress source, SourceOf(port_, IpFamily::kV4));
      layer_.Set("spa", source);
    }
    const auto target = Get<IpAddress>("tpa");
    const bool implied = Get<uint64_t>("op") == uint64_t{1} || layer_.Has("tha");
    if (layer_.Has("eth_dst") || implied || !target) return std::string();
    return SetNextHop(OnLink(port_, *target, resolve_));
  }

  absl::StatusOr<std::string> CompleteIp() {
    // The address that tells the family, and whether it is one of the link's own.
    auto towards = Get<IpAddress>("dst");
    for (const char* name : {"target", "group"}) {
      if (!towards && packet::FindField(layer_.kind, name) != nullptr) towards = Get<IpAddress>(name);
    }
    const bool router_message = Is({packet::LayerKind::kRs, packet::LayerKind::kRa});
    if (!layer_.Has("src") && (towards || router_message) && layer_.kind != packet::LayerKind::kNa) {
      ASSIGN_OR_RETURN(const IpAddress source, Source(towards));
      layer_.Set("src", source);
    }
    if (layer_.kind == packet::LayerKind::kNs && !Get<IpAddress>("src").value_or(IpAddress()).IsUnspecified()) {
      SetDefault("sll", *Get<MacAddress>("eth_src"));
    }
    if (layer_.kind == packet::LayerKind::kNa) SetDefault("tll", *Get<MacAddress>("eth_src"));
    const bool echo = Is({packet::LayerKind::kIcmp, packet::LayerKind::kIcmp6}) && !layer_.Has("type") &&
                      layer_.inner.empty();
    if (echo && !layer_.Has("payload")) SetDefault("size", uint64_t{56});
    const auto destination = Get<IpAddress>("dst");
    if (layer_.Has("eth_dst") || !destination) return std::string();
    return SetNextHop(
        FindNextHop(port_, Get<IpAddress>("src").value_or(*destination), *destination, routers_, resolve_));
  }

  absl::StatusOr<IpAddress> Source(const std::optional<IpAddress>& towards) const {
    const bool link_scope =
        !towards || (towards->is_v6() &&
                     (towards->IsLinkLocal() || (towards->IsMulticast() && (towards->bytes()[1] & 0x0f) == 2)));
    if (link_scope) return IpAddress::LinkLocal(mac_);
    return SourceOf(port_, towards->family());
  }

  absl::StatusOr<std::string> SetNextHop(const absl::StatusOr<NextHop>& next_hop) {
    if (!next_hop.ok()) return next_hop.status();
    layer_.Set("eth_dst", next_hop->mac);
    return next_hop->text;
  }

  packet::Layer& layer_;
  const v1::LocalPort& port_;
  const v1::ListRoutersResponse& routers_;
  const Resolver& resolve_;
  MacAddress mac_;
};

// "10.0.0.2" means an echo request to it.
absl::StatusOr<packet::Layer> LayersOf(std::string_view packet) {
  const auto ip = IpAddress::Parse(packet);
  if (!ip.ok() && packet.find('(') == std::string_view::npos) {
    return Invalid("\"{}\" is neither an address nor a packet such as icmp(dst=10.0.0.5)", packet);
  }
  if (!ip.ok()) return packet::ParseLayers(packet);
  packet::Layer layer{ip->is_v4() ? packet::LayerKind::kIcmp : packet::LayerKind::kIcmp6, 0, {}, {}};
  layer.Set("dst", *ip);
  return layer;
}

// The layer whose MACs are those of the frame.
packet::Layer& Untagged(packet::Layer& layer) {
  return layer.kind == packet::LayerKind::kVlan && !layer.inner.empty() ? Untagged(layer.inner.front()) : layer;
}

absl::StatusOr<v1::LocalPort> OnlyOne(const std::vector<const v1::LocalPort*>& found, const std::string& text) {
  if (found.size() == 1) return *found.front();
  std::string candidates;
  for (const v1::LocalPort* port : found) candidates += (candidates.empty() ? "" : ", ") + NameOf(*port);
  return Error(absl::StatusCode::kFailedPrecondition, "'{}' names {} local ports: {}; give an id", text,
               found.size(), candidates);
}

}  // namespace

absl::StatusOr<v1::LocalPort> FindLocalPort(const v1::ListPortsResponse& ports, const std::string& text) {
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

absl::StatusOr<Probe> PlanProbe(const std::string& port_text, std::string_view packet,
                                const v1::ListPortsResponse& ports, const v1::ListRoutersResponse& routers,
                                const Resolver& resolve) {
  Probe probe;
  ASSIGN_OR_RETURN(const v1::LocalPort port, FindLocalPort(ports, port_text));
  probe.port_id = port.id();
  if (packet::IsHexFrame(packet)) {
    ASSIGN_OR_RETURN(probe.frame, packet::ParsePacketText(packet));
    return probe;
  }
  auto layers = LayersOf(packet);
  if (!layers.ok()) return Annotate(layers.status(), "packet");
  ASSIGN_OR_RETURN(probe.text, Completion(Untagged(*layers), port, routers, resolve).Complete());
  auto frame = EncodeLayers(*layers);
  if (!frame.ok()) return Annotate(frame.status(), "packet");
  probe.frame = *std::move(frame);
  return probe;
}

}  // namespace kasane::ctl
