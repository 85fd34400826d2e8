// Who speaks for an address: claims, announcements, and MACs behind ports with port security off.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "vswitch/claims.h"
#include "vswitch/packet/announcement.h"
#include "vswitch/sim/sim.h"

namespace kasane::sim {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

IpAddress Ip(const std::string& text) { return *IpAddress::Parse(text); }
MacAddress Mac(int n) { return MacAddress({0xfa, 0x16, 0x3e, 0, 0, static_cast<uint8_t>(n)}); }

const NetworkId kNet("net");
const IpAddress kVip = Ip("10.0.0.100");
const MacAddress kVirtual = MacAddress({0, 0, 0x5e, 0, 1, 7});

void Append(Frame& frame, const MacAddress& mac) {
  frame.insert(frame.end(), mac.bytes().begin(), mac.bytes().end());
}
void Append(Frame& frame, const IpAddress& ip) {
  frame.insert(frame.end(), ip.bytes().begin(), ip.bytes().end());
}

Frame Arp(uint8_t op, const MacAddress& sha, const IpAddress& spa, const IpAddress& tpa,
          const MacAddress& dst = MacAddress::Broadcast()) {
  Frame frame;
  Append(frame, dst);
  Append(frame, sha);
  for (const int byte : {8, 6, 0, 1, 8, 0, 6, 4, 0}) frame.push_back(static_cast<uint8_t>(byte));
  frame.push_back(op);
  Append(frame, sha);
  Append(frame, spa);
  Append(frame, MacAddress());
  Append(frame, tpa);
  return frame;
}

Frame To(const MacAddress& dst, const MacAddress& src) {
  Frame frame;
  Append(frame, dst);
  Append(frame, src);
  for (const int byte : {0x12, 0x34, 1, 2, 3}) frame.push_back(static_cast<uint8_t>(byte));
  return frame;
}

// Ports a and c here, b on h2, all on one network; h3 only routes into it. a and b share the VIP, with their
// own MACs and with a virtual one.
class ClaimsTest : public ::testing::Test {
 protected:
  ClaimsTest() {
    view_.host = HostId("h1");
    view_.networks.emplace(
        kNet, vswitch::NetworkView{kNet, "net", *Vni::From(7), 1450, true, {HostId("h2")}, {HostId("h3")}});
    AddLocal("a", 1, true);
    AddLocal("c", 3, false);
    view_.endpoints.emplace(
        PortId("b"),
        vswitch::RemoteEndpoint{
            PortId("b"), "b", kNet, HostId("h2"), Mac(2), {Ip("10.0.0.2")}, true, Allowed(2, true)});
    for (const char* n : {"2", "3"}) {
      const IpAddress vtep = Ip(std::string("192.0.2.") + n);
      view_.hosts.emplace(HostId(std::string("h") + n),
                          vswitch::RemoteHost{HostId(std::string("h") + n), vtep, {vtep, std::nullopt}});
    }
  }

  static std::vector<vswitch::AllowedAddress> Allowed(int n, bool vip) {
    std::vector<vswitch::AllowedAddress> allowed = {
        {Mac(n), IpPrefix::Host(Ip("10.0.0." + std::to_string(n)))}};
    if (vip) {
      allowed.push_back({Mac(n), IpPrefix::Host(kVip)});
      allowed.push_back({kVirtual, IpPrefix::Host(kVip)});
    }
    return allowed;
  }
  void AddLocal(const char* id, int n, bool vip) {
    view_.ports.emplace(
        PortId(id),
        vswitch::LocalPort{
            PortId(id), id, kNet, Mac(n), {Ip("10.0.0." + std::to_string(n))}, true, true, Allowed(n, vip)});
  }
  void Claim(const char* port, const MacAddress& mac, uint64_t sequence = 1) {
    view_.claims[{kNet, kVip}] = {mac, PortId(port), sequence};
  }
  // "a", "h2": where the copies go.
  static std::vector<std::string> Places(const Result& result) {
    std::vector<std::string> places;
    for (const Delivery& delivery : result.deliveries) {
      places.push_back(delivery.port ? delivery.port->str() : delivery.host->str());
    }
    return places;
  }

  vswitch::HostView view_;
};

TEST_F(ClaimsTest, AnswersGiveTheClaimersMacButNotToTheClaimer) {
  Claim("b", kVirtual);
  const Result asked = FromPort(view_, PortId("c"), Arp(1, Mac(3), Ip("10.0.0.3"), kVip));
  ASSERT_EQ(Places(asked), std::vector<std::string>{"c"});
  EXPECT_EQ(packet::Packet(asked.deliveries[0].frame).arp_sha(), kVirtual);
  Claim("c", Mac(3));
  const Result own = FromPort(view_, PortId("c"), Arp(1, Mac(3), Ip("10.0.0.3"), kVip));
  EXPECT_THAT(Places(own), UnorderedElementsAre("a", "h2"));
}

TEST_F(ClaimsTest, AGratuitousRequestIsHeardByAllAndNeverAnswered) {
  Claim("b", Mac(2));
  const Result result = FromPort(view_, PortId("a"), Arp(1, Mac(1), kVip, kVip));
  EXPECT_THAT(Places(result), UnorderedElementsAre("c", "h2", "h3")) << "h3 only routes into the network";
  const Result question = FromPort(view_, PortId("a"), Arp(1, Mac(1), Ip("10.0.0.1"), Ip("10.0.0.77")));
  EXPECT_THAT(Places(question), UnorderedElementsAre("c", "h2"));
}

TEST_F(ClaimsTest, AVirtualMacLeadsToTheClaimer) {
  EXPECT_EQ(FromPort(view_, PortId("c"), To(kVirtual, Mac(3))).drop, vswitch::DropReason::kNotIp);
  view_.ports.at(PortId("c")).port_security_enabled = false;
  Claim("b", kVirtual);
  EXPECT_EQ(Places(FromPort(view_, PortId("c"), To(kVirtual, Mac(3)))), std::vector<std::string>{"h2"});
  Claim("a", kVirtual, 2);
  EXPECT_EQ(Places(FromPort(view_, PortId("c"), To(kVirtual, Mac(3)))), std::vector<std::string>{"a"});
  EXPECT_EQ(Places(FromTunnel(view_, Ip("192.0.2.2"), 7, To(kVirtual, Mac(2)))), std::vector<std::string>{"a"});
}

TEST_F(ClaimsTest, WhoMayClaim) {
  const vswitch::ClaimKey vip(kNet, kVip);
  const vswitch::ClaimKey fixed(kNet, Ip("10.0.0.3"));
  EXPECT_TRUE(MayClaim(view_, vip, Mac(1), PortId("a")));
  EXPECT_TRUE(MayClaim(view_, vip, kVirtual, PortId("b")));
  EXPECT_FALSE(MayClaim(view_, vip, Mac(3), PortId("c"))) << "not allowed";
  EXPECT_FALSE(MayClaim(view_, vip, Mac(2), PortId("a"))) << "not with another's MAC";
  EXPECT_FALSE(MayClaim(view_, fixed, Mac(1), PortId("a")));
  EXPECT_TRUE(MayClaim(view_, fixed, Mac(3), PortId("c"))) << "the owner claims back";

  vswitch::LocalPort& open = view_.ports.at(PortId("a"));
  open.port_security_enabled = false;
  EXPECT_FALSE(MayClaim(view_, fixed, Mac(1), PortId("a"))) << "loses to a fixed IP";
  EXPECT_FALSE(MayClaim(view_, {kNet, Ip("10.0.0.9")}, Mac(3), PortId("a"))) << "c's MAC";
  EXPECT_TRUE(MayClaim(view_, {kNet, Ip("10.0.0.9")}, Mac(99), PortId("a")));
  open.admin_state_up = false;
  EXPECT_FALSE(MayClaim(view_, {kNet, Ip("10.0.0.9")}, Mac(99), PortId("a")));
}

TEST_F(ClaimsTest, NobodyClaimsWhatIsTheRouters) {
  const MacAddress mac = Mac(50);
  view_.routers.emplace(
      RouterId("r"),
      vswitch::RouterView{
          RouterId("r"),
          "r",
          true,
          {{PortId("i"), kNet, mac, {IpPrefix(Ip("10.0.0.254"), 24)}, IpAddress::LinkLocal(mac)}},
          {}});
  view_.ports.at(PortId("a")).allowed.push_back({Mac(1), *IpPrefix::Parse("10.0.0.0/24")});
  EXPECT_TRUE(MayClaim(view_, {kNet, Ip("10.0.0.253")}, Mac(1), PortId("a")));
  EXPECT_FALSE(MayClaim(view_, {kNet, Ip("10.0.0.254")}, Mac(1), PortId("a")));
}

TEST_F(ClaimsTest, UnknownUnicastReachesOnlyPortsWithoutSecurity) {
  const Frame unknown = To(Mac(77), Mac(3));
  view_.ports.at(PortId("c")).port_security_enabled = false;
  EXPECT_THAT(Places(FromPort(view_, PortId("c"), unknown)), IsEmpty()) << "nobody but the sender";
  EXPECT_EQ(FromPort(view_, PortId("c"), unknown).drop, std::nullopt);
  view_.endpoints.at(PortId("b")).port_security_enabled = false;
  EXPECT_EQ(Places(FromPort(view_, PortId("c"), unknown)), std::vector<std::string>{"h2"});
  EXPECT_EQ(Places(FromTunnel(view_, Ip("192.0.2.2"), 7, To(Mac(77), Mac(2)))), std::vector<std::string>{"c"});
  view_.ports.at(PortId("c")).port_security_enabled = true;
  EXPECT_EQ(FromTunnel(view_, Ip("192.0.2.2"), 7, To(Mac(77), Mac(2))).drop, vswitch::DropReason::kNotLocal);
}

TEST_F(ClaimsTest, LearnsBehindPortsWithoutSecurityAlone) {
  EXPECT_EQ(FromPort(view_, PortId("a"), Arp(1, Mac(1), Ip("10.0.0.1"), kVip)).learned, std::nullopt);
  EXPECT_EQ(FromTunnel(view_, Ip("192.0.2.2"), 7, To(Mac(1), Mac(66))).learned, std::nullopt);
  view_.ports.at(PortId("a")).port_security_enabled = false;
  view_.ports.at(PortId("c")).port_security_enabled = false;
  view_.endpoints.at(PortId("b")).port_security_enabled = false;
  LearnedMacs learned;
  learned.insert(*FromPort(view_, PortId("a"), To(Mac(3), Mac(77))).learned);
  learned.insert(*FromTunnel(view_, Ip("192.0.2.2"), 7, To(Mac(1), Mac(66))).learned);
  EXPECT_EQ(Places(FromPort(view_, PortId("c"), To(Mac(77), Mac(3)), learned)), std::vector<std::string>{"a"});
  EXPECT_EQ(Places(FromPort(view_, PortId("c"), To(Mac(66), Mac(3)), learned)), std::vector<std::string>{"h2"});
  EXPECT_EQ(Places(FromTunnel(view_, Ip("192.0.2.2"), 7, To(Mac(77), Mac(2)), learned)),
            std::vector<std::string>{"a"});
  EXPECT_THAT(Places(FromTunnel(view_, Ip("192.0.2.2"), 7, To(Mac(66), Mac(2)), learned)),
              UnorderedElementsAre("a", "c"))
      << "never back into a tunnel";

  // What is configured is never overridden, and a place that has security now says nothing.
  learned[{kNet, Mac(3)}] = {PortId("a"), std::nullopt};
  EXPECT_EQ(Places(FromPort(view_, PortId("a"), To(Mac(3), Mac(1)), learned)), std::vector<std::string>{"c"});
  view_.ports.at(PortId("a")).port_security_enabled = true;
  EXPECT_EQ(Places(FromPort(view_, PortId("c"), To(Mac(77), Mac(3)), learned)), std::vector<std::string>{"h2"});
}

TEST(AnnouncementTest, NamesAUnicastAddress) {
  const packet::AnnouncedAddress vip{kVip, Mac(1), false};
  EXPECT_EQ(packet::AnnouncedBy(packet::Packet(Arp(1, Mac(1), kVip, kVip))), vip);
  EXPECT_EQ(packet::AnnouncedBy(packet::Packet(Arp(2, Mac(1), kVip, kVip))), vip);
  EXPECT_EQ(packet::AnnouncedBy(packet::Packet(Arp(2, Mac(1), kVip, Ip("10.0.0.9")))), vip)
      << "a reply to everybody";
  EXPECT_EQ(packet::AnnouncedBy(packet::Packet(Arp(1, Mac(1), kVip, Ip("10.0.0.9")))), std::nullopt)
      << "a question";
  EXPECT_EQ(packet::AnnouncedBy(packet::Packet(Arp(2, Mac(1), kVip, kVip, Mac(2)))), vip) << "to one";
  EXPECT_EQ(packet::AnnouncedBy(packet::Packet(Arp(1, Mac(1), IpAddress(), IpAddress()))), std::nullopt);
  EXPECT_EQ(packet::AnnouncedBy(packet::Packet(Arp(1, MacAddress::Broadcast(), kVip, kVip))), std::nullopt);
  Frame truncated = Arp(1, Mac(1), kVip, kVip);
  truncated.resize(30);
  EXPECT_EQ(packet::AnnouncedBy(packet::Packet(truncated)), std::nullopt);
}

}  // namespace
}  // namespace kasane::sim
