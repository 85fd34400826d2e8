// When everything that was asked for is applied, on every host that runs.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <thread>
#include <utility>

#include "base/status.h"
#include "model/scope.h"
#include "tests/lab/case/ovs_world.h"
#include "tests/lab/process.h"

namespace kasane::lab {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kReadyDeadline{30};
constexpr std::chrono::milliseconds kCallDeadline{10000};
// The APIs only answer questions, so they are asked until the answer is the one waited for.
constexpr std::chrono::milliseconds kPace{10};

}  // namespace

bool OvsWorld::HostRuns(const std::string& host) const {
  return agents_down_.count(host) == 0 && switches_down_.count(host) == 0;
}

std::string OvsWorld::HostLacks(const std::string& host, const ControllerProgress* controller) {
  const auto progress = agents_.at(host).Progress();
  if (!progress.ok()) return Message(progress.status());
  // An agent that started without its controller knows nothing yet, and leaves the switch as it is.
  if (controller == nullptr && !progress->synced && progress->applied == 0) return "";
  if (!progress->datapath_ready) return fmt::format("the switch of {} is not ready", host);
  if (controller != nullptr) {
    if (!progress->synced) return fmt::format("{} is not in sync with the controller", host);
    const std::set<model::ResourceKey> scope = model::ComputeScope(controller->state, HostId(host));
    uint64_t needed = 0;
    for (const model::ResourceKey& key : scope) needed = std::max(needed, controller->revisions.at(key));
    for (const model::ResourceKey& key : scopes_[host]) {
      if (scope.count(key) == 0) floor_[host] = last_revision_;
    }
    scopes_[host] = scope;
    needed = std::max(needed, floor_[host]);
    if (progress->applied < needed) {
      return fmt::format("{} has applied revision {}, it needs {}", host, progress->applied, needed);
    }
  }
  if (std::string lack = LacksClaim(host); !lack.empty()) return lack;
  for (const Vm& vm : resources_.plan().vms) {
    if (resources_.plan().hosts[vm.host].node != host || !resources_.IsUp(vm)) continue;
    if (progress->active_ports.count(vm.port) == 0)
      return fmt::format("port {} is not active on {}", vm.node, host);
    if (controller != nullptr && controller->ports.at(vm.port).state != PortState::kActive) {
      return fmt::format("port {} is not ACTIVE", vm.node);
    }
  }
  for (const Hypervisor& other : resources_.plan().hosts) {
    if (switches_down_.count(other.node) == 0 && progress->tunnels_not_ready.count(other.vtep.address()) != 0) {
      return fmt::format("the tunnel from {} to {} is not ready", host, other.node);
    }
  }
  const auto differences = agents_.at(host).FlowDifferences();
  if (!differences.ok()) return Message(differences.status());
  return differences->empty() ? "" : differences->front();
}

// The owner of an address claims nothing, unless it claims it back.
bool OvsWorld::ClaimIsKnown(const ControllerProgress& controller) const {
  const slowpath::Announcement& announced = *awaited_claim_;
  const auto claim = controller.state.address_claims.find(model::MakeClaimId(announced.network, announced.ip));
  if (claim != controller.state.address_claims.end()) {
    return claim->second->mac == announced.mac && claim->second->port == announced.port;
  }
  const auto port = resources_.state().ports.find(announced.port);
  return port != resources_.state().ports.end() && port->second->mac == announced.mac &&
         (announced.ip == IpAddress::LinkLocal(announced.mac) ||
          std::any_of(port->second->fixed_ips.begin(), port->second->fixed_ips.end(),
                      [&](const model::FixedIp& ip) { return ip.address == announced.ip; }));
}

// A host with a VM on the claim's network answers for the address with the MAC that was announced, whether or
// not the controller knows of it.
std::string OvsWorld::LacksClaim(const std::string& host) {
  if (!awaited_claim_) return "";
  for (const Vm& vm : resources_.plan().vms) {
    if (resources_.plan().hosts[vm.host].node != host || !resources_.IsUp(vm) ||
        resources_.PortOf(vm)->network != awaited_claim_->network) {
      continue;
    }
    const auto mac = agents_.at(host).Resolve(vm.port, awaited_claim_->ip);
    if (mac.ok() && *mac == awaited_claim_->mac) return "";
    return fmt::format("{} does not know that {} is at {}", host, awaited_claim_->ip, awaited_claim_->mac);
  }
  return "";
}

absl::StatusOr<std::string> OvsWorld::NotApplied() {
  std::optional<ControllerProgress> controller;
  if (!controller_down_) {
    auto progress = controller_->Progress(kCallDeadline);
    // The connection of before its restart.
    if (progress.status().code() == absl::StatusCode::kUnavailable) return Message(progress.status());
    ASSIGN_OR_RETURN(controller, std::move(progress));
  }
  if (controller && awaited_claim_ && !ClaimIsKnown(*controller)) {
    return fmt::format("the controller does not know that {} speaks for {}", awaited_claim_->port,
                       awaited_claim_->ip);
  }
  for (const Hypervisor& host : resources_.plan().hosts) {
    if (!HostRuns(host.node)) continue;
    if (controller) {
      const auto known = controller->hosts.find(HostId(host.node));
      if (known == controller->hosts.end() || !known->second.connected)
        return fmt::format("{} is not connected", host.node);
    }
    std::string lack = HostLacks(host.node, controller ? &*controller : nullptr);
    if (!lack.empty()) return lack;
  }
  return std::string();
}

absl::Status OvsWorld::TellSwitches(const std::string& command) {
  std::vector<std::future<absl::Status>> told;
  for (const Hypervisor& host : resources_.plan().hosts) {
    if (switches_down_.count(host.node) != 0) continue;
    told.push_back(std::async(std::launch::async, [this, node = host.node, command] {
      return RunIn(node, {appctl_, command});
    }));
  }
  absl::Status result;
  for (std::future<absl::Status>& status : told) result.Update(status.get());
  return result;
}

absl::Status OvsWorld::WaitApplied() {
  const auto end = Clock::now() + kReadyDeadline;
  while (true) {
    ASSIGN_OR_RETURN(const std::string lack, NotApplied());
    if (lack.empty()) return TellSwitches("revalidator/wait");
    if (Clock::now() >= end) {
      return Error(absl::StatusCode::kDeadlineExceeded, "not applied after {} s: {}", kReadyDeadline.count(),
                   lack);
    }
    std::this_thread::sleep_for(kPace);
  }
}

}  // namespace kasane::lab
