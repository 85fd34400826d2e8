#include "tests/lab/matrix.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/status.h"

namespace kasane::lab {
namespace {

using ProbeKey = std::pair<size_t, IpAddress>;

bool OwnsAddress(const Vm& vm, const IpAddress& address) {
  return std::any_of(vm.addresses.begin(), vm.addresses.end(),
                     [&](const IpPrefix& own) { return own.address() == address; });
}

// Who should answer `from` at an address of a VM: itself, or the VM in its reach.
absl::StatusOr<std::optional<std::string>> ExpectedAnswerer(const LabPlan& plan, const Expectation& expectation,
                                                            const Vm& from, const IpAddress& address) {
  if (OwnsAddress(from, address)) return std::optional<std::string>(from.node);
  std::optional<std::string> answerer;
  for (const Vm& vm : plan.vms) {
    if (!OwnsAddress(vm, address) || !ExpectsReach(expectation, from.node, vm.node, address.family())) continue;
    if (answerer) {
      return Invalid("the expectation lets {} reach both {} and {} at {}", from.node, *answerer, vm.node,
                     address);
    }
    answerer = vm.node;
  }
  return answerer;
}

std::map<ProbeKey, size_t> IndexOf(const std::vector<Probe>& probes) {
  std::map<ProbeKey, size_t> index;
  for (size_t i = 0; i < probes.size(); ++i) index[{probes[i].vm, probes[i].to}] = i;
  return index;
}

// The answers that concern whether `to` is reached: its own, and those of VMs that do not have the address.
std::set<std::string> Concerning(const LabPlan& plan, const Vm& to, const IpAddress& address,
                                 const std::set<std::string>& answers) {
  std::set<std::string> concerning;
  for (const std::string& name : answers) {
    const Vm* vm = FindVm(plan, name);
    if (name == to.node || vm == nullptr || !OwnsAddress(*vm, address)) concerning.insert(name);
  }
  return concerning;
}

size_t IndexOfVm(const LabPlan& plan, const std::string& node) { return FindVm(plan, node) - plan.vms.data(); }

std::string Join(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " and ") + name;
  return text;
}

// What one VM sees of another.
struct Cell {
  bool reached[2] = {true, true};    // IPv4, IPv6: by every address of the family,
  bool present[2] = {false, false};  // of which there is one.
  bool as_expected = true;
};

using Cells = std::map<std::pair<std::string, std::string>, Cell>;

Cells CellsOf(const std::vector<Verdict>& verdicts) {
  Cells cells;
  for (const Verdict& verdict : verdicts) {
    if (!verdict.to) continue;
    Cell& cell = cells[{verdict.from, *verdict.to}];
    const int family = verdict.address.is_v4() ? 0 : 1;
    cell.present[family] = true;
    cell.reached[family] = cell.reached[family] && verdict.saw.count(*verdict.to) != 0;
    cell.as_expected = cell.as_expected && verdict.AsExpected();
  }
  return cells;
}

std::string CellText(const Cell& cell) {
  std::string text;
  if (cell.present[0] && cell.reached[0]) text += '4';
  if (cell.present[1] && cell.reached[1]) text += '6';
  if (text.empty()) text = ".";
  return cell.as_expected ? text : text + '!';
}

size_t CountAsExpected(const std::vector<Verdict>& verdicts) {
  return static_cast<size_t>(std::count_if(verdicts.begin(), verdicts.end(),
                                           [](const Verdict& verdict) { return verdict.AsExpected(); }));
}

}  // namespace

bool Verdict::AsExpected() const {
  if (expected) return saw == std::set<std::string>{*expected};
  return saw.empty() && proved && sent.ok();
}

std::string Verdict::ToString() const {
  const std::string what =
      to ? fmt::format("{} -> {} ({})", from, *to, address) : fmt::format("{} -> {}", from, address);
  const std::string wanted = expected ? fmt::format("an answer from {}", *expected) : "no answer";
  const std::string got = !saw.empty() ? fmt::format("an answer from {}", Join(saw))
                          : !sent.ok() ? fmt::format("none, but {}", Message(sent))
                          : proved     ? std::string("none")
                                       : std::string("none, but no other answer to rely on either");
  return fmt::format("{}: expected {}, saw {}", what, wanted, got);
}

absl::StatusOr<std::vector<Probe>> ProbesFor(const LabPlan& plan, const Expectation& expectation) {
  std::map<ProbeKey, Probe> probes;
  for (size_t from = 0; from < plan.vms.size(); ++from) {
    for (const Vm& to : plan.vms) {
      if (to.node == plan.vms[from].node) continue;
      for (const IpPrefix& address : to.addresses) {
        ASSIGN_OR_RETURN(const auto answerer,
                         ExpectedAnswerer(plan, expectation, plan.vms[from], address.address()));
        // A VM's answer to itself says nothing of the network.
        const bool fence = answerer && *answerer != plan.vms[from].node;
        probes[{from, address.address()}] = {from, address.address(), fence};
      }
    }
  }
  for (const ExtraProbe& extra : expectation.probes) {
    for (const std::string& node : extra.from) {
      const size_t from = IndexOfVm(plan, node);
      probes.try_emplace({from, extra.to},
                         Probe{from, extra.to, extra.answered_by && *extra.answered_by != node});
    }
  }
  std::vector<Probe> list;
  for (const auto& [key, probe] : probes) list.push_back(probe);
  return list;
}

std::vector<Verdict> Judge(const LabPlan& plan, const Expectation& expectation,
                           const std::vector<Probe>& probes, const std::vector<ProbeResult>& results) {
  const std::map<ProbeKey, size_t> index = IndexOf(probes);
  std::vector<Verdict> verdicts;
  for (size_t from = 0; from < plan.vms.size(); ++from) {
    const std::string& name = plan.vms[from].node;
    for (const Vm& to : plan.vms) {
      if (to.node == name) continue;
      for (const IpPrefix& prefix : to.addresses) {
        const IpAddress& address = prefix.address();
        const ProbeResult& result = results[index.at({from, address})];
        Verdict verdict{
            name,          to.node,    address, std::nullopt, Concerning(plan, to, address, result.answered_by),
            result.proved, result.sent};
        if (ExpectsReach(expectation, name, to.node, address.family())) verdict.expected = to.node;
        verdicts.push_back(std::move(verdict));
      }
    }
  }
  for (const ExtraProbe& extra : expectation.probes) {
    for (const std::string& node : extra.from) {
      const ProbeResult& result = results[index.at({IndexOfVm(plan, node), extra.to})];
      verdicts.push_back(
          {node, std::nullopt, extra.to, extra.answered_by, result.answered_by, result.proved, result.sent});
    }
  }
  return verdicts;
}

std::string MatrixText(const LabPlan& plan, const std::vector<Verdict>& verdicts) {
  size_t name_width = 0;
  size_t host_width = 0;
  for (const Vm& vm : plan.vms) {
    name_width = std::max(name_width, vm.node.size());
    host_width = std::max(host_width, plan.hosts[vm.host].node.size());
  }
  std::string text;
  const auto add_line = [&text](const std::string& line) {
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  };
  std::string line = fmt::format("{:>{}}", "", 6 + name_width + host_width);
  for (size_t column = 0; column < plan.vms.size(); ++column) line += fmt::format("{:<4}", column + 1);
  add_line(line);
  Cells cells = CellsOf(verdicts);
  for (size_t row = 0; row < plan.vms.size(); ++row) {
    const Vm& from = plan.vms[row];
    line = fmt::format("{:>3} {:<{}} {:<{}} ", row + 1, from.node, name_width, plan.hosts[from.host].node,
                       host_width);
    for (const Vm& to : plan.vms) {
      line += fmt::format("{:<4}", to.node == from.node ? "-" : CellText(cells[{from.node, to.node}]));
    }
    add_line(line);
  }
  text += "46: reached by IPv4 and IPv6; 4, 6: by one of them; .: not reached; !: not as expected\n";
  for (const Verdict& verdict : verdicts) {
    if (!verdict.AsExpected()) text += verdict.ToString() + '\n';
  }
  return text + fmt::format("{} of {} verdicts as expected\n", CountAsExpected(verdicts), verdicts.size());
}

std::string MatrixJson(const LabPlan& plan, const std::vector<Verdict>& verdicts) {
  nlohmann::json json;
  json["verdicts"] = verdicts.size();
  json["as_expected"] = CountAsExpected(verdicts);
  for (const Vm& vm : plan.vms) json["matrix"][vm.node] = nlohmann::json::object();
  for (const auto& [pair, cell] : CellsOf(verdicts)) {
    auto families = nlohmann::json::array();
    if (cell.present[0] && cell.reached[0]) families.push_back("v4");
    if (cell.present[1] && cell.reached[1]) families.push_back("v6");
    json["matrix"][pair.first][pair.second] = families;
  }
  json["unexpected"] = nlohmann::json::array();
  for (const Verdict& verdict : verdicts) {
    if (verdict.AsExpected()) continue;
    nlohmann::json entry = {{"from", verdict.from},
                            {"address", verdict.address.ToString()},
                            {"saw", verdict.saw},
                            {"proved", verdict.proved}};
    if (!verdict.sent.ok()) entry["not_sent"] = Message(verdict.sent);
    entry["to"] = verdict.to ? nlohmann::json(*verdict.to) : nlohmann::json();
    entry["expected"] = verdict.expected ? nlohmann::json(*verdict.expected) : nlohmann::json();
    json["unexpected"].push_back(std::move(entry));
  }
  return json.dump(2) + "\n";
}

bool AllAsExpected(const std::vector<Verdict>& verdicts) {
  return !verdicts.empty() && CountAsExpected(verdicts) == verdicts.size();
}

}  // namespace kasane::lab
