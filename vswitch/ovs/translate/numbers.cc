#include "vswitch/ovs/translate/numbers.h"

#include <set>
#include <vector>

#include "vswitch/ovs/translate/learned_places.h"
#include "vswitch/ovs/translate/pipeline.h"

namespace kasane::ovs {

std::map<RouterId, uint32_t> AssignRouterNumbers(const tables::ForwardingTables& tables) {
  std::map<RouterId, uint32_t> numbers;
  std::set<uint32_t> taken;
  for (const auto& [id, router] : tables.routers.entries()) {
    uint32_t number = NumberHash(id.str());
    while (number == 0 || !taken.insert(number).second) ++number;
    numbers.emplace(id, number);
  }
  return numbers;
}

namespace {

std::map<tables::LearningKey, uint32_t> AssignLearnedHosts(const tables::ForwardingTables& tables) {
  std::map<NetworkId, std::map<HostId, std::vector<PortId>>> behind;
  for (const auto& [key, peer] : tables.learning.entries()) {
    behind[key.first].emplace(key.second, peer.front().value.behind);
  }
  std::map<tables::LearningKey, uint32_t> places;
  for (const auto& [network, hosts] : behind) {
    for (const auto& [host, place] : AssignHostPlaces(hosts)) places.emplace(std::pair(network, host), place);
  }
  return places;
}

std::map<PortId, uint32_t> AssignLearnedPorts(const tables::ForwardingTables& tables) {
  std::set<PortId> ports;
  for (const auto& [key, port] : tables.ports.entries()) {
    if (!port.front().value.remote && !port.front().value.secured) ports.insert(key.second);
  }
  return AssignPortPlaces({ports.begin(), ports.end()});
}

}  // namespace

Numbers AssignNumbers(const tables::ForwardingTables& tables) {
  return {.routers = AssignRouterNumbers(tables),
          .learned_hosts = AssignLearnedHosts(tables),
          .learned_ports = AssignLearnedPorts(tables)};
}

}  // namespace kasane::ovs
