// kasanectl apply
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/status.h"
#include "ctl/clients.h"
#include "ctl/commands/commands.h"
#include "ctl/commands/run.h"
#include "ctl/output/apply_report.h"
#include "ctl/output/faults.h"
#include "kasane/v1/controller.pb.h"
#include "model/files/resource_file.h"

namespace kasane::ctl {
namespace {

struct ApplyOptions {
  std::vector<std::string> files;
  bool dry_run = false;
  bool verbose = false;
};

struct Input {
  std::vector<files::ResourceFile> files;
  std::vector<model::Fault> faults;  // Each path begins with the file's name.
  bool readable = true;              // Every file could be parsed, so that the whole can be judged.
};

// "topology.yaml: ports[3]". The controller bounds paths: of a very long file name the end is enough.
std::string InFile(const std::string& file, const std::string& path) {
  constexpr size_t kLongestName = 256;
  const std::string name = file.size() > kLongestName ? "..." + file.substr(file.size() - kLongestName) : file;
  return fmt::format("{}: {}", name, path);
}

Input ReadFiles(const std::vector<std::string>& names) {
  Input input;
  for (const std::string& name : names) {
    auto file = files::ReadResourceFile(name);
    if (!file.ok()) {
      input.faults.push_back({"", Message(file.status())});
      input.readable = false;
      continue;
    }
    for (const model::Fault& fault : file->faults) {
      input.faults.push_back({InFile(file->name, fault.path), fault.message});
    }
    if (file->items.empty() && file->faults.empty()) input.faults.push_back({file->name, "has no resources"});
    input.files.push_back(*std::move(file));
  }
  return input;
}

// What the controller says of a value gets the line that the value is on.
void AddLine(const std::vector<files::ResourceFile>& files, model::Fault& fault) {
  for (const files::ResourceFile& file : files) {
    const std::string prefix = InFile(file.name, "");
    if (!fault.path.starts_with(prefix)) continue;
    const int line = files::LineOf(file, std::string_view(fault.path).substr(prefix.size()));
    if (line > 0) fault.message += fmt::format(" (line {})", line);
    return;
  }
}

v1::ApplyRequest RequestOf(const Input& input, bool dry_run) {
  v1::ApplyRequest request;
  request.mutable_options()->set_dry_run(dry_run);
  for (const files::ResourceFile& file : input.files) {
    for (const v1::ApplyItem& item : file.items) {
      v1::ApplyItem& copy = *request.add_items();
      copy = item;
      copy.set_path(InFile(file.name, item.path()));
    }
  }
  return request;
}

int Refuse(const Globals& globals, const std::vector<model::Fault>& faults, v1::ApplyResponse reply) {
  reply.clear_faults();
  for (const model::Fault& fault : faults) {
    v1::Fault& out = *reply.add_faults();
    out.set_path(fault.path);
    out.set_message(fault.message);
  }
  if (globals.format != Format::kTable) Print(globals, "", reply);
  return PrintFaults(faults, "nothing was applied");
}

int RunApply(const ApplyOptions& options, const Globals& globals) {
  const Input input = ReadFiles(options.files);
  if (!input.readable) return Refuse(globals, input.faults, {});
  auto client = ControllerClient::Dial(globals);
  // With faults of form the controller is still asked for the rest, so that all are shown at once.
  const bool dry_run = options.dry_run || !input.faults.empty();
  absl::StatusOr<v1::ApplyResponse> reply = client.ok() ? client->Apply(RequestOf(input, dry_run))
                                                        : absl::StatusOr<v1::ApplyResponse>(client.status());
  if (!reply.ok()) {
    if (!input.faults.empty()) Refuse(globals, input.faults, {});
    return Failed(reply.status());
  }
  std::vector<model::Fault> judged;
  for (const v1::Fault& fault : reply->faults()) {
    judged.push_back({fault.path(), fault.message()});
    AddLine(input.files, judged.back());
  }
  const std::vector<model::Fault> faults = MergeFaults(input.faults, judged);
  if (!faults.empty()) return Refuse(globals, faults, *std::move(reply));
  const std::string report = ApplyReport(*reply, input.files, options.dry_run, options.verbose);
  AddNotEnforcedOfFiles(input.files, *reply);
  Print(globals, report, *reply);
  return kOk;
}

}  // namespace

void AddApply(cli::Command& app, Action& action) {
  auto options = std::make_shared<ApplyOptions>();
  cli::Command command =
      app.AddCommand("apply", "Create or update the resources of files that people write, all or none");
  command.AddOption("-f,--file", options->files, "Resource file, YAML or JSON; - for standard input")
      .Required();
  command.AddFlag("--dry-run", options->dry_run, "Judge and say what would change; store nothing");
  command.AddFlag("-v,--verbose", options->verbose,
                  "List each resource that is not enforced, and Neutron's fields that are not used");
  command.Footer(
      "Every fault is printed at once, with file, field and line. A dump of a real cloud has things that no "
      "check "
      "lets\npass: `kasanectl import` takes what can be taken of it.\n"
      "Examples:\n  kasanectl apply -f topology.yaml\n  kasanectl apply -f topology.json --dry-run -v");
  RunWhenParsed(command, action, options, RunApply);
}

}  // namespace kasane::ctl
