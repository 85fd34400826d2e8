#include "ctl/output/agent_tables.h"

#include <fmt/format.h>

#include <map>

#include "ctl/output/apply_report.h"
#include "ctl/output/output.h"
#include "kasane/v1/agent.pb.h"
#include "model/decode.h"
#include "vswitch/drop_reason.h"

namespace kasane::ctl {
namespace {

template <typename List>
std::string JoinAll(const List& items) {
  return Join({items.begin(), items.end()});
}

std::string RevisionText(const v1::Revision& revision) {
  return revision.counter() == 0 ? "none" : Number(revision.counter());
}

std::string OwnerText(const std::string& kind, const std::string& id) {
  return id.empty() ? kind : kind + " " + id;
}

std::string ControllerText(const v1::AgentStatusResponse& reply) {
  if (!reply.controller_connected())
    return reply.controller_address() + ", not connected; the last good state stays in force";
  return fmt::format("{}, connected, {}", reply.controller_address(),
                     reply.synced() ? "in sync" : "not in sync yet");
}

std::string RejectedLines(const v1::AgentStatusResponse& reply) {
  std::string out;
  for (const auto& verdict : reply.rejected()) {
    const auto key = model::DecodeKey(verdict.key());
    for (const v1::Fault& fault : verdict.faults()) {
      out += fmt::format("  {}: {}: {}\n", key ? model::ToString(*key) : "?", fault.path(), fault.message());
    }
  }
  return out;
}

// What a drop reason's label means.
std::string_view ReasonText(const std::string& label) {
  for (const vswitch::DropReason reason : vswitch::kAllDropReasons) {
    if (Label(reason) == label) return vswitch::Explanation(reason);
  }
  return "";
}

// "way 2: ", where there are several.
std::string WayText(uint32_t way) { return way == 0 ? "" : fmt::format("way {}: ", way); }

std::string VerdictLine(const v1::TraceVerdict& verdict) {
  if (!verdict.drop_reason().empty()) {
    const std::string_view text = ReasonText(verdict.drop_reason());
    return fmt::format("dropped on host {}: {}{}", verdict.host(), verdict.drop_reason(),
                       text.empty() ? "" : fmt::format(" ({})", text));
  }
  if (!verdict.remote_host().empty()) {
    return fmt::format("through the tunnel to host {} at {}, VNI {}; not followed further",
                       verdict.remote_host(), verdict.remote_address(), verdict.vni());
  }
  if (!verdict.delivered()) return "delivered to nobody";
  return fmt::format("delivered to port {} on host {}",
                     verdict.port_name().empty()
                         ? verdict.port_id()
                         : fmt::format("{} ({})", verdict.port_name(), verdict.port_id()),
                     verdict.host());
}

}  // namespace

std::string StatusText(const v1::AgentStatusResponse& reply, bool verbose) {
  std::string out;
  const auto line = [&](std::string_view label, const std::string& value) {
    out += fmt::format("{:<18}{}\n", label, value);
  };
  line("host", reply.host_id());
  line("agent", fmt::format("version {}, up {}", reply.version(), Duration(reply.uptime_seconds())));
  line("controller", ControllerText(reply));
  line("revision",
       fmt::format("received {}, applied {}", RevisionText(reply.received()), RevisionText(reply.applied())));
  line("datapath", fmt::format("{}, {}, {}", reply.datapath(), reply.datapath_ready() ? "ready" : "NOT ready",
                               Count(reply.flows(), "flow")));
  if (reply.disturbances() != 0) {
    line("changed by others",
         fmt::format("{}, repaired; last: {}", Count(reply.disturbances(), "time"), reply.last_disturbance()));
  }
  line("tunnel addresses", reply.tunnel_addresses().empty() ? "none" : JoinAll(reply.tunnel_addresses()));
  line("ports", fmt::format("{} of {} active", reply.active_ports(), reply.local_ports()));
  if (!reply.problems().empty()) out += "\nProblems:\n";
  for (const v1::Problem& problem : reply.problems())
    out += fmt::format("  {}: {}\n", problem.subject(), problem.message());
  if (!reply.rejected().empty())
    out += "\nRefused resources; their last good version stays in force:\n" + RejectedLines(reply);
  if (!reply.not_enforced().empty()) {
    out += fmt::format("\nAsked for, and not enforced by this version{}:\n", verbose ? "" : " (-v lists each)");
    out += NotEnforcedTable({reply.not_enforced().begin(), reply.not_enforced().end()}, verbose);
  }
  return out;
}

std::string PortsTable(const v1::ListPortsResponse& reply) {
  Table table({{"ID"},
               {"NAME", 18},
               {"NETWORK", 14},
               {"MAC"},
               {"ADDRESSES", 20, true},
               {"INTERFACE"},
               {"STATUS", 40, true}});
  for (const v1::LocalPort& port : reply.ports()) {
    const std::string status = port.active() ? "active" : NameOr(port.problem(), "not active");
    table.Add(
        {port.id(), port.name(), NameOr(port.network_name(), port.network_id()), port.mac_address(),
         JoinAll(port.ip_addresses()),
         port.interface().empty() ? "" : fmt::format("{} ({})", port.interface(), port.interface_number()),
         status});
  }
  return table.ToString();
}

std::string TunnelsTable(const v1::ListTunnelsResponse& reply) {
  Table table({{"HOST", 24},
               {"REMOTE", 39},
               {"LOCAL", 39},
               {"READY"},
               {"NEXT HOP", 39},
               {"NEXT HOP MAC"},
               {.title = "NETWORKS", .right = true},
               {"PROBLEM", 50, true}});
  for (const v1::Tunnel& tunnel : reply.tunnels()) {
    table.Add({tunnel.host_id(), tunnel.remote_address(), tunnel.local_address(), YesNo(tunnel.ready()),
               tunnel.next_hop(), tunnel.next_hop_mac(), Number(static_cast<uint64_t>(tunnel.networks_size())),
               tunnel.problem()});
  }
  return table.ToString();
}

std::string NetworksTable(const v1::ListNetworksResponse& reply) {
  Table table({{"ID"},
               {"NAME", 20},
               {.title = "VNI", .right = true},
               {.title = "MTU", .right = true},
               {.title = "LOCAL PORTS", .right = true},
               {.title = "REMOTE PORTS", .right = true},
               {"FLOODS TO", 30, true},
               {.title = "ROUTERS", .right = true}});
  for (const v1::NetworkInfo& network : reply.networks()) {
    table.Add({network.id(), network.name(), Number(network.vni()), Number(network.mtu()),
               Number(network.local_ports()), Number(network.remote_endpoints()),
               JoinAll(network.flood_vteps()), Number(static_cast<uint64_t>(network.routers_size()))});
  }
  return table.ToString();
}

std::string RoutersText(const v1::ListRoutersResponse& reply) {
  std::string out;
  for (const v1::RouterInfo& router : reply.routers()) {
    if (!out.empty()) out += "\n";
    out += fmt::format("{} ({}){}\n", NameOr(router.name(), "router"), router.id(),
                       router.admin_state_up() ? "" : ", administratively down");
    std::map<std::string, std::string> names;
    Table interfaces({{"  INTERFACE"}, {"NETWORK", 24}, {"MAC"}, {"ADDRESSES", 50, true}});
    for (const v1::RouterPortInfo& port : router.ports()) {
      names[port.network_id()] = NameOr(port.network_name(), port.network_id());
      interfaces.Add(
          {"  " + port.port_id(), names[port.network_id()], port.mac_address(), JoinAll(port.addresses())});
    }
    Table routes({{"  ROUTE"}, {"NEXT HOP"}, {"NETWORK", 24}, {"ORIGIN"}});
    for (const v1::RouteInfo& route : router.routes()) {
      const std::string& name = names[route.network_id()];
      routes.Add(
          {"  " + route.destination(), route.next_hop(), NameOr(name, route.network_id()), route.origin()});
    }
    out += interfaces.ToString() + routes.ToString();
  }
  return out.empty() ? "no routers on this host\n" : out;
}

std::string FlowsTable(const v1::ListFlowsResponse& reply) {
  Table table(
      {{"STAGE"}, {"OWNER", 44}, {.title = "PACKETS", .right = true}, {"KEY", 44, true}, {"ACTION", 44, true}});
  for (const v1::Flow& flow : reply.flows()) {
    const std::string action = flow.drop_reason().empty()
                                   ? flow.action()
                                   : fmt::format("{} ({})", NameOr(flow.action(), "drop"), flow.drop_reason());
    table.Add({flow.stage(), OwnerText(flow.owner_kind(), NameOr(flow.owner_name(), flow.owner_id())),
               Number(flow.packets()), NameOr(flow.key(), "any"), action});
  }
  return table.ToString();
}

std::string ForwardingTablesTable(const v1::ListTablesResponse& reply) {
  if (reply.entries().empty()) return "no entries\n";
  Table table(
      {{"FAMILY"}, {"NETWORK", 20}, {"KEY", 44}, {"IN FORCE"}, {"BY"}, {"OWNER", 44}, {"VALUE", 50, true}});
  for (const v1::TableEntry& entry : reply.entries()) {
    bool in_force = entry.in_force();
    for (const v1::TableClaimant& claimant : entry.claimants()) {
      table.Add({entry.family(), NameOr(entry.network_name(), entry.network_id()), entry.key(), YesNo(in_force),
                 claimant.rank(),
                 OwnerText(claimant.owner_kind(), NameOr(claimant.owner_name(), claimant.owner_id())),
                 claimant.value()});
      in_force = false;
    }
  }
  return table.ToString();
}

std::string DifferencesTable(const v1::CompareFlowsResponse& reply) {
  if (reply.differences().empty()) return "the switch holds exactly what the present state compiles to\n";
  Table table({{"SWITCH"}, {"STAGE"}, {"OWNER", 44}, {"KEY", 44, true}, {"ACTION", 44, true}});
  for (const v1::FlowDifference& difference : reply.differences()) {
    const v1::Flow& flow = difference.flow();
    table.Add({difference.kind(), flow.stage(),
               OwnerText(flow.owner_kind(), NameOr(flow.owner_name(), flow.owner_id())),
               NameOr(flow.key(), "any"), NameOr(flow.action(), "drop")});
  }
  return table.ToString();
}

std::string TraceText(const v1::TraceResponse& reply) {
  std::string out;
  int number = 0;
  std::string place;
  for (const v1::TraceStep& step : reply.steps()) {
    const std::string here = fmt::format("{}on host {}:\n", WayText(step.way()), step.host());
    if (here != place) out += here;
    place = here;
    const std::string owner = OwnerText(step.owner_kind(), NameOr(step.owner_name(), step.owner_id()));
    out += fmt::format("{:>2}. {:<12} {:<24} {}\n", ++number, step.stage(), owner, step.text());
  }
  for (const v1::TraceVerdict& verdict : reply.verdicts()) {
    out += fmt::format("=> {}{}{}\n", WayText(verdict.way()), verdict.answer() ? "the answer to it is " : "",
                       VerdictLine(verdict));
    if (!verdict.packet().empty()) out += fmt::format("   {}\n", verdict.packet());
  }
  if (reply.verdicts().empty()) out += "=> delivered to nobody\n";
  for (const std::string& note : reply.notes()) out += fmt::format("note: {}\n", note);
  return out;
}

}  // namespace kasane::ctl
