// Large replications, walked through the flows as the switch does, with the datapath's bounds kept in mind.
#include "vswitch/ovs/translate/replication.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "vswitch/ovs/translate/compiler.h"
#include "vswitch/ovs/translate/datapath_bounds.h"

namespace kasane::ovs {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Fields = std::map<std::string, uint64_t>;

// "a,b(c,d),e" without what is in parentheses torn apart.
std::vector<std::string> Split(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    if (c == ',' && depth == 0) {
      parts.emplace_back();
      continue;
    }
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    parts.back() += c;
  }
  return parts;
}

// What a packet in one network meets in the flows of a replication: only the fields and actions that these use.
class Walk {
 public:
  explicit Walk(const FlowTable& table) : table_(table) {
    for (const auto& [key, value] : table.flows()) AddFlow(key, value);
  }

  void Enter(Table table, uint64_t vni) {
    datapath_flows_.emplace_back();
    Look(static_cast<uint8_t>(table), {{"metadata", vni}});
  }

  struct DatapathFlow {
    size_t bytes = 0;
    size_t outputs = 0;
    size_t resubmits = 0;
  };
  const std::vector<DatapathFlow>& datapath_flows() const { return datapath_flows_; }
  std::map<std::string, int> copies;  // By tunnel destination or "port N".

 private:
  // Flows of one table whose matches have the same fields, by these fields' values.
  struct Tuple {
    std::vector<std::string> fields;
    std::map<std::vector<uint64_t>, std::pair<uint16_t, const FlowValue*>> flows;
  };

  void AddFlow(const FlowKey& key, const FlowValue& value) {
    Tuple flow;
    std::vector<uint64_t> values;
    for (const std::string& term : Split(key.match)) {
      const size_t equals = term.find('=');
      // Fields of other packets than a plain one.
      if (equals == std::string::npos || term.find('/') != std::string::npos) return;
      if (term[0] != 'm' && term[0] != 'r') return;
      flow.fields.push_back(term.substr(0, equals));
      values.push_back(std::stoull(term.substr(equals + 1), nullptr, 0));
    }
    std::vector<Tuple>& tuples = tables_[static_cast<uint8_t>(key.table)];
    auto tuple =
        std::find_if(tuples.begin(), tuples.end(), [&](const Tuple& t) { return t.fields == flow.fields; });
    if (tuple == tuples.end()) tuple = tuples.insert(tuple, flow);
    tuple->flows[values] = {key.priority, &value};
  }

  void Look(uint8_t table, Fields fields) {
    ++datapath_flows_[current_].resubmits;
    std::pair<uint16_t, const FlowValue*> best = {0, nullptr};
    for (const Tuple& tuple : tables_[table]) {
      std::vector<uint64_t> values;
      for (const std::string& field : tuple.fields) values.push_back(fields[field]);
      const auto found = tuple.flows.find(values);
      if (found != tuple.flows.end() && (best.second == nullptr || found->second.first > best.first)) {
        best = found->second;
      }
    }
    if (best.second == nullptr) return;
    for (const std::string& action : Split(best.second->actions)) Execute(action, fields);
  }

  void Execute(const std::string& action, Fields& fields) {
    if (action.starts_with("set_field:")) {
      const size_t arrow = action.find("->");
      const std::string value = action.substr(10, arrow - 10);
      const std::string field = action.substr(arrow + 2);
      if (field == "tun_dst") {
        tunnel_ = value;
      } else {
        fields[field] = std::stoull(value, nullptr, 0);
      }
    } else if (action.starts_with("output:")) {
      const bool tunnel = action == "output:1";
      datapath_flows_[current_].bytes += tunnel ? kTunnelCopyBytes : kLocalCopyBytes;
      ++datapath_flows_[current_].outputs;
      ++copies[tunnel ? tunnel_ : "port " + action.substr(7)];
    } else if (action.starts_with("resubmit(,")) {
      Look(static_cast<uint8_t>(std::stoi(action.substr(10))), fields);
    } else if (action.starts_with("group:")) {
      Group(static_cast<uint32_t>(std::stoul(action.substr(6))), fields);
    } else {
      ADD_FAILURE() << action;
    }
  }

  void Group(uint32_t id, const Fields& fields) {
    const bool recirculate = table_.groups().at(id).starts_with("type=select");
    const size_t before = current_;
    if (recirculate) {
      current_ = datapath_flows_.size();
      datapath_flows_.emplace_back();
    }
    const std::string& text = table_.groups().at(id);
    for (size_t at = 0; (at = text.find("actions=", at)) != std::string::npos;) {
      at += 8;
      Fields in_bucket = fields;
      for (const std::string& action : Split(text.substr(at, text.find(",bucket", at) - at))) {
        Execute(action, in_bucket);
      }
    }
    current_ = before;
  }

  const FlowTable& table_;
  std::map<uint8_t, std::vector<Tuple>> tables_;
  std::string tunnel_;
  std::vector<DatapathFlow> datapath_flows_;
  size_t current_ = 0;
};

// One network with so many hosts and ports; every second port has port security off, and so has one port on
// each second host.
FlowTable Network(size_t hosts, size_t ports) {
  vswitch::HostView view;
  view.host = HostId("h");
  Bindings bindings{.ports = {}, .vxlan_v4 = 1};
  vswitch::NetworkView network{NetworkId("n"), "n", *Vni::From(7), 1450, true, {}};
  for (size_t i = 0; i < hosts; ++i) {
    const HostId id(fmt::format("h{:06}", i));
    const IpAddress vtep = IpAddress::V4(0x0a000000 + static_cast<uint32_t>(i));
    view.hosts.emplace(id, vswitch::RemoteHost{id, vtep, {vtep, std::nullopt}});
    network.flood_hosts.push_back(id);
    const PortId port(fmt::format("r{:06}", i));
    view.endpoints[port] = {.id = port, .name = "", .network = network.id, .host = id, .mac = {}, .ips = {}};
    view.endpoints[port].port_security_enabled = i % 2 == 0;
  }
  for (size_t i = 0; i < ports; ++i) {
    const PortId id(fmt::format("p{:06}", i));
    view.ports[id] = {.id = id, .name = "", .network = network.id, .mac = {}, .ips = {}};
    view.ports[id].port_security_enabled = i % 2 == 0;
    view.ports[id].admin_state_up = true;
    bindings.ports[id] = static_cast<uint32_t>(100 + i);
  }
  view.networks.emplace(network.id, network);
  return Compile(tables::BuildForwardingTables(view, PluggedPorts(bindings)), bindings);
}

void ExpectWithinBounds(const Walk& walk) {
  for (const Walk::DatapathFlow& flow : walk.datapath_flows()) {
    EXPECT_LE(flow.bytes, kPartBytes);
    EXPECT_LE(flow.outputs, kPartCopies);
    EXPECT_LE(flow.resubmits, kMaxResubmits / 2);
  }
}

TEST(ReplicationTest, EveryHostAndPortGetsOneCopy) {
  for (const auto& [hosts, ports] : std::vector<std::pair<size_t, size_t>>{{0, 0},
                                                                           {1, 1},
                                                                           {2, 3},
                                                                           {90, 100},
                                                                           {102, 0},
                                                                           {103, 0},
                                                                           {256, 256},
                                                                           {257, 513},
                                                                           {3000, 1},
                                                                           {3, 2000},
                                                                           {3000, 2000}}) {
    SCOPED_TRACE(fmt::format("{} hosts, {} ports", hosts, ports));
    const FlowTable table = Network(hosts, ports);
    EXPECT_THAT(table.shortfalls(), IsEmpty());
    const size_t unsecured_hosts = hosts / 2;
    const size_t unsecured_ports = ports / 2;
    for (const auto& [start, copies] :
         std::map<Table, size_t>{{Table::kFlood, hosts + ports},
                                 {Table::kFloodLocal, ports},
                                 {Table::kUnknownFlood, unsecured_hosts + unsecured_ports},
                                 {Table::kTunnelUnknown, unsecured_ports}}) {
      SCOPED_TRACE(static_cast<int>(start));
      Walk walk(table);
      walk.Enter(start, 7);
      EXPECT_THAT(walk.copies, SizeIs(copies));
      for (const auto& [where, count] : walk.copies) EXPECT_EQ(count, 1) << where;
      ExpectWithinBounds(walk);
    }
  }
}

TEST(ReplicationTest, FewCopiesAreOneFlowWithoutGroups) {
  const FlowTable table = Network(60, 40);
  EXPECT_THAT(table.groups(), IsEmpty());
  Walk walk(table);
  walk.Enter(Table::kFlood, 7);
  EXPECT_THAT(walk.datapath_flows(), SizeIs(1));
}

TEST(ReplicationTest, ListsOfOneMessageAreSeparated) {
  const std::vector<CopyList> lists = {{.before = "", .copies = {{"output:1"}, {"output:2"}}},
                                       {.before = "set_field:0x7->tun_id,", .copies = {{"output:3"}}}};
  EXPECT_EQ(CutForPacketOuts(lists),
            std::vector<std::string>{"output:1,output:2,set_field:0x7->tun_id,output:3"});
}

TEST(ReplicationTest, ItsFlowsAreNoLargerThanAMessage) {
  const FlowTable table = Network(3000, 2000);
  for (const auto& [key, value] : table.flows()) {
    EXPECT_LE(Split(value.actions).size() * 24, kMaxFlowModBytes);
  }
}

TEST(ReplicationTest, WhatIsTooManyIsNamed) {
  FlowTable table;
  CopyList tunnels;
  const size_t in_a_part = kPartBytes / kTunnelCopyBytes;
  for (size_t i = 0; i < in_a_part * kMaxParts + 5; ++i) {
    tunnels.copies.push_back(
        {fmt::format("set_field:10.{}.{}.{}->tun_dst,output:1", i >> 16, i >> 8 & 255, i & 255),
         kTunnelCopyBytes});
  }
  const vswitch::Owner owner{vswitch::OwnerKind::kNetwork, "n"};
  AddReplication({ReplicationKind::kFlood, Table::kFlood, 100, "metadata=0x7", owner}, {tunnels}, table);
  EXPECT_THAT(table.shortfalls().at(owner), HasSubstr("5 hosts or ports get none"));
  Walk walk(table);
  walk.Enter(Table::kFlood, 7);
  EXPECT_THAT(walk.copies, SizeIs(in_a_part * kMaxParts));
}

}  // namespace
}  // namespace kasane::ovs
