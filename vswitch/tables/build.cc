#include "vswitch/tables/build.h"

namespace kasane::tables {

ForwardingTables BuildForwardingTables(const vswitch::HostView& view, const std::set<PortId>& plugged) {
  const Source source{view, plugged};
  ForwardingTables out;
  AddPorts(source, out);
  AddNetworks(source, out);
  AddConfigured(source, out);
  AddClaims(source, out);
  AddLearning(source, out);
  AddElsewhere(out);
  AddPermissions(source, out);
  AddAnnouncements(source, out);
  AddNeighbours(source, out);
  AddRoutes(source, out);
  return out;
}

}  // namespace kasane::tables
