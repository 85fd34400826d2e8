#include "vswitch/ovs/translate/copies.h"

#include <string>
#include <utility>

#include "vswitch/ovs/translate/datapath_bounds.h"
#include "vswitch/ovs/translate/places.h"

namespace kasane::ovs {

CopyList CopiesToPorts(const std::vector<PortId>& ports, const Bindings& bindings) {
  CopyList list;
  for (const PortId& port : ports) {
    list.copies.push_back({ToPort(NumberOf(bindings, port)) + Resubmit(Table::kDeliver), kLocalCopyBytes});
  }
  return list;
}

CopyList CopiesToHosts(const std::vector<tables::RemotePlace>& hosts, Vni vni, const Bindings& bindings) {
  CopyList list{.before = SetTunnelVni(vni), .copies = {}};
  for (const tables::RemotePlace& host : hosts) {
    std::string tunnel = ToPlace(host, bindings);
    if (!tunnel.empty()) list.copies.push_back({std::move(tunnel), kTunnelCopyBytes});
  }
  return list;
}

}  // namespace kasane::ovs
