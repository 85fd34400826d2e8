// The slow path: any frame for any cause, on a small fixed host. What it says in answer is well-formed and goes
// to one place. Input: cause, where it entered, MTU (2 bytes), then the frame.
#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "vswitch/packet/packet.h"
#include "vswitch/sim/view_facts.h"
#include "vswitch/slowpath/reassembly.h"
#include "vswitch/slowpath/slow_path.h"

namespace kasane {
namespace {

constexpr size_t kHeader = 4;

IpAddress Ip(std::string_view text) { return IpAddress::Parse(text).value(); }
MacAddress Mac(uint8_t last) { return MacAddress({0xfa, 0x16, 0x3e, 0, 0, last}); }

vswitch::RouterPort Interface(std::string_view id, const NetworkId& network, uint8_t mac, std::string_view v4,
                              std::string_view v6) {
  return {PortId(std::string(id)),
          network,
          Mac(mac),
          {IpPrefix(Ip(v4), 24), IpPrefix(Ip(v6), 64)},
          IpAddress::LinkLocal(Mac(mac))};
}

// Networks blue and red with a router between them, a port of each here, one of blue on h2.
vswitch::HostView FixedView() {
  const NetworkId blue("blue");
  const NetworkId red("red");
  vswitch::HostView view;
  view.host = HostId("h1");
  view.tunnel_addresses.v4 = Ip("192.0.2.1");
  view.networks.emplace(blue, vswitch::NetworkView{blue, "blue", *Vni::From(7), 1450, true, {HostId("h2")}});
  view.networks.emplace(red, vswitch::NetworkView{red, "red", *Vni::From(8), 1280, true, {}});
  view.hosts[HostId("h2")] = {HostId("h2"), Ip("192.0.2.2"), {Ip("192.0.2.2"), {}}};
  const auto add_port = [&view](const char* id, const NetworkId& network, uint8_t mac, const char* v4,
                                const char* v6) {
    vswitch::LocalPort port;
    port.id = PortId(id);
    port.network = network;
    port.mac = Mac(mac);
    port.ips = {Ip(v4), Ip(v6)};
    port.allowed = {{port.mac, IpPrefix::Host(Ip(v4))}, {port.mac, IpPrefix::Host(Ip(v6))}};
    view.ports[port.id] = port;
  };
  add_port("a", blue, 5, "10.0.0.5", "2001:db8::5");
  add_port("b", red, 6, "10.0.1.6", "2001:db8:1::6");
  vswitch::RemoteEndpoint remote;
  remote.id = PortId("c");
  remote.network = blue;
  remote.host = HostId("h2");
  remote.mac = Mac(7);
  remote.ips = {Ip("10.0.0.7"), Ip("2001:db8::7")};
  view.endpoints[remote.id] = remote;
  vswitch::RouterView router{RouterId("r"), "r", true, {}, {}};
  router.ports = {Interface("r-blue", blue, 1, "10.0.0.1", "2001:db8::1"),
                  Interface("r-red", red, 2, "10.0.1.1", "2001:db8:1::1")};
  for (const vswitch::RouterPort& port : router.ports) {
    for (const IpPrefix& address : port.addresses) {
      router.routes.push_back({address.Network(), vswitch::RouteOrigin::kConnected, {{port.id, std::nullopt}}});
    }
  }
  view.routers[router.id] = router;
  return view;
}

slowpath::SlowPathPacket PacketOf(std::span<const uint8_t> input) {
  slowpath::SlowPathPacket packet;
  packet.cause = static_cast<slowpath::SlowPathCause>(1 + input[0] % 9);
  packet.network = NetworkId((input[1] & 1) != 0 ? "red" : "blue");
  if ((input[1] & 2) != 0) {
    packet.outer_source = Ip("192.0.2.2");
  } else {
    packet.port = PortId((input[1] & 1) != 0 ? "b" : "a");
  }
  // A neighbour's question never comes from a router; what a router gives up always does.
  if (packet.cause > slowpath::SlowPathCause::kAnnouncement) packet.router = RouterId("r");
  packet.mtu = static_cast<uint32_t>(input[2] << 8 | input[3]);
  packet.frame.assign(input.begin() + kHeader, input.end());
  return packet;
}

void CheckInjections(const slowpath::SlowPathOutcome& outcome, size_t most) {
  KASANE_CHECK(outcome.injections.size() <= most);
  for (const slowpath::Injection& injection : outcome.injections) {
    const int places = injection.port.has_value() + injection.router.has_value() + injection.host.has_value();
    KASANE_CHECK(places == 1);
    KASANE_CHECK(injection.host.has_value() == injection.vni.has_value());
    KASANE_CHECK(!packet::Packet(injection.frame).malformed());
  }
}

// Fragments of one input after the other meet each other.
void CheckFragment(const vswitch::HostView& view, const slowpath::SlowPathPacket& part) {
  static slowpath::Reassembly reassembly;
  static slowpath::Reassembly::Time now;
  now += std::chrono::seconds(1);
  reassembly.TakeExpired(now);
  const slowpath::Reassembly::Outcome outcome = reassembly.Add(part, now);
  if (!outcome.whole) return;
  const slowpath::SlowPathOutcome answer = slowpath::HandleSlowPath(sim::ViewFacts(view), *outcome.whole);
  KASANE_CHECK(!answer.is_part);
  CheckInjections(answer, slowpath::Reassembly::kFragments + 1);
}

void Check(std::span<const uint8_t> input) {
  static const vswitch::HostView view = FixedView();
  const slowpath::SlowPathPacket packet = PacketOf(input);
  const slowpath::SlowPathOutcome outcome = slowpath::HandleSlowPath(sim::ViewFacts(view), packet);
  CheckInjections(outcome, 1 + view.ports.size() + view.hosts.size());
  if (outcome.is_part) CheckFragment(view, packet);
}

}  // namespace
}  // namespace kasane

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size >= kasane::kHeader) kasane::Check({data, size});
  return 0;
}
