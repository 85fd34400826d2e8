#include "agent/ctl/run.h"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "agent/ctl/neutron_form.h"
#include "agent/state/field.h"
#include "vswitch/base/status.h"

namespace kasane::ctl {

int Failed(const absl::Status& status) {
  fmt::print(stderr, "kasanectl: {}\n", Message(status));
  return kFailed;
}

int WrongUsage(std::string_view message) {
  fmt::print(stderr, "kasanectl: {}\n", message);
  return kUsage;
}

int PrintFaults(const std::vector<Fault>& faults, std::string_view consequence) {
  for (const Fault& fault : faults) {
    fmt::print(stderr, "{}{}{}\n", fault.path, fault.path.empty() ? "" : ": ", fault.message);
  }
  fmt::print(stderr, "{}; {}\n", Count(faults.size(), "fault"), consequence);
  return kFailed;
}

void Print(const Globals& globals, const std::string& table, const google::protobuf::Message& reply) {
  fmt::print("{}", globals.format == Format::kTable ? table : Render(ToJson(reply), globals.format));
}

std::optional<Kind> KindArgument(const std::string& text) {
  const auto kind = KindFromText(text);
  if (kind) return kind;
  std::vector<std::string> kinds;
  for (const Kind known : kAllKinds) kinds.emplace_back(Plural(known));
  const std::string_view nearest = NearestSection(text);
  WrongUsage(fmt::format("{} is no kind of resource{}; there are {}", Quoted(text),
                         nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest), Join(kinds)));
  return std::nullopt;
}

}  // namespace kasane::ctl
