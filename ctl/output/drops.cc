#include "ctl/output/drops.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "ctl/output/output.h"
#include "kasane/v1/agent.pb.h"
#include "vswitch/drop_reason.h"

namespace kasane::ctl {
namespace {

std::string Where(const v1::DropCount& row) {
  if (row.owner_id().empty()) return "any port";
  return fmt::format("{} {}", row.owner_kind(), NameOr(row.owner_name(), row.owner_id()));
}

std::string NetworkText(const v1::DropCount& row) { return NameOr(row.network_name(), row.network_id()); }

std::string Meaning(const std::string& label) {
  for (const vswitch::DropReason reason : vswitch::kAllDropReasons) {
    if (Label(reason) == label) return std::string(vswitch::Explanation(reason));
  }
  return "";
}

}  // namespace

std::string DropsText(const v1::ListDropsResponse& reply, bool one_port) {
  Table table({{"REASON"},
               {"COUNTED FOR", 40},
               {"NETWORK", 24},
               {.title = "PACKETS", .right = true},
               {.title = "BYTES", .right = true},
               {"MEANING", 60, true}});
  for (const v1::DropCount& row : reply.drops()) {
    table.Add({row.drop_reason(), Where(row), NetworkText(row), fmt::format("{}", row.packets()),
               fmt::format("{}", row.bytes()), Meaning(row.drop_reason())});
  }
  std::string text = reply.drops().empty() ? "nothing was dropped\n" : table.ToString();
  if (one_port) {
    text +=
        "Reasons that are counted for any port, a network or a router are not told apart by port; without "
        "--port they are shown.\n";
  }
  return text;
}

v1::ListDropsResponse DropsSince(const v1::ListDropsResponse& before, const v1::ListDropsResponse& after) {
  std::map<std::tuple<std::string, std::string, std::string>, const v1::DropCount*> known;
  const auto key = [](const v1::DropCount& row) {
    return std::make_tuple(row.drop_reason(), row.owner_kind(), row.owner_id());
  };
  for (const v1::DropCount& row : before.drops()) known[key(row)] = &row;
  v1::ListDropsResponse difference;
  for (const v1::DropCount& row : after.drops()) {
    const auto it = known.find(key(row));
    const bool continues = it != known.end() && it->second->packets() <= row.packets();
    const uint64_t packets = row.packets() - (continues ? it->second->packets() : 0);
    if (packets == 0) continue;
    v1::DropCount& grown = *difference.add_drops();
    grown = row;
    grown.set_packets(packets);
    const bool bytes_continue = continues && it->second->bytes() <= row.bytes();
    grown.set_bytes(row.bytes() - (bytes_continue ? it->second->bytes() : 0));
  }
  return difference;
}

std::string DropRatesText(const v1::ListDropsResponse& difference, double seconds) {
  std::string text;
  for (const v1::DropCount& row : difference.drops()) {
    const std::string network = NetworkText(row);
    text += fmt::format("{:>9.1f}/s  {:<20} {}{}\n", static_cast<double>(row.packets()) / seconds,
                        row.drop_reason(), Where(row), network.empty() ? "" : ", network " + network);
  }
  return text;
}

}  // namespace kasane::ctl
