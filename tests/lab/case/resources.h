// What a case's cloud consists of at the moment: the resources, and the VMs and hosts of the lab.
//
// VMs and hosts that a later step brings in are there from the start, as a hypervisor that is empty or a VM
// whose port nobody has told the controller of yet; the names and addresses of hosts thus never change in a
// case.
#pragma once

#include <absl/status/statusor.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kasane/v1/controller.pb.h"
#include "model/network_state.h"
#include "tests/lab/case/case_file.h"
#include "tests/lab/plan.h"

namespace kasane::lab {

class CaseResources {
 public:
  // `datapath_type`: of the hypervisors, as Hypervisor's.
  static absl::StatusOr<CaseResources> Make(const Case& subject, std::string datapath_type = "netdev");

  const model::NetworkState& state() const { return state_; }
  // The same with each host's tunnel addresses, as its agent tells the controller.
  model::NetworkState StateWithHosts() const;
  // All VMs, also those whose port is not there at the moment.
  const LabPlan& plan() const { return plan_; }

  absl::Status Apply(const std::vector<v1::ApplyItem>& items);
  void Delete(const std::vector<model::ResourceKey>& keys);
  // What must be applied so that the VM's port is bound to the host.
  absl::StatusOr<std::vector<v1::ApplyItem>> MoveItems(const std::string& vm, const std::string& host) const;

  absl::StatusOr<const Vm*> Find(std::string_view vm) const;
  absl::Status CheckHost(std::string_view host) const;
  // The port with this name or id, and its VM's name if it is one.
  absl::StatusOr<const model::Port*> FindPort(std::string_view name) const;
  const Vm* VmOfPort(const PortId& port) const;
  // True if the VM's port exists now, and it and its network are up.
  bool IsUp(const Vm& vm) const;
  const model::Port* PortOf(const Vm& vm) const;  // nullptr: it does not exist now.

  // Replaces mac(NAME), ip(NAME), ip6(NAME) and ll(NAME) by the MAC, the first address of the family or the
  // link-local address of the port NAME, and vtep(HOST) by the host's tunnel address.
  absl::StatusOr<std::string> Substitute(std::string_view text) const;

 private:
  absl::Status MakePlan();
  absl::Status Upsert(const std::vector<v1::ApplyItem>& items, bool present);
  absl::StatusOr<std::string> Address(std::string_view function, std::string_view name) const;

  std::map<model::ResourceKey, v1::Resource> resources_;
  model::NetworkState state_;
  model::NetworkState ever_;  // And what later steps bring in, or earlier ones removed.
  std::string datapath_type_;
  LabPlan plan_;
};

}  // namespace kasane::lab
