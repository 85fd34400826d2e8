#include "ctl/commands/run.h"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/status.h"
#include "model/field.h"
#include "model/files/neutron_form.h"

namespace kasane::ctl {

int Failed(const absl::Status& status) {
  fmt::print(stderr, "kasanectl: {}\n", Message(status));
  return kFailed;
}

int WrongUsage(std::string_view message) {
  fmt::print(stderr, "kasanectl: {}\n", message);
  return kUsage;
}

int PrintFaults(const std::vector<model::Fault>& faults, std::string_view consequence) {
  for (const model::Fault& fault : faults) {
    fmt::print(stderr, "{}{}{}\n", fault.path, fault.path.empty() ? "" : ": ", fault.message);
  }
  fmt::print(stderr, "{}; {}\n", Count(faults.size(), "fault"), consequence);
  return kFailed;
}

void Print(const Globals& globals, const std::string& table, const google::protobuf::Message& reply) {
  fmt::print("{}", globals.format == Format::kTable ? table : Render(ToJson(reply), globals.format));
}

std::optional<model::Kind> KindArgument(const std::string& text) {
  const auto kind = model::KindFromText(text);
  if (kind) return kind;
  std::vector<std::string> kinds;
  for (const model::Kind known : model::kAllKinds) kinds.emplace_back(model::Plural(known));
  const std::string_view nearest = files::NearestSection(text);
  WrongUsage(fmt::format("{} is no kind of resource{}; there are {}", model::Quoted(text),
                         nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest), Join(kinds)));
  return std::nullopt;
}

}  // namespace kasane::ctl
