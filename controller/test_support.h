// For tests of the controller: topologies written as resource files, and a directory that goes away.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/status.h"
#include "controller/store/apply.h"
#include "controller/validate/validate.h"
#include "kasane/v1/controller.pb.h"
#include "model/files/resource_file.h"

namespace kasane::controller {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "kasane-test-XXXXXX").string();
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    path_ = pattern;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline v1::ApplyRequest RequestOf(const absl::StatusOr<files::ResourceFile>& file) {
  v1::ApplyRequest request;
  EXPECT_TRUE(file.ok()) << Message(file.status());
  if (!file.ok()) return request;
  for (const model::Fault& fault : file->faults) ADD_FAILURE() << ToString(fault);
  for (const v1::ApplyItem& item : file->items) *request.add_items() = item;
  return request;
}

inline v1::ApplyRequest RequestFrom(const std::string& yaml) {
  return RequestOf(files::ParseResourceFile("test", yaml));
}
inline v1::ApplyRequest Recorded(const std::string& name) {
  return RequestOf(files::ReadResourceFile("tests/data/" + name));
}

// Stores the request, with room for every fault in the response. The request's own options hold.
inline absl::StatusOr<v1::ApplyResponse> ApplyTo(StateHub& hub, v1::ApplyRequest request) {
  ApplyInput input;
  for (v1::ApplyItem& item : *request.mutable_items()) RETURN_IF_ERROR(input.Add(std::move(item)));
  v1::ApplyResponse response;
  RETURN_IF_ERROR(Apply(hub, std::move(input), request.options(), {100'000, 100'000}, response));
  return response;
}

// As Apply decodes them. `faults`: what decoding finds.
inline std::vector<RequestItem> ItemsOf(const v1::ApplyRequest& request, std::vector<model::Fault>& faults) {
  std::vector<RequestItem> items;
  for (const v1::ApplyItem& item : request.items()) {
    items.push_back(
        {item.path(), model::DecodeKey(item.resource()), Decode(item.resource(), item.path(), faults), false});
  }
  return items;
}

inline model::NetworkState StateOf(const v1::ApplyRequest& request) {
  std::vector<model::Fault> faults;
  model::NetworkState state;
  for (const RequestItem& item : ItemsOf(request, faults)) {
    if (item.value) Upsert(state, *item.value);
  }
  for (const model::Fault& fault : faults) ADD_FAILURE() << ToString(fault);
  return state;
}

// Two networks on one router with a gateway, a VM on each, a floating IP, a group. Valid as it is.
inline constexpr const char* kSmallTopology = R"(
hosts:
- {id: hv1, tunnel_addresses: [192.0.2.1]}
networks:
- {id: n1, name: front, provider:segmentation_id: 101}
- {id: n2, name: back, provider:segmentation_id: 102}
- {id: ext, name: world, provider:network_type: flat, router:external: true}
subnets:
- {id: s1, network_id: n1, ip_version: 4, cidr: 10.0.1.0/24, gateway_ip: 10.0.1.1}
- {id: s2, network_id: n2, ip_version: 4, cidr: 10.0.2.0/24, gateway_ip: 10.0.2.1}
- {id: se, network_id: ext, ip_version: 4, cidr: 203.0.113.0/24, gateway_ip: 203.0.113.1}
ports:
- {id: p1, name: vm1, network_id: n1, mac_address: "fa:16:3e:00:00:01", device_owner: "compute:nova",
   binding:host_id: hv1, security_groups: [g1], fixed_ips: [{subnet_id: s1, ip_address: 10.0.1.5}]}
- {id: p2, name: vm2, network_id: n2, mac_address: "fa:16:3e:00:00:02", device_owner: "compute:nova",
   binding:host_id: hv1, fixed_ips: [{subnet_id: s2, ip_address: 10.0.2.5}]}
- {id: i1, network_id: n1, mac_address: "fa:16:3e:00:00:11", device_owner: "network:router_interface",
   device_id: r1, fixed_ips: [{subnet_id: s1, ip_address: 10.0.1.1}]}
- {id: i2, network_id: n2, mac_address: "fa:16:3e:00:00:12", device_owner: "network:router_interface",
   device_id: r1, fixed_ips: [{subnet_id: s2, ip_address: 10.0.2.1}]}
- {id: pf, network_id: ext, mac_address: "fa:16:3e:00:00:21", device_owner: "network:floatingip", device_id: f1,
   fixed_ips: [{subnet_id: se, ip_address: 203.0.113.7}]}
- {id: pg, network_id: ext, mac_address: "fa:16:3e:00:00:22", device_owner: "network:router_gateway", device_id: r1,
   fixed_ips: [{subnet_id: se, ip_address: 203.0.113.8}]}
routers:
- {id: r1, name: router, routes: [{destination: 198.51.100.0/24, nexthop: 10.0.2.5}],
   external_gateway_info: {network_id: ext, external_fixed_ips: [{subnet_id: se, ip_address: 203.0.113.8}]}}
floatingips:
- {id: f1, floating_network_id: ext, floating_ip_address: 203.0.113.7, port_id: p1, fixed_ip_address: 10.0.1.5,
   router_id: r1}
security-groups:
- {id: g1, name: web, security_group_rules: [{id: x1, direction: ingress, ethertype: IPv4, remote_group_id: g1}]}
)";

}  // namespace kasane::controller
