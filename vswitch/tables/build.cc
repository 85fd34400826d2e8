#include "vswitch/tables/build.h"

namespace kasane::tables {

ForwardingTables BuildForwardingTables(const vswitch::HostView& view, const std::set<PortId>& plugged) {
  const Source source{view, plugged};
  ForwardingTables out;
  AddNetworks(source, out);
  AddPorts(source, out);
  AddConfigured(source, out);
  AddClaims(source, out);
  AddPermissions(source, out);
  AddAnnouncements(source, out);
  AddNeighbours(source, out);
  AddRoutes(source, out);
  return out;
}

}  // namespace kasane::tables
