// What the agent makes of a packet that br-int hands to it: the flow's userdata and the registers say what it
// is about, HandleSlowPath what is to be answered, and the answer becomes actions for the switch. No I/O.
//
// Thread-safe. It answers by the tables that were applied last.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vswitch/datapath.h"
#include "vswitch/ovs/translate/bindings.h"
#include "vswitch/slowpath/admission.h"
#include "vswitch/slowpath/reassembly.h"
#include "vswitch/slowpath/slow_path.h"
#include "vswitch/slowpath/timeouts.h"
#include "vswitch/slowpath/waiting_packets.h"
#include "vswitch/tables/table_facts.h"

namespace kasane::ovs {

struct PacketIn {
  std::vector<uint8_t> frame;
  std::vector<uint8_t> userdata;
  uint32_t in_port = 0;
  uint64_t metadata = 0;
  std::array<uint32_t, 12> registers{};
  std::optional<IpAddress> tunnel_source;
};

struct PacketOut {
  std::vector<uint8_t> frame;
  std::string actions;  // ovs-actions(7); in_port is CONTROLLER.
};

class SlowPathWorker {
 public:
  // `on_announcement` is called from Handle().
  SlowPathWorker(slowpath::RateLimit limit, std::function<void(const slowpath::Announcement&)> on_announcement,
                 slowpath::Timeouts timeouts = {});
  virtual ~SlowPathWorker() = default;

  // `tables` built with PluggedPorts(bindings), as what is installed.
  void SetTables(std::shared_ptr<const tables::ForwardingTables> tables, const Bindings& bindings);
  virtual std::vector<PacketOut> Handle(const PacketIn& in, std::chrono::steady_clock::time_point now);
  // The packets whose next hop was announced since, to be routed again; those that waited too long are dropped
  // as no_neighbour, fragments as reassembly, and their senders told. Call it behind SetTables and at
  // NextExpiry.
  std::vector<PacketOut> ReleaseWaiting(std::chrono::steady_clock::time_point now);
  std::optional<std::chrono::steady_clock::time_point> NextExpiry() const;
  // What was dropped here and is in no flow's counters, by the port or host that it came from.
  slowpath::Admission::Drops Drops() const;

 private:
  // What turns numbers in a packet into ids and back.
  struct Context {
    std::unique_ptr<const tables::TableFacts> facts;  // Null before the first tables.
    std::map<HostId, IpAddress> vteps;                // Of the hosts that can be reached.
    Bindings bindings;
    std::map<uint32_t, PortId> ports;
    std::map<uint32_t, RouterId> routers;
    std::map<RouterId, uint32_t> router_keys;
    std::map<uint64_t, NetworkId> networks;
  };

  static std::optional<slowpath::SlowPathPacket> Understand(const Context& context, const PacketIn& in);
  // `in_port`: of the switch, by which what is answered came.
  static std::vector<PacketOut> ToPacketOuts(const Context& context, uint32_t in_port,
                                             std::vector<slowpath::Injection> injections);
  static std::vector<PacketOut> GiveUp(const Context& context, const PacketIn& in);
  static std::vector<PacketOut> GiveUp(const Context& context, slowpath::SlowPathPacket first);
  // The whole packet, if `part` makes it.
  std::optional<slowpath::SlowPathPacket> Reassemble(const slowpath::SlowPathPacket& part,
                                                     std::chrono::steady_clock::time_point now);
  void CountLost(const slowpath::Reassembly::Lost& lost);
  void Keep(const slowpath::SlowPathOutcome& outcome, const vswitch::Owner& sender, const PacketIn& in,
            std::chrono::steady_clock::time_point now);

  const std::function<void(const slowpath::Announcement&)> on_announcement_;
  const slowpath::Timeouts timeouts_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Context> context_;
  slowpath::Admission admission_;
  slowpath::WaitingPackets<PacketIn> waiting_;
  slowpath::Reassembly reassembly_;
};

}  // namespace kasane::ovs
