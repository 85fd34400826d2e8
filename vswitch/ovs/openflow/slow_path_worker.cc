#include "vswitch/ovs/openflow/slow_path_worker.h"

#include <fmt/format.h>

#include <algorithm>

#include "vswitch/ovs/translate/actions.h"
#include "vswitch/ovs/translate/datapath_bounds.h"
#include "vswitch/ovs/translate/numbers.h"
#include "vswitch/ovs/translate/pipeline.h"
#include "vswitch/ovs/translate/places.h"
#include "vswitch/ovs/translate/replication.h"
#include "vswitch/ovs/translate/slow_path_action.h"
#include "vswitch/packet/byte_codec.h"
#include "vswitch/packet/packet.h"

namespace kasane::ovs {
namespace {

template <typename Key, typename Value>
std::optional<Value> Find(const std::map<Key, Value>& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? std::nullopt : std::optional(found->second);
}

// "reg5" is 5.
constexpr size_t Number(std::string_view name) { return static_cast<size_t>(name.back() - '0'); }
// reg8 to reg11 are xxreg2, most significant first.
constexpr size_t kFirstOfNextHop6 = 8;
static_assert(reg::kNextHop4 == "reg3" && reg::kNextHop6 == "xxreg2");
static_assert(Number(reg::kRouter) == 1 && Number(reg::kEntry) == 4 && Number(reg::kInPort) == 5);

uint32_t InPort(const PacketIn& in) {
  const uint32_t saved = in.registers[Number(reg::kInPort)];
  return saved != 0 ? saved : in.in_port;
}

// What the flow of an unresolved next hop asks for, from the registers.
std::optional<IpAddress> NextHopOf(const PacketIn& in) {
  const packet::Packet frame(in.frame);
  if (!frame.has_ip()) return std::nullopt;
  if (frame.is_v4()) return IpAddress::V4(in.registers[Number(reg::kNextHop4)]);
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i < 4; ++i) packet::Append32(bytes, in.registers[kFirstOfNextHop6 + i]);
  return IpAddress::V6(std::span<const uint8_t, 16>(bytes));
}

// Routed again by the router that asked: its TTL is decremented already.
PacketOut RoutedAgain(const PacketIn& in) {
  const auto load = [&](std::string_view name) {
    return fmt::format("set_field:{:#x}->{},", in.registers[Number(name)], name);
  };
  return {in.frame, load(reg::kRouter) + load(reg::kHops) + load(reg::kEntry) + load(reg::kInPort) +
                        Resubmit(Table::kRoute)};
}

// Where an injection goes that is one of many copies of a frame: a port or a host. Nothing if it is none, or
// there is no way.
std::optional<Copy> CopyFor(const slowpath::Injection& injection, const std::map<HostId, IpAddress>& vteps,
                            const Bindings& bindings) {
  if (injection.port) {
    const auto number = Find(bindings.ports, *injection.port);
    if (!number) return std::nullopt;
    return Copy{.actions = fmt::format("output:{}", *number), .bytes = kLocalCopyBytes};
  }
  if (!injection.host || !injection.vni) return std::nullopt;
  const auto vtep = Find(vteps, *injection.host);
  if (!vtep) return std::nullopt;
  std::string to_vtep = ToVtep(*vtep, bindings);
  if (to_vtep.empty()) return std::nullopt;
  return Copy{.actions = std::move(to_vtep), .bytes = kTunnelCopyBytes};
}

}  // namespace

SlowPathWorker::SlowPathWorker(slowpath::RateLimit limit,
                               std::function<void(const slowpath::Announcement&)> on_announcement,
                               slowpath::Timeouts timeouts)
    : on_announcement_(std::move(on_announcement)),
      timeouts_(timeouts),
      context_(std::make_shared<Context>()),
      admission_(limit),
      reassembly_(timeouts.reassembly) {}

void SlowPathWorker::SetTables(std::shared_ptr<const tables::ForwardingTables> tables,
                               const Bindings& bindings) {
  auto context = std::make_shared<Context>();
  context->bindings = bindings;
  for (const auto& [id, number] : bindings.ports) context->ports.emplace(number, id);
  context->router_keys = AssignRouterNumbers(*tables);
  for (const auto& [id, key] : context->router_keys) context->routers.emplace(key, id);
  for (const auto& [id, network] : tables->networks.entries()) {
    context->networks.emplace(network.front().value.vni.value(), id);
  }
  for (const auto& [id, peer] : tables->hosts.entries()) {
    if (peer.front().value.vtep) context->vteps.emplace(id, *peer.front().value.vtep);
  }
  std::set<PortId> local;
  for (const auto& [key, port] : tables->ports.entries()) {
    if (!port.front().value.remote) local.insert(key.second);
  }
  context->facts = std::make_unique<tables::TableFacts>(std::move(tables));

  const auto gone = [&local](const vswitch::Owner& owner) {
    return owner.kind == vswitch::OwnerKind::kPort && !local.contains(PortId(owner.id));
  };
  const std::lock_guard lock(mutex_);
  context_ = std::move(context);
  admission_.ForgetDrops(gone);
  reassembly_.Forget(gone);
}

std::optional<slowpath::SlowPathPacket> SlowPathWorker::Understand(const Context& context, const PacketIn& in) {
  const auto userdata = ParseUserdata(in.userdata);
  if (!userdata) return std::nullopt;
  slowpath::SlowPathPacket packet;
  packet.cause = userdata->cause;
  packet.mtu = userdata->mtu;
  packet.frame = in.frame;
  packet.outer_source = in.tunnel_source;
  if (!packet.outer_source) packet.port = Find(context.ports, InPort(in));
  const uint32_t router = in.registers[Number(reg::kRouter)];
  if (router != 0) packet.router = Find(context.routers, router);
  const uint64_t vni = router != 0 ? in.registers[Number(reg::kEntry)] : in.metadata;
  if (const auto network = Find(context.networks, vni)) packet.network = *network;
  if (packet.cause == slowpath::SlowPathCause::kResolve) {
    if (const auto egress = Find(context.networks, in.metadata)) packet.egress = *egress;
    packet.next_hop = NextHopOf(in);
  }
  return packet;
}

// Copies of one frame for many ports and hosts go in few messages, or the last of them would find the queue to
// the switch full.
std::vector<PacketOut> SlowPathWorker::ToPacketOuts(const Context& context, uint32_t in_port,
                                                    std::vector<slowpath::Injection> injections) {
  std::vector<PacketOut> out;
  for (auto at = injections.begin(); at != injections.end();) {
    if (at->router) {
      if (const auto key = Find(context.router_keys, *at->router))
        out.push_back(
            {std::move(at->frame), fmt::format("set_field:{:#x}->{},set_field:{:#x}->{},{}", *key, reg::kRouter,
                                               in_port, reg::kInPort, Resubmit(Table::kRoute))});
      ++at;
      continue;
    }
    const auto first = at;
    std::vector<CopyList> lists;
    std::optional<Vni> vni;
    for (; at != injections.end() && !at->router && at->frame == first->frame; ++at) {
      if (lists.empty() || at->vni != vni) {
        vni = at->vni;
        lists.push_back({.before = vni ? SetTunnelVni(*vni) : "", .copies = {}});
      }
      if (auto copy = CopyFor(*at, context.vteps, context.bindings))
        lists.back().copies.push_back(*std::move(copy));
    }
    for (std::string& actions : CutForPacketOuts(lists)) out.push_back({first->frame, std::move(actions)});
  }
  return out;
}

std::vector<PacketOut> SlowPathWorker::Handle(const PacketIn& in, std::chrono::steady_clock::time_point now) {
  std::shared_ptr<const Context> context;
  {
    const std::lock_guard lock(mutex_);
    context = context_;
  }
  const std::optional<slowpath::SlowPathPacket> packet = Understand(*context, in);
  if (!packet || context->facts == nullptr) return {};
  {
    const std::lock_guard lock(mutex_);
    if (!admission_.Admit(*context->facts, *packet, now)) return {};
  }
  slowpath::SlowPathOutcome outcome = slowpath::HandleSlowPath(*context->facts, *packet);
  if (outcome.announcement && on_announcement_) on_announcement_(*outcome.announcement);
  if (outcome.is_part) {
    const std::optional<slowpath::SlowPathPacket> whole = Reassemble(*packet, now);
    if (!whole) return {};
    outcome = slowpath::HandleSlowPath(*context->facts, *whole);
  }
  Keep(outcome, slowpath::SenderOf(*packet), in, now);
  return ToPacketOuts(*context, InPort(in), std::move(outcome.injections));
}

std::optional<slowpath::SlowPathPacket> SlowPathWorker::Reassemble(const slowpath::SlowPathPacket& part,
                                                                   std::chrono::steady_clock::time_point now) {
  const std::lock_guard lock(mutex_);
  slowpath::Reassembly::Outcome outcome = reassembly_.Add(part, now);
  for (const slowpath::Reassembly::Lost& lost : outcome.lost) CountLost(lost);
  return std::move(outcome.whole);
}

void SlowPathWorker::CountLost(const slowpath::Reassembly::Lost& lost) {
  for (size_t n = 0; n < lost.fragments; ++n)
    admission_.CountDrop(lost.sender, vswitch::DropReason::kReassembly);
}

void SlowPathWorker::Keep(const slowpath::SlowPathOutcome& outcome, const vswitch::Owner& sender,
                          const PacketIn& in, std::chrono::steady_clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (outcome.drop) admission_.CountDrop(sender, *outcome.drop);
  if (!outcome.waits_for) return;
  if (const auto lost = waiting_.Add(*outcome.waits_for, {sender, in, now + timeouts_.resolve}))
    admission_.CountDrop(lost->sender, vswitch::DropReason::kNoNeighbour);
}

// Nobody has announced the next hop: as if it had been known at once that nobody has it.
std::vector<PacketOut> SlowPathWorker::GiveUp(const Context& context, const PacketIn& in) {
  std::optional<slowpath::SlowPathPacket> packet = Understand(context, in);
  if (!packet) return {};
  packet->cause = slowpath::SlowPathCause::kNoNeighbour;
  return ToPacketOuts(context, InPort(in), slowpath::HandleSlowPath(*context.facts, *packet).injections);
}

// Nor have the other fragments come (RFC 792; RFC 4443, 3.3).
std::vector<PacketOut> SlowPathWorker::GiveUp(const Context& context, slowpath::SlowPathPacket first) {
  const auto in_port = first.port ? Find(context.bindings.ports, *first.port) : std::nullopt;
  if (!in_port) return {};
  first.cause = slowpath::SlowPathCause::kReassemblyTime;
  return ToPacketOuts(context, *in_port, slowpath::HandleSlowPath(*context.facts, first).injections);
}

std::vector<PacketOut> SlowPathWorker::ReleaseWaiting(std::chrono::steady_clock::time_point now) {
  const std::lock_guard lock(mutex_);
  std::vector<PacketOut> out;
  if (context_->facts == nullptr) return out;
  const auto is_known = [this](const vswitch::ClaimKey& address) {
    return context_->facts->FindNextHop(address).has_value();
  };
  for (const auto& packet : waiting_.TakeKnown(is_known)) out.push_back(RoutedAgain(packet.payload));
  for (const auto& packet : waiting_.TakeExpired(now)) {
    admission_.CountDrop(packet.sender, vswitch::DropReason::kNoNeighbour);
    for (PacketOut& error : GiveUp(*context_, packet.payload)) out.push_back(std::move(error));
  }
  for (slowpath::Reassembly::Lost& lost : reassembly_.TakeExpired(now)) {
    CountLost(lost);
    if (!lost.first) continue;
    for (PacketOut& error : GiveUp(*context_, *std::move(lost.first))) out.push_back(std::move(error));
  }
  return out;
}

std::optional<std::chrono::steady_clock::time_point> SlowPathWorker::NextExpiry() const {
  const std::lock_guard lock(mutex_);
  const auto fragments = reassembly_.NextExpiry();
  if (waiting_.empty()) return fragments;
  const auto waiting = waiting_.NextExpiry();
  return std::min(waiting, fragments.value_or(waiting));
}

slowpath::Admission::Drops SlowPathWorker::Drops() const {
  const std::lock_guard lock(mutex_);
  return admission_.drops();
}

}  // namespace kasane::ovs
