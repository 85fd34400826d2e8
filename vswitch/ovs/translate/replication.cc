#include "vswitch/ovs/translate/replication.h"

#include <fmt/format.h>

#include <utility>

#include "vswitch/ovs/translate/actions.h"
#include "vswitch/ovs/translate/datapath_bounds.h"

namespace kasane::ovs {
namespace {

constexpr uint32_t kFanOut = 1;
constexpr uint32_t kRecirculate = 2;

// Actions of one flow, and what they take.
struct Part {
  std::string actions;
  size_t bytes = 0;
  size_t outputs = 0;

  bool Takes(const Copy& copy, size_t max_bytes, size_t max_outputs) const {
    return actions.empty() || (bytes + copy.bytes <= max_bytes && outputs + copy.outputs <= max_outputs);
  }
  void Add(const std::string& before, const Copy& copy) {
    for (const std::string& text : {before, copy.actions}) {
      if (!actions.empty() && actions.back() != ',') actions += ',';
      actions += text;
    }
    bytes += copy.bytes;
    outputs += copy.outputs;
  }
};

// In as few parts as hold them in order.
std::vector<Part> Cut(const std::vector<CopyList>& lists, size_t max_bytes, size_t max_outputs) {
  std::vector<Part> parts;
  for (const CopyList& list : lists) {
    bool begun = false;  // In the present part.
    for (const Copy& copy : list.copies) {
      if (parts.empty() || !parts.back().Takes(copy, max_bytes, max_outputs)) {
        parts.emplace_back();
        begun = false;
      }
      parts.back().Add(begun ? "" : list.before, copy);
      begun = true;
    }
  }
  return parts;
}

void AddGroups(FlowTable& out) {
  std::string fan_out = "type=all";
  for (size_t i = 0; i < kMaxParts; ++i) {
    fan_out += fmt::format(",bucket=bucket_id={0},actions=set_field:{0}->{1},{2}", i, reg::kPart,
                           Resubmit(Table::kPart));
  }
  out.AddGroup(kFanOut, fan_out);
  out.AddGroup(kRecirculate,
               fmt::format("type=select,selection_method=dp_hash,bucket=bucket_id=0,weight=1,actions={}",
                           Resubmit(Table::kCopies)));
}

CopyList AddParts(const ReplicationPoint& point, std::vector<Part> parts, FlowTable& out) {
  if (parts.size() > kMaxParts) {
    size_t lost = 0;
    for (size_t i = kMaxParts; i < parts.size(); ++i) lost += parts[i].outputs;
    out.AddShortfall(point.owner,
                     fmt::format("a packet to all can have no more copies than {} flows of the datapath "
                                 "make: {} hosts or ports get none; make the network smaller",
                                 kMaxParts, lost));
    parts.resize(kMaxParts);
  }
  AddGroups(out);
  const int kind = static_cast<int>(point.kind);
  Add(out, point.table, point.priority, point.match,
      fmt::format("set_field:{}->{},group:{}", kind, reg::kReplication, kFanOut), point.owner);
  CopyList reference;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string match = fmt::format("{}{}{}={},{}={}", point.match, point.match.empty() ? "" : ",",
                                          reg::kPart, i, reg::kReplication, kind);
    Add(out, Table::kPart, 100, match, fmt::format("group:{}", kRecirculate), point.owner);
    Add(out, Table::kCopies, 100, match, std::move(parts[i].actions), point.owner);
    reference.copies.push_back(
        {.actions = fmt::format("set_field:{}->{},set_field:{}->{},{}", kind, reg::kReplication, i, reg::kPart,
                                Resubmit(Table::kCopies)),
         .bytes = parts[i].bytes,
         .outputs = parts[i].outputs});
  }
  return reference;
}

}  // namespace

CopyList AddReplication(const ReplicationPoint& point, const std::vector<CopyList>& lists, FlowTable& out) {
  std::vector<Part> parts = Cut(lists, kInlineBytes, kInlineCopies);
  if (parts.size() > 1) return AddParts(point, Cut(lists, kPartBytes, kPartCopies), out);
  CopyList reference;
  if (parts.empty()) return reference;
  Part& only = parts.front();
  Add(out, point.table, point.priority, point.match, std::move(only.actions), point.owner);
  reference.copies.push_back({.actions = Resubmit(point.table), .bytes = only.bytes, .outputs = only.outputs});
  return reference;
}

std::vector<std::string> CutForPacketOuts(const std::vector<CopyList>& lists) {
  std::vector<std::string> actions;
  for (Part& part : Cut(lists, kPartBytes, kPartCopies)) actions.push_back(std::move(part.actions));
  return actions;
}

}  // namespace kasane::ovs
