#include "vswitch/sim/sim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "vswitch/packet/packet.h"

namespace kasane::sim {
namespace {

IpAddress Ip(const std::string& text) { return *IpAddress::Parse(text); }
MacAddress Mac(const std::string& text) { return *MacAddress::Parse(text); }

const MacAddress kVm1 = Mac("fa:16:3e:00:00:01");
const MacAddress kVm2 = Mac("fa:16:3e:00:00:02");
const MacAddress kRemote = Mac("fa:16:3e:00:00:03");
const MacAddress kBack = Mac("fa:16:3e:00:00:04");
const MacAddress kRouterFront = Mac("fa:16:3e:00:01:01");
const MacAddress kRouterBack = Mac("fa:16:3e:00:01:02");

// Networks front (VNI 100: vm1 and vm2 here, remote on h2) and back (VNI 200: back on h2), one router.
vswitch::HostView TwoNetworks() {
  vswitch::HostView view;
  view.host = HostId("h1");
  view.networks.emplace(
      NetworkId("front"),
      vswitch::NetworkView{NetworkId("front"), "front", *Vni::From(100), 1450, true, {HostId("h2")}});
  view.networks.emplace(
      NetworkId("back"),
      vswitch::NetworkView{NetworkId("back"), "back", *Vni::From(200), 1450, true, {HostId("h2")}});
  const auto local = [&](const char* id, const MacAddress& mac, const char* v4, const char* v6) {
    view.ports.emplace(PortId(id), vswitch::LocalPort{PortId(id),
                                                      id,
                                                      NetworkId("front"),
                                                      mac,
                                                      {Ip(v4), Ip(v6)},
                                                      true,
                                                      true,
                                                      {{mac, IpPrefix::Host(Ip(v4))},
                                                       {mac, IpPrefix::Host(Ip(v6))},
                                                       {mac, IpPrefix::Host(IpAddress::LinkLocal(mac))}}});
  };
  local("vm1", kVm1, "10.0.0.1", "2001:db8::1");
  local("vm2", kVm2, "10.0.0.2", "2001:db8::2");
  view.endpoints.emplace(
      PortId("remote"),
      vswitch::RemoteEndpoint{
          PortId("remote"), "remote", NetworkId("front"), HostId("h2"), kRemote, {Ip("10.0.0.3")}, true});
  view.endpoints.emplace(PortId("back"), vswitch::RemoteEndpoint{PortId("back"),
                                                                 "back",
                                                                 NetworkId("back"),
                                                                 HostId("h2"),
                                                                 kBack,
                                                                 {Ip("10.0.1.4"), Ip("2001:db8:1::4")},
                                                                 true});
  view.hosts.emplace(HostId("h2"),
                     vswitch::RemoteHost{HostId("h2"), Ip("192.0.2.2"), {Ip("192.0.2.2"), std::nullopt}});
  vswitch::RouterView router{RouterId("r"), "r", true, {}, {}};
  router.ports.push_back({PortId("r-back"),
                          NetworkId("back"),
                          kRouterBack,
                          {IpPrefix(Ip("10.0.1.254"), 24), IpPrefix(Ip("2001:db8:1::"), 64)},
                          IpAddress::LinkLocal(kRouterBack)});
  router.ports.push_back({PortId("r-front"),
                          NetworkId("front"),
                          kRouterFront,
                          {IpPrefix(Ip("10.0.0.254"), 24), IpPrefix(Ip("2001:db8::"), 64)},
                          IpAddress::LinkLocal(kRouterFront)});
  const auto route = [&](const char* prefix, vswitch::RouteOrigin origin, const char* port,
                         std::optional<IpAddress> via) {
    router.routes.push_back({*IpPrefix::Parse(prefix), origin, {{PortId(port), via}}});
  };
  route("10.0.0.0/24", vswitch::RouteOrigin::kConnected, "r-front", std::nullopt);
  route("10.0.1.0/24", vswitch::RouteOrigin::kConnected, "r-back", std::nullopt);
  route("192.0.2.0/24", vswitch::RouteOrigin::kExtra, "r-front", Ip("10.0.0.2"));
  route("192.0.2.128/25", vswitch::RouteOrigin::kExtra, "r-back", Ip("10.0.1.4"));
  route("2001:db8::/64", vswitch::RouteOrigin::kConnected, "r-front", std::nullopt);
  route("2001:db8:1::/64", vswitch::RouteOrigin::kConnected, "r-back", std::nullopt);
  view.routers.emplace(router.id, router);
  return view;
}

void Append(Frame& frame, const MacAddress& mac) {
  frame.insert(frame.end(), mac.bytes().begin(), mac.bytes().end());
}
void Append(Frame& frame, const IpAddress& ip) {
  frame.insert(frame.end(), ip.bytes().begin(), ip.bytes().end());
}
void Append(Frame& frame, std::initializer_list<uint8_t> bytes) { frame.insert(frame.end(), bytes); }

uint16_t Sum(std::span<const uint8_t> bytes, uint32_t sum = 0) {
  for (size_t i = 0; i + 1 < bytes.size(); i += 2) sum += static_cast<uint32_t>(bytes[i] << 8 | bytes[i + 1]);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(sum);
}

// The ICMPv6 checksum with its pseudo header; 0xffff when it is right.
uint16_t Icmpv6Sum(const Frame& frame) {
  const uint32_t length = static_cast<uint32_t>(frame.size()) - 54;
  return Sum(std::span(frame).subspan(54), Sum(std::span(frame).subspan(22, 32), length + 58));
}

Frame Echo4(const MacAddress& dst, const MacAddress& src, const std::string& from, const std::string& to,
            uint8_t ttl = 64) {
  Frame frame;
  Append(frame, dst);
  Append(frame, src);
  Append(frame, {0x08, 0x00, 0x45, 0, 0, 28, 0, 1, 0, 0, ttl, 1, 0, 0});
  Append(frame, Ip(from));
  Append(frame, Ip(to));
  const auto header = static_cast<uint16_t>(~Sum(std::span(frame).subspan(14, 20)));
  frame[24] = static_cast<uint8_t>(header >> 8);
  frame[25] = static_cast<uint8_t>(header);
  Append(frame, {8, 0, 0xf7, 0xfd, 0, 1, 0, 1});
  return frame;
}

// An ICMPv6 message with a right checksum.
Frame Icmp6(const MacAddress& dst, const MacAddress& src, const std::string& from, const std::string& to,
            const Frame& message, uint8_t hops = 64) {
  Frame frame;
  Append(frame, dst);
  Append(frame, src);
  Append(frame, {0x86, 0xdd, 0x60, 0, 0, 0, 0, static_cast<uint8_t>(message.size()), 58, hops});
  Append(frame, Ip(from));
  Append(frame, Ip(to));
  frame.insert(frame.end(), message.begin(), message.end());
  const auto sum = static_cast<uint16_t>(~Icmpv6Sum(frame));
  frame[56] = static_cast<uint8_t>(sum >> 8);
  frame[57] = static_cast<uint8_t>(sum);
  return frame;
}

Frame Solicit(const std::string& from, const std::string& target) {
  Frame message = {135, 0, 0, 0, 0, 0, 0, 0};
  Append(message, Ip(target));
  Append(message, {1, 1});
  Append(message, kVm1);
  const IpAddress group = SolicitedNode(Ip(target));
  return Icmp6(MulticastMac(group), kVm1, from, group.ToString(), message, 255);
}

Frame Arp(const MacAddress& src, const std::string& spa, const std::string& tpa) {
  Frame frame;
  Append(frame, MacAddress::Broadcast());
  Append(frame, src);
  Append(frame, {0x08, 0x06, 0, 1, 0x08, 0, 6, 4, 0, 1});
  Append(frame, src);
  Append(frame, Ip(spa));
  Append(frame, MacAddress());
  Append(frame, Ip(tpa));
  return frame;
}

Result Send(const vswitch::HostView& view, const Frame& frame) { return FromPort(view, PortId("vm1"), frame); }

TEST(SimTest, BridgesToALocalPortUnchanged) {
  const Frame frame = Echo4(kVm2, kVm1, "10.0.0.1", "10.0.0.2");
  const Result result = Send(TwoNetworks(), frame);
  ASSERT_EQ(result.deliveries.size(), 1U);
  EXPECT_EQ(result.deliveries[0].port, PortId("vm2"));
  EXPECT_EQ(result.deliveries[0].frame, frame);
}

TEST(SimTest, BridgesThroughTheTunnelWithTheNetworksVni) {
  const Result result = Send(TwoNetworks(), Echo4(kRemote, kVm1, "10.0.0.1", "10.0.0.3"));
  ASSERT_EQ(result.deliveries.size(), 1U);
  EXPECT_EQ(result.deliveries[0].vtep, Ip("192.0.2.2"));
  EXPECT_EQ(result.deliveries[0].vni, *Vni::From(100));
}

TEST(SimTest, RoutesAtTheSenderIntoTheDestinationsNetwork) {
  const Result result = Send(TwoNetworks(), Echo4(kRouterFront, kVm1, "10.0.0.1", "10.0.1.4"));
  ASSERT_EQ(result.deliveries.size(), 1U);
  EXPECT_EQ(result.deliveries[0].vni, *Vni::From(200));
  const packet::Packet out(result.deliveries[0].frame);
  EXPECT_EQ(out.eth_src(), kRouterBack);
  EXPECT_EQ(out.eth_dst(), kBack);
  EXPECT_EQ(out.ttl(), 63);
  EXPECT_EQ(Sum(std::span(out.frame()).subspan(14, 20)), 0xffff)
      << "the IPv4 header checksum must follow the TTL";
}

TEST(SimTest, ARoutedPacketMayLeaveByThePortItEntered) {
  const Result result = Send(TwoNetworks(), Echo4(kRouterFront, kVm1, "10.0.0.1", "10.0.0.1"));
  ASSERT_EQ(result.deliveries.size(), 1U);
  EXPECT_EQ(result.deliveries[0].port, PortId("vm1"));
}

TEST(SimTest, LongestPrefixOfTheExtraRoutes) {
  const Result via_vm2 = Send(TwoNetworks(), Echo4(kRouterFront, kVm1, "10.0.0.1", "192.0.2.1"));
  ASSERT_EQ(via_vm2.deliveries.size(), 1U);
  EXPECT_EQ(via_vm2.deliveries[0].port, PortId("vm2"));
  const Result via_back = Send(TwoNetworks(), Echo4(kRouterFront, kVm1, "10.0.0.1", "192.0.2.200"));
  ASSERT_EQ(via_back.deliveries.size(), 1U);
  EXPECT_EQ(via_back.deliveries[0].vni, *Vni::From(200));
}

TEST(SimTest, AnswersArpForEveryoneButTheAsker) {
  for (const auto& [ip, mac] : std::map<std::string, MacAddress>{
           {"10.0.0.2", kVm2}, {"10.0.0.3", kRemote}, {"10.0.0.254", kRouterFront}}) {
    const Result result = Send(TwoNetworks(), Arp(kVm1, "10.0.0.1", ip));
    ASSERT_EQ(result.deliveries.size(), 1U) << ip;
    EXPECT_EQ(result.deliveries[0].port, PortId("vm1"));
    const packet::Packet reply(result.deliveries[0].frame);
    EXPECT_EQ(reply.arp_op(), 2);
    EXPECT_EQ(reply.eth_src(), mac);
    EXPECT_EQ(reply.eth_dst(), kVm1);
    EXPECT_EQ(reply.arp_spa(), Ip(ip));
    EXPECT_EQ(reply.arp_tpa(), Ip("10.0.0.1"));
  }
}

TEST(SimTest, AnAnnouncementOfTheOwnAddressGoesToEveryoneElse) {
  const Result result = Send(TwoNetworks(), Arp(kVm1, "10.0.0.1", "10.0.0.1"));
  ASSERT_EQ(result.deliveries.size(), 2U);
  EXPECT_EQ(result.deliveries[0].host, HostId("h2"));
  EXPECT_EQ(result.deliveries[1].port, PortId("vm2"));
}

TEST(SimTest, AnswersNeighbourSolicitations) {
  struct Row {
    const char* target;
    MacAddress mac;
    uint8_t flags;
  };
  const std::string router_link_local = IpAddress::LinkLocal(kRouterFront).ToString();
  const Row rows[] = {{"2001:db8::2", kVm2, 0x60},
                      {router_link_local.c_str(), kRouterFront, 0xe0},
                      {"2001:db8::", kRouterFront, 0xc0}};  // Subnet-router anycast: no Override.
  for (const Row& row : rows) {
    const Result result = Send(TwoNetworks(), Solicit("2001:db8::1", row.target));
    ASSERT_EQ(result.deliveries.size(), 1U) << row.target;
    const Frame& reply = result.deliveries[0].frame;
    EXPECT_EQ(result.deliveries[0].port, PortId("vm1"));
    EXPECT_EQ(reply[54], 136);
    EXPECT_EQ(reply[58], row.flags) << row.target;
    EXPECT_EQ(reply[78], 2) << "target link-layer option";
    EXPECT_EQ(packet::Packet(reply).eth_src(), row.mac);
    EXPECT_EQ(packet::Packet(reply).ip_src(), Ip(row.target));
    EXPECT_EQ(packet::Packet(reply).ip_dst(), Ip("2001:db8::1"));
    EXPECT_EQ(Icmpv6Sum(reply), 0xffff);
  }
}

TEST(SimTest, TheRouterAnswersPings) {
  const Result v4 = Send(TwoNetworks(), Echo4(kRouterFront, kVm1, "10.0.0.1", "10.0.1.254", 1));
  ASSERT_EQ(v4.deliveries.size(), 1U);
  EXPECT_EQ(v4.deliveries[0].port, PortId("vm1"));
  EXPECT_EQ(packet::Packet(v4.deliveries[0].frame).icmp_type(), 0);
  EXPECT_EQ(packet::Packet(v4.deliveries[0].frame).ip_src(), Ip("10.0.1.254"));
  EXPECT_EQ(Sum(std::span(v4.deliveries[0].frame).subspan(34)), 0xffff);

  const Result v6 =
      Send(TwoNetworks(), Icmp6(kRouterFront, kVm1, "2001:db8::1", "2001:db8::", {128, 0, 0, 0, 0, 7, 0, 1}));
  ASSERT_EQ(v6.deliveries.size(), 1U);
  EXPECT_EQ(packet::Packet(v6.deliveries[0].frame).icmp_type(), 129);
  EXPECT_EQ(Icmpv6Sum(v6.deliveries[0].frame), 0xffff);
}

TEST(SimTest, DropsWithAReason) {
  const auto changed = [](Frame frame, std::initializer_list<std::pair<size_t, uint8_t>> bytes) {
    for (const auto& [at, value] : bytes) frame[at] = value;
    return frame;
  };
  const Frame routed = Echo4(kRouterFront, kVm1, "10.0.0.1", "10.0.1.4");
  struct Row {
    Frame frame;
    vswitch::DropReason reason;
  };
  const Row rows[] = {
      {Echo4(Mac("fa:16:3e:00:00:99"), kVm1, "10.0.0.1", "10.0.0.9"), vswitch::DropReason::kUnknownMac},
      {changed(routed, {{12, 0x81}, {13, 0x00}}), vswitch::DropReason::kVlanTagged},
      {Echo4(Mac("01:80:c2:00:00:0e"), kVm1, "10.0.0.1", "10.0.0.9"), vswitch::DropReason::kReservedMulticast},
      {Echo4(kVm2, Mac("01:00:5e:00:00:01"), "10.0.0.1", "10.0.0.2"), vswitch::DropReason::kMulticastSource},
      {Echo4(kRouterFront, kVm1, "10.0.0.1", "198.51.100.1"), vswitch::DropReason::kNoRoute},
      {Echo4(kRouterFront, kVm1, "10.0.0.1", "10.0.1.77"), vswitch::DropReason::kNoNeighbour},
      {Echo4(kRouterFront, kVm1, "10.0.0.1", "10.0.1.4", 1), vswitch::DropReason::kTtlExceeded},
      {Echo4(kRouterFront, kVm1, "10.0.0.1", "224.0.0.5"), vswitch::DropReason::kRouterMulticast},
      {changed(Echo4(kRouterFront, kVm1, "10.0.0.1", "10.0.0.254"), {{34, 13}}),
       vswitch::DropReason::kRouterLocal},
      {changed(routed, {{14, 0x44}}), vswitch::DropReason::kMalformed},
      {Frame{1, 2, 3}, vswitch::DropReason::kMalformed},
  };
  for (const Row& row : rows) {
    const Result result = Send(TwoNetworks(), row.frame);
    EXPECT_EQ(result.drop, row.reason) << Label(row.reason);
    for (const Delivery& delivery : result.deliveries) {
      EXPECT_EQ(delivery.port, PortId("vm1")) << "an ICMP error, to the sender alone";
      EXPECT_EQ(packet::Packet(delivery.frame).ip_dst(), Ip("10.0.0.1"));
    }
  }
}

// Port security: each row is a frame from vm1 and what becomes of it.
TEST(SimTest, PortSecurityJudgesInsideAndOutside) {
  const auto udp4 = [](const std::string& from, const std::string& to, uint8_t sport, uint8_t dport) {
    Frame frame = Echo4(MacAddress::Broadcast(), kVm1, from, to);
    frame[23] = 17;
    frame.resize(34);
    Append(frame, {0, sport, 0, dport, 0, 8, 0, 0});
    return frame;
  };
  const auto arp_with_sender = [](const MacAddress& sha) {
    Frame frame = Arp(kVm1, "10.0.0.1", "10.0.0.9");
    std::copy(sha.bytes().begin(), sha.bytes().end(), frame.begin() + 22);
    return frame;
  };
  const auto advertise = [](const std::string& target, const MacAddress& tll) {
    Frame message = {136, 0, 0, 0, 0x20, 0, 0, 0};
    Append(message, Ip(target));
    Append(message, {2, 1});
    Append(message, tll);
    return Icmp6(Mac("33:33:00:00:00:01"), kVm1, "2001:db8::1", "ff02::1", message, 255);
  };
  struct Row {
    const char* what;
    Frame frame;
    std::optional<vswitch::DropReason> drop;
  };
  const Row rows[] = {
      {"another MAC", Echo4(kVm2, kRemote, "10.0.0.1", "10.0.0.2"), vswitch::DropReason::kSpoofedMac},
      {"another address", Echo4(kVm2, kVm1, "10.0.0.3", "10.0.0.2"), vswitch::DropReason::kSpoofedIp},
      {"an allowed prefix", Echo4(kVm2, kVm1, "192.0.2.77", "10.0.0.2"), std::nullopt},
      {"ARP for another", Arp(kVm1, "10.0.0.3", "10.0.0.2"), vswitch::DropReason::kSpoofedArp},
      {"ARP with another MAC inside", arp_with_sender(kVm2), vswitch::DropReason::kSpoofedArp},
      {"ARP probe", Arp(kVm1, "0.0.0.0", "10.0.0.9"), std::nullopt},
      {"DHCP request", udp4("0.0.0.0", "255.255.255.255", 68, 67), std::nullopt},
      {"UDP from nowhere", udp4("0.0.0.0", "255.255.255.255", 68, 69), vswitch::DropReason::kSpoofedIp},
      {"an answer by another port", udp4("10.0.0.1", "10.0.0.2", 70, 68), vswitch::DropReason::kDhcpServer},
      {"DHCP server", udp4("10.0.0.1", "255.255.255.255", 67, 68), vswitch::DropReason::kDhcpServer},
      {"own advertisement", advertise("2001:db8::1", kVm1), std::nullopt},
      {"another's address", advertise("2001:db8::2", kVm1), vswitch::DropReason::kSpoofedNd},
      {"another's MAC", advertise("2001:db8::1", kVm2), vswitch::DropReason::kSpoofedNd},
      {"router advertisement",
       Icmp6(Mac("33:33:00:00:00:01"), kVm1, "fe80::f816:3eff:fe00:1", "ff02::1", {134, 0, 0, 0, 0, 0, 0, 0},
             255),
       vswitch::DropReason::kRouterAdvertisement},
      {"neither IP nor ARP",
       [] {
         Frame frame = Echo4(kVm2, kVm1, "10.0.0.1", "10.0.0.2");
         frame[12] = 0x88;
         frame[13] = 0xcc;
         return frame;
       }(),
       vswitch::DropReason::kNotIp},
  };
  vswitch::HostView view = TwoNetworks();
  view.ports.at(PortId("vm1")).allowed.push_back({kVm1, *IpPrefix::Parse("192.0.2.0/24")});
  for (const Row& row : rows) EXPECT_EQ(Send(view, row.frame).drop, row.drop) << row.what;
  view.ports.at(PortId("vm1")).port_security_enabled = false;
  EXPECT_EQ(Send(view, rows[1].frame).drop, std::nullopt) << "port security off";
}

TEST(SimTest, TwoRoutersThatPointAtEachOtherLoopEightTimes) {
  vswitch::HostView view = TwoNetworks();
  // r sends 198.51.100.0/24 to s, and s back to r, over network back.
  vswitch::RouterView& r = view.routers.at(RouterId("r"));
  r.routes.push_back({*IpPrefix::Parse("198.51.100.0/24"),
                      vswitch::RouteOrigin::kExtra,
                      {{PortId("r-back"), Ip("10.0.1.253")}}});
  vswitch::RouterView s{RouterId("s"), "s", true, {}, {}};
  s.ports.push_back({PortId("s-back"),
                     NetworkId("back"),
                     Mac("fa:16:3e:00:01:03"),
                     {IpPrefix(Ip("10.0.1.253"), 24)},
                     IpAddress::LinkLocal(Mac("fa:16:3e:00:01:03"))});
  s.routes.push_back({*IpPrefix::Parse("198.51.100.0/24"),
                      vswitch::RouteOrigin::kExtra,
                      {{PortId("s-back"), Ip("10.0.1.254")}}});
  view.routers.emplace(s.id, s);
  const Result result = Send(view, Echo4(kRouterFront, kVm1, "10.0.0.1", "198.51.100.1"));
  EXPECT_EQ(result.drop, vswitch::DropReason::kRouterLoop);
}

TEST(SimTest, AdministrativelyDown) {
  vswitch::HostView view = TwoNetworks();
  view.routers.at(RouterId("r")).admin_state_up = false;
  EXPECT_EQ(Send(view, Echo4(kRouterFront, kVm1, "10.0.0.1", "10.0.1.4")).drop,
            vswitch::DropReason::kAdminDown);
  view.ports.at(PortId("vm1")).admin_state_up = false;
  EXPECT_EQ(Send(view, Echo4(kVm2, kVm1, "10.0.0.1", "10.0.0.2")).drop, vswitch::DropReason::kAdminDown);
}

TEST(SimTest, FromATunnel) {
  const vswitch::HostView view = TwoNetworks();
  const Frame to_vm2 = Echo4(kVm2, kRemote, "10.0.0.3", "10.0.0.2");
  const Result result = FromTunnel(view, Ip("192.0.2.2"), 100, to_vm2);
  ASSERT_EQ(result.deliveries.size(), 1U);
  EXPECT_EQ(result.deliveries[0].port, PortId("vm2"));

  EXPECT_EQ(FromTunnel(view, Ip("192.0.2.9"), 100, to_vm2).drop, vswitch::DropReason::kUnknownVtep);
  EXPECT_EQ(FromTunnel(view, Ip("192.0.2.2"), 999, to_vm2).drop, vswitch::DropReason::kUnknownVni);
  EXPECT_EQ(FromTunnel(view, Ip("192.0.2.2"), 200, to_vm2).drop, vswitch::DropReason::kNotLocal)
      << "another network";
  const Frame to_router = Echo4(kRouterFront, kRemote, "10.0.0.3", "10.0.1.4");
  EXPECT_EQ(FromTunnel(view, Ip("192.0.2.2"), 100, to_router).drop, vswitch::DropReason::kNotLocal);
  const Frame to_peer = Echo4(kRemote, kVm1, "10.0.0.1", "10.0.0.3");
  EXPECT_EQ(FromTunnel(view, Ip("192.0.2.2"), 100, to_peer).drop, vswitch::DropReason::kNotLocal)
      << "never back into a tunnel";
}

TEST(SimTest, BroadcastFromATunnelStaysLocal) {
  const Result result = FromTunnel(TwoNetworks(), Ip("192.0.2.2"), 100, Arp(kRemote, "10.0.0.3", "10.0.0.9"));
  ASSERT_EQ(result.deliveries.size(), 2U);
  EXPECT_EQ(result.deliveries[0].port, PortId("vm1"));
  EXPECT_EQ(result.deliveries[1].port, PortId("vm2"));
}

}  // namespace
}  // namespace kasane::sim
