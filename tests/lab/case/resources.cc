#include "tests/lab/case/resources.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <utility>

#include "base/status.h"
#include "model/decode.h"

namespace kasane::lab {
namespace {

std::vector<v1::ApplyItem> ItemsOf(const files::ResourceFile& file) {
  return {file.items.begin(), file.items.end()};
}

template <typename T, typename Name>
std::string Names(const std::vector<T>& all, Name name) {
  std::string text;
  for (const T& one : all) text += (text.empty() ? "" : ", ") + name(one);
  return text;
}

bool IsNameCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
}

constexpr std::string_view kFunctions[] = {"mac", "ip", "ip6", "ll", "vtep"};

}  // namespace

absl::StatusOr<CaseResources> CaseResources::Make(const Case& subject, std::string datapath_type) {
  CaseResources out;
  out.datapath_type_ = std::move(datapath_type);
  std::set<HostId> hosts;
  for (const CaseStep& step : subject.steps) {
    if (const auto* apply = std::get_if<ApplyStep>(&step.action)) {
      RETURN_IF_ERROR(Annotate(out.Upsert(ItemsOf(apply->resources), /*present=*/false),
                               fmt::format("{}:{}", subject.file, step.line)));
    }
    if (const auto* move = std::get_if<MoveStep>(&step.action)) hosts.insert(HostId(move->to));
  }
  RETURN_IF_ERROR(Annotate(out.Upsert(ItemsOf(subject.topology), /*present=*/true), subject.topology_file));
  for (const auto& [id, port] : out.ever_.ports) {
    if (!port->host.empty()) hosts.insert(port->host);
  }
  for (const HostId& id : hosts) {
    if (id.empty() || out.ever_.hosts.count(id) != 0) continue;
    auto host = std::make_shared<model::Host>();
    host->id = id;
    out.ever_.hosts.emplace(id, std::move(host));
  }
  RETURN_IF_ERROR(Annotate(out.MakePlan(), subject.file));
  return out;
}

absl::Status CaseResources::MakePlan() {
  ASSIGN_OR_RETURN(plan_, lab::MakePlan(ever_));
  for (Hypervisor& host : plan_.hosts) host.datapath_type = datapath_type_;
  return absl::OkStatus();
}

absl::Status CaseResources::Upsert(const std::vector<v1::ApplyItem>& items, bool present) {
  std::vector<model::Fault> faults;
  for (const v1::ApplyItem& item : items) {
    const auto resource = Decode(item.resource(), item.path(), faults);
    if (!resource) continue;
    model::Upsert(ever_, *resource);
    if (!present) continue;
    model::Upsert(state_, *resource);
    resources_[model::KeyOf(*resource)] = item.resource();
  }
  if (faults.empty()) return absl::OkStatus();
  std::string text;
  for (const model::Fault& fault : faults) text += (text.empty() ? "" : "; ") + ToString(fault);
  return absl::InvalidArgumentError(Absl(text));
}

absl::Status CaseResources::Apply(const std::vector<v1::ApplyItem>& items) {
  RETURN_IF_ERROR(Upsert(items, /*present=*/true));
  return MakePlan();
}

void CaseResources::Delete(const std::vector<model::ResourceKey>& keys) {
  for (const model::ResourceKey& key : keys) {
    Erase(state_, key);
    resources_.erase(key);
  }
}

absl::StatusOr<std::vector<v1::ApplyItem>> CaseResources::MoveItems(const std::string& vm,
                                                                    const std::string& host) const {
  ASSIGN_OR_RETURN(const Vm* const moved, Find(vm));
  RETURN_IF_ERROR(CheckHost(host));
  const auto resource = resources_.find({model::Kind::kPort, moved->port.str()});
  if (resource == resources_.end()) return Invalid("port {} of {} does not exist now", moved->port, vm);
  v1::ApplyItem item;
  item.set_path(fmt::format("port {}", vm));
  *item.mutable_resource() = resource->second;
  item.mutable_resource()->mutable_port()->set_binding_host_id(host);
  return std::vector<v1::ApplyItem>{item};
}

model::NetworkState CaseResources::StateWithHosts() const {
  model::NetworkState state = state_;
  for (const Hypervisor& hypervisor : plan_.hosts) {
    auto host = std::make_shared<model::Host>();
    host->id = HostId(hypervisor.node);
    (hypervisor.vtep.address().is_v4() ? host->tunnel_v4 : host->tunnel_v6) = hypervisor.vtep.address();
    state.hosts[host->id] = std::move(host);
  }
  return state;
}

absl::StatusOr<const Vm*> CaseResources::Find(std::string_view vm) const {
  if (const Vm* found = FindVm(plan_, vm)) return found;
  return Invalid("there is no VM \"{}\"; expected one of {}", std::string(vm),
                 Names(plan_.vms, [](const Vm& one) { return one.node; }));
}

absl::Status CaseResources::CheckHost(std::string_view host) const {
  for (const Hypervisor& one : plan_.hosts) {
    if (one.node == host) return absl::OkStatus();
  }
  return Invalid("there is no host \"{}\"; expected one of {}", std::string(host),
                 Names(plan_.hosts, [](const Hypervisor& one) { return one.node; }));
}

absl::StatusOr<const model::Port*> CaseResources::FindPort(std::string_view name) const {
  const Vm* vm = FindVm(plan_, name);
  for (const auto& [id, port] : ever_.ports) {
    if (vm != nullptr ? id == vm->port : (id.str() == name || port->name == name)) return port.get();
  }
  return Invalid("there is no port \"{}\"", std::string(name));
}

const Vm* CaseResources::VmOfPort(const PortId& port) const {
  const auto found =
      std::find_if(plan_.vms.begin(), plan_.vms.end(), [&](const Vm& vm) { return vm.port == port; });
  return found == plan_.vms.end() ? nullptr : &*found;
}

const model::Port* CaseResources::PortOf(const Vm& vm) const {
  const auto found = state_.ports.find(vm.port);
  return found == state_.ports.end() ? nullptr : found->second.get();
}

bool CaseResources::IsUp(const Vm& vm) const {
  const model::Port* port = PortOf(vm);
  if (port == nullptr || !port->admin_state_up || port->host.str() != plan_.hosts[vm.host].node) return false;
  const auto network = state_.networks.find(port->network);
  return network != state_.networks.end() && network->second->admin_state_up;
}

absl::StatusOr<std::string> CaseResources::Address(std::string_view function, std::string_view name) const {
  if (function == "vtep") {
    RETURN_IF_ERROR(CheckHost(name));
    for (const Hypervisor& host : plan_.hosts) {
      if (host.node == name) return host.vtep.address().ToString();
    }
  }
  ASSIGN_OR_RETURN(const model::Port* const port, FindPort(name));
  if (function == "mac") return port->mac.ToString();
  if (function == "ll") return IpAddress::LinkLocal(port->mac).ToString();
  for (const model::FixedIp& ip : port->fixed_ips) {
    if (ip.address.is_v4() == (function == "ip")) return ip.address.ToString();
  }
  return Invalid("{}({}): the port has no address of the family", std::string(function), std::string(name));
}

absl::StatusOr<std::string> CaseResources::Substitute(std::string_view text) const {
  std::string out;
  size_t at = 0;
  while (at < text.size()) {
    size_t end = at;
    while (end < text.size() && IsNameCharacter(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    size_t close = end == text.size() || text[end] != '(' ? std::string_view::npos : end + 1;
    while (close < text.size() && IsNameCharacter(text[close])) ++close;
    const bool call = std::find(std::begin(kFunctions), std::end(kFunctions), word) != std::end(kFunctions) &&
                      close < text.size() && text[close] == ')' && close > end + 1;
    if (call) {
      ASSIGN_OR_RETURN(const std::string address, Address(word, text.substr(end + 1, close - end - 1)));
      out += address;
      at = close + 1;
    } else {
      end = std::max(end, at + 1);
      out += text.substr(at, end - at);
      at = end;
    }
  }
  return out;
}

}  // namespace kasane::lab
