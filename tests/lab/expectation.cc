#include "tests/lab/expectation.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <exception>
#include <initializer_list>
#include <set>

#include "base/status.h"

namespace kasane::lab {
namespace {

constexpr char kNobody[] = "nobody";

// Reads YAML nodes; remembers the first fault. A missing node reads as empty once there is one.
class Reader {
 public:
  explicit Reader(std::string name) : name_(std::move(name)) {}

  absl::Status status() const { return status_; }

  void Fail(const YAML::Node& node, const std::string& what) {
    if (status_.ok()) status_ = Invalid("{}:{}: {}", name_, node.IsDefined() ? node.Mark().line + 1 : 0, what);
  }

  // Checks that `node` is a map with these keys alone, of which the required ones are there.
  bool Map(const YAML::Node& node, const std::set<std::string>& required,
           const std::set<std::string>& optional) {
    if (!node.IsMap()) {
      Fail(node, "expected a map");
      return false;
    }
    for (const auto& entry : node) {
      const std::string key = entry.first.Scalar();
      if (required.count(key) == 0 && optional.count(key) == 0)
        Fail(entry.first, fmt::format("unknown key \"{}\"", key));
    }
    for (const std::string& key : required) {
      if (!node[key].IsDefined()) Fail(node, fmt::format("\"{}\" is missing", key));
    }
    return status_.ok();
  }

  std::vector<std::string> Strings(const YAML::Node& node) {
    std::vector<std::string> strings;
    if (!node.IsSequence() || node.size() == 0) Fail(node, "expected a list of names");
    for (const YAML::Node& entry : node) {
      if (!entry.IsScalar()) Fail(entry, "expected a name");
      if (status_.ok()) strings.push_back(entry.Scalar());
    }
    return strings;
  }

  std::string String(const YAML::Node& node) {
    if (!node.IsScalar()) Fail(node, "expected text");
    return status_.ok() ? node.Scalar() : "";
  }

  IpAddress Address(const YAML::Node& node) {
    auto address = IpAddress::Parse(String(node));
    if (!address.ok()) Fail(node, Message(address.status()));
    return address.value_or(IpAddress());
  }

  std::vector<IpFamily> Families(const YAML::Node& node) {
    std::vector<IpFamily> families;
    for (const std::string& text : Strings(node)) {
      if (text != "v4" && text != "v6") Fail(node, fmt::format("\"{}\" is neither v4 nor v6", text));
      families.push_back(text == "v6" ? IpFamily::kV6 : IpFamily::kV4);
    }
    return families;
  }

  ReachGroup Group(const YAML::Node& node) {
    ReachGroup group;
    if (!Map(node, {"families", "vms"}, {"name"})) return group;
    if (node["name"].IsDefined()) group.name = String(node["name"]);
    group.families = Families(node["families"]);
    group.vms = Strings(node["vms"]);
    return group;
  }

  ExtraProbe Probe(const YAML::Node& node) {
    ExtraProbe probe;
    if (!Map(node, {"from", "to", "answered_by"}, {})) return probe;
    probe.from = Strings(node["from"]);
    probe.to = Address(node["to"]);
    const std::string answerer = String(node["answered_by"]);
    if (answerer != kNobody) probe.answered_by = answerer;
    return probe;
  }

  Expectation File(const YAML::Node& root) {
    Expectation expectation;
    if (!Map(root, {"reach"}, {"probes"})) return expectation;
    if (!root["reach"].IsSequence()) Fail(root["reach"], "expected a list of groups");
    for (const YAML::Node& group : root["reach"]) expectation.groups.push_back(Group(group));
    if (!root["probes"].IsDefined()) return expectation;
    if (!root["probes"].IsSequence()) Fail(root["probes"], "expected a list of probes");
    for (const YAML::Node& probe : root["probes"]) expectation.probes.push_back(Probe(probe));
    return expectation;
  }

 private:
  std::string name_;
  absl::Status status_;
};

absl::Status CheckKnown(const std::vector<std::string>& vms, const LabPlan& plan, std::set<std::string>& seen) {
  for (const std::string& vm : vms) {
    if (FindVm(plan, vm) == nullptr)
      return Invalid("the expectation names the VM \"{}\", which the lab has not", vm);
    seen.insert(vm);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Expectation> ParseExpectation(const std::string& name, const std::string& text) {
  Reader reader(name);
  try {
    Expectation expectation = reader.File(YAML::Load(text));
    RETURN_IF_ERROR(reader.status());
    return expectation;
  } catch (const std::exception& error) {
    return Invalid("{}: {}", name, error.what());
  }
}

absl::Status CheckExpectation(const Expectation& expectation, const LabPlan& plan) {
  std::set<std::string> grouped;
  for (const ReachGroup& group : expectation.groups) {
    // A fence needs an answer to wait for.
    if (group.vms.size() < 2) {
      return Invalid(
          "the group \"{}\" has fewer than two VMs: that a VM is not reached can only be proved for one "
          "that reaches another",
          group.name);
    }
    RETURN_IF_ERROR(CheckKnown(group.vms, plan, grouped));
  }
  std::set<std::string> probing;
  for (const ExtraProbe& probe : expectation.probes) {
    RETURN_IF_ERROR(CheckKnown(probe.from, plan, probing));
    if (probe.answered_by) RETURN_IF_ERROR(CheckKnown({*probe.answered_by}, plan, probing));
  }
  for (const Vm& vm : plan.vms) {
    if (grouped.count(vm.node) == 0)
      return Invalid("the expectation says nothing about the VM \"{}\"", vm.node);
  }
  return absl::OkStatus();
}

bool ExpectsReach(const Expectation& expectation, const std::string& from, const std::string& to,
                  IpFamily family) {
  const auto has = [](const auto& list, const auto& value) {
    return std::find(list.begin(), list.end(), value) != list.end();
  };
  return std::any_of(expectation.groups.begin(), expectation.groups.end(), [&](const ReachGroup& group) {
    return has(group.families, family) && has(group.vms, from) && has(group.vms, to);
  });
}

}  // namespace kasane::lab
