#include "vswitch/ovs/translate/learned_places.h"

#include <set>
#include <string>

#include "vswitch/ovs/translate/pipeline.h"

namespace kasane::ovs {
namespace {

constexpr uint32_t kHostBit = uint32_t{1} << 31;

uint32_t PlaceHash(const std::string& text) { return NumberHash(text) & ~kHostBit; }

uint32_t TakeFree(uint32_t place, std::set<uint32_t>& taken) {
  while (!taken.insert(place).second) place = (place + 1) & ~kHostBit;
  return place;
}

}  // namespace

std::map<HostId, uint32_t> AssignHostPlaces(const std::map<HostId, std::vector<PortId>>& behind) {
  std::map<HostId, uint32_t> places;
  std::set<uint32_t> taken;
  for (const auto& [host, ports] : behind) {
    std::string text = host.str();
    for (const PortId& port : ports) text += "\n" + port.str();
    places.emplace(host, TakeFree(PlaceHash(text), taken) | kHostBit);
  }
  return places;
}

std::map<PortId, uint32_t> AssignPortPlaces(const std::vector<PortId>& ports) {
  std::map<PortId, uint32_t> places;
  std::set<uint32_t> taken;
  for (const PortId& port : ports) places.emplace(port, TakeFree(PlaceHash(port.str()), taken));
  return places;
}

}  // namespace kasane::ovs
