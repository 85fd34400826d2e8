#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/text.h"
#include "ctl/output/agent_tables.h"
#include "ctl/output/kind_tables.h"
#include "ctl/output/output.h"
#include "kasane/v1/agent.pb.h"
#include "kasane/v1/controller.pb.h"

namespace kasane::ctl {
namespace {

using ::testing::HasSubstr;

constexpr char kUuid[] = "23a5701f-a2e7-40a3-bc53-5c02e8983cc9";

template <typename Message>
Message Parse(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

size_t Widest(const std::string& table) {
  std::istringstream stream(table);
  size_t widest = 0;
  for (std::string line; std::getline(stream, line);) widest = std::max(widest, DisplayWidth(line));
  return widest;
}

TEST(KindTableTest, Ports) {
  const auto named = Parse<v1::ResourceWithStatus>(R"(resource { port { id: "p1" name: "web" network_id: "n1"
      mac_address: "fa:16:3e:00:00:01" fixed_ips { ip_address: "10.0.0.5" } binding_host_id: "hv1" } } port_status: PORT_STATUS_BUILD)");
  const auto router = Parse<v1::ResourceWithStatus>(R"(resource { port { id: "p2" network_id: "n2"
      device_owner: "network:router_interface" mac_address: "fa:16:3e:00:00:02" } } port_status: PORT_STATUS_DOWN)");
  Surroundings around;
  around.names[{model::Kind::kNetwork, "n1"}] = "front";
  EXPECT_EQ(KindTable(model::Kind::kPort, {&named, &router}, around),
            "ID  NAME                NETWORK  MAC                ADDRESSES  HOST  STATUS\n"
            "p1  web                 front    fa:16:3e:00:00:01  10.0.0.5   hv1   BUILD\n"
            "p2  (router_interface)  n2       fa:16:3e:00:00:02  -          -     DOWN\n");
}

TEST(KindTableTest, HostsShowTheirConnection) {
  const auto host = Parse<v1::ResourceWithStatus>(
      R"(resource { host { id: "hv1" tunnel_addresses: "192.0.2.1" pinned: true } })");
  const auto unseen = Parse<v1::ResourceWithStatus>(R"(resource { host { id: "hv2" } })");
  Surroundings around;
  around.status = std::make_shared<const v1::ControllerStatusResponse>(Parse<v1::ControllerStatusResponse>(R"(
      hosts { host_id: "hv1" connected: true applied { counter: 42 } ports: 6 active_ports: 5 agent_version: "0.1.0" })"));
  EXPECT_EQ(KindTable(model::Kind::kHost, {&host, &unseen}, around),
            "ID   TUNNEL ADDRESSES  PINNED  CONNECTED  ACTIVE PORTS  REFUSED  APPLIED  AGENT\n"
            "hv1  192.0.2.1         yes     yes              5 of 6        0       42  0.1.0\n"
            "hv2  -                 no      no               0 of 0        0        -  -\n");
}

TEST(KindTableTest, RoutersWithInterfacesAndGateway) {
  const auto router =
      Parse<v1::ResourceWithStatus>(R"(resource { router { id: "r1" name: "r" admin_state_up: true
      interfaces { network_id: "n1" fixed_ips { ip_address: "10.0.0.1" } } interfaces { network_id: "n2" }
      routes { destination: "192.0.2.0/24" } external_gateway_info { network_id: "x" } } })");
  Surroundings around;
  around.names[{model::Kind::kNetwork, "x"}] = "external";
  EXPECT_EQ(KindTable(model::Kind::kRouter, {&router}, around),
            "ID  NAME  UP   INTERFACES        GATEWAY   EXTRA ROUTES\n"
            "r1  r     yes  n1 10.0.0.1, n2   external             1\n");
}

// Long values of every kind stay within the width of a wide terminal.
TEST(KindTableTest, Width) {
  const std::string id = kUuid;
  const std::string name(255, 'n');
  const std::pair<model::Kind, std::string> cases[] = {
      {model::Kind::kHost,
       fmt::format(R"(host {{ id: "{0}" tunnel_addresses: "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff" }})", name)},
      {model::Kind::kNetwork,
       fmt::format(
           R"(network {{ id: "{0}" name: "{1}" project_id: "{1}" provider_segmentation_id: 16777215 }})", id,
           name)},
      {model::Kind::kPort,
       fmt::format(R"(port {{ id: "{0}" name: "{1}" network_id: "{0}" mac_address: "fa:16:3e:00:00:01"
          binding_host_id: "{1}" fixed_ips {{ ip_address: "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff" }} }})",
                   id, name)},
      {model::Kind::kRouter,
       fmt::format(R"(router {{ id: "{0}" name: "{1}" interfaces {{ network_id: "{0}" }} }})", id, name)},
      {model::Kind::kSecurityGroup,
       fmt::format(R"(security_group {{ id: "{0}" name: "{1}" project_id: "{1}" }})", id, name)},
  };
  for (const auto& [kind, text] : cases) {
    const auto resource =
        Parse<v1::ResourceWithStatus>("resource {" + text + "} port_status: PORT_STATUS_ACTIVE");
    EXPECT_LE(Widest(KindTable(kind, {&resource}, {})), 150U) << Label(kind);
  }
}

TEST(KindTableTest, Rejections) {
  const auto port = Parse<v1::ResourceWithStatus>(R"(resource { port { id: "p1" } } rejections { host_id: "hv2"
      faults { path: "ports[0].mac_address" message: "is odd" } faults { path: "x" message: "y" } })");
  EXPECT_EQ(RejectionLines({&port}),
            "port p1 is refused by host hv2: ports[0].mac_address: is odd (and 1 more)\n");
}

TEST(AgentTablesTest, Status) {
  // The delimiter: the text has a ")" before a quote.
  const auto reply = Parse<v1::AgentStatusResponse>(R"text(host_id: "hv1" version: "0.1.0" uptime_seconds: 65
      controller_address: "127.0.0.1:6650" controller_connected: true synced: true received { counter: 9 }
      datapath: "ovs (netdev)" flows: 120 disturbances: 2 last_disturbance: "somebody else deleted 120 flows" tunnel_addresses: "192.0.2.1" local_ports: 6 active_ports: 5
      problems { subject: "bridge br-phy" message: "is missing" }
      rejected { key { kind: RESOURCE_KIND_PORT id: "p9" } faults { path: "mac_address" message: "is odd" } })text");
  EXPECT_EQ(StatusText(reply, false), R"(host              hv1
agent             version 0.1.0, up 1m 5s
controller        127.0.0.1:6650, connected, in sync
revision          received 9, applied none
datapath          ovs (netdev), NOT ready, 120 flows
changed by others 2 times, repaired; last: somebody else deleted 120 flows
tunnel addresses  192.0.2.1
ports             5 of 6 active

Problems:
  bridge br-phy: is missing

Refused resources; their last good version stays in force:
  port p9: mac_address: is odd
)");
}

TEST(AgentTablesTest, APortThatIsNotActiveSaysWhy) {
  const auto reply = Parse<v1::ListPortsResponse>(R"(
      ports { id: "p1" name: "web" network_name: "front" ip_addresses: "10.0.0.5" interface: "tap1" interface_number: 7 active: true }
      ports { id: "p2" problem: "not plugged" })");
  const std::string table = PortsTable(reply);
  EXPECT_THAT(table, HasSubstr("tap1 (7)   active"));
  EXPECT_THAT(table, HasSubstr("not plugged"));
}

TEST(AgentTablesTest, Flows) {
  const auto reply = Parse<v1::ListFlowsResponse>(R"(
      flows { owner_kind: "port" owner_id: "p1" owner_name: "web" stage: "l2" key: "dl_dst=fa:16:3e:00:00:01"
              action: "output:7" packets: 12 }
      flows { owner_kind: "pipeline" stage: "l2" drop_reason: "unknown_mac" })");
  EXPECT_EQ(FlowsTable(reply),
            "STAGE  OWNER     PACKETS  KEY                       ACTION\n"
            "l2     port web       12  dl_dst=fa:16:3e:00:00:01  output:7\n"
            "l2     pipeline        0  any                       drop (unknown_mac)\n");
}

TEST(AgentTablesTest, ForwardingTablesWithAllClaimants) {
  const auto reply = Parse<v1::ListTablesResponse>(R"(
      entries { family: "answer" network_id: "n1" network_name: "front" key: "10.0.0.5" in_force: true
                claimants { rank: "claim" owner_kind: "port" owner_id: "p2" owner_name: "db" value: "fa:16:3e:00:00:06" }
                claimants { rank: "local" owner_kind: "port" owner_id: "p1" value: "fa:16:3e:00:00:05" } }
      entries { family: "route" key: "r1 192.0.2.0/24" claimants { rank: "reserved" owner_kind: "router" owner_id: "r1" } })");
  EXPECT_EQ(ForwardingTablesTable(reply),
            "FAMILY  NETWORK  KEY              IN FORCE  BY        OWNER      VALUE\n"
            "answer  front    10.0.0.5         yes       claim     port db    fa:16:3e:00:00:06\n"
            "answer  front    10.0.0.5         no        local     port p1    fa:16:3e:00:00:05\n"
            "route   -        r1 192.0.2.0/24  no        reserved  router r1  -\n");
  EXPECT_EQ(ForwardingTablesTable({}), "no entries\n");
}

TEST(AgentTablesTest, RoutersWithRoutes) {
  const auto reply = Parse<v1::ListRoutersResponse>(R"(routers { id: "r1" name: "shop" admin_state_up: true
      ports { port_id: "i1" network_id: "n1" network_name: "front" mac_address: "fa:16:3e:00:00:01" addresses: "10.0.0.1/24" }
      routes { destination: "10.0.0.0/24" network_id: "n1" origin: "connected" }
      routes { destination: "192.0.2.0/24" next_hop: "10.0.0.9" network_id: "n1" origin: "extra" } })");
  EXPECT_EQ(RoutersText(reply), R"(shop (r1)
  INTERFACE  NETWORK  MAC                ADDRESSES
  i1         front    fa:16:3e:00:00:01  10.0.0.1/24
  ROUTE         NEXT HOP  NETWORK  ORIGIN
  10.0.0.0/24   -         front    connected
  192.0.2.0/24  10.0.0.9  front    extra
)");
  EXPECT_EQ(RoutersText({}), "no routers on this host\n");
}

TEST(AgentTablesTest, TraceVerdicts) {
  const auto reply = Parse<v1::TraceResponse>(R"text(
      steps { stage: "input" owner_kind: "port" owner_id: "p1" owner_name: "web" text: "from web" host: "hv1" }
      steps { stage: "l2" owner_kind: "network" owner_id: "n1" text: "flooded" host: "hv1" }
      steps { stage: "tunnel" owner_kind: "network" owner_id: "n1" text: "VNI 505" host: "hv2" }
      verdicts { delivered: true port_id: "p2" port_name: "db" host: "hv2" packet: "icmp(ttl=63)" }
      verdicts { delivered: true remote_host: "hv3" remote_address: "192.0.2.3" vni: 505 host: "hv1" }
      verdicts { drop_reason: "no_route" host: "hv2" }
      notes: "not followed to host hv3: gone")text");
  EXPECT_EQ(TraceText(reply), R"text(on host hv1:
 1. input        port web                 from web
 2. l2           network n1               flooded
on host hv2:
 3. tunnel       network n1               VNI 505
=> delivered to port db (p2) on host hv2
   icmp(ttl=63)
=> through the tunnel to host hv3 at 192.0.2.3, VNI 505; not followed further
=> dropped on host hv2: no_route (the router has no route to the destination)
note: not followed to host hv3: gone
)text");
  EXPECT_EQ(TraceText({}), "=> delivered to nobody\n");
}

TEST(AgentTablesTest, NetworksAndTunnels) {
  const auto networks =
      Parse<v1::ListNetworksResponse>(R"(networks { id: "n1" name: "front" vni: 505 mtu: 1450 local_ports: 2
      remote_endpoints: 4 flood_vteps: "192.0.2.2" flood_vteps: "192.0.2.3" routers: "r1" })");
  EXPECT_EQ(NetworksTable(networks),
            "ID  NAME   VNI   MTU  LOCAL PORTS  REMOTE PORTS  FLOODS TO             ROUTERS\n"
            "n1  front  505  1450            2             4  192.0.2.2, 192.0.2.3        1\n");
  const auto tunnels = Parse<v1::ListTunnelsResponse>(R"(tunnels { host_id: "hv2" remote_address: "192.0.2.2"
      local_address: "192.0.2.1" problem: "no answer to ARP" networks: "n1" })");
  EXPECT_EQ(TunnelsTable(tunnels),
            "HOST  REMOTE     LOCAL      READY  NEXT HOP  NEXT HOP MAC  NETWORKS  PROBLEM\n"
            "hv2   192.0.2.2  192.0.2.1  no     -         -                    1  no answer to ARP\n");
}

}  // namespace
}  // namespace kasane::ctl
