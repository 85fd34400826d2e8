// kasanectl import
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/status.h"
#include "ctl/clients.h"
#include "ctl/commands/commands.h"
#include "ctl/commands/run.h"
#include "ctl/import/import.h"
#include "ctl/output/import_report.h"
#include "kasane/v1/controller.pb.h"
#include "model/files/resource_file.h"

namespace kasane::ctl {
namespace {

struct ImportOptions {
  std::vector<std::string> files;
  bool dry_run = false;
  bool verbose = false;
};

absl::StatusOr<ImportPlan> ReadDump(const std::vector<std::string>& names) {
  std::vector<files::ResourceFile> read;
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(files::ResourceFile file, files::ReadResourceFile(name, files::Unknown::kNote));
    file.document.reset();  // The largest part of it, and of no use any more.
    read.push_back(std::move(file));
  }
  return ImportPlan(std::move(read));
}

int RunImport(const ImportOptions& options, Globals globals) {
  auto plan = ReadDump(options.files);
  if (!plan.ok()) return Failed(plan.status());
  if (plan->empty()) return Failed(Invalid("{}: has no resources", fmt::join(options.files, ", ")));
  // A cloud takes the controller longer than what people write.
  constexpr double kResourcesPerSecond = 1000;
  globals.timeout_seconds += static_cast<double>(plan->Items().size()) / kResourcesPerSecond;
  auto client = ControllerClient::Dial(globals);
  if (!client.ok()) return Failed(client.status());
  const auto reply =
      Import(*plan, options.dry_run, [&](const v1::ApplyRequest& request) { return client->Apply(request); });
  if (!reply.ok()) return Failed(reply.status());
  fmt::print("{}", globals.format == Format::kTable
                       ? ImportText(*plan, *reply, options.dry_run, options.verbose)
                       : Render(ImportJson(*plan, *reply, options.dry_run), globals.format));
  const ImportCounts counts = CountImport(*plan);
  return counts.whole + counts.in_part > 0 ? kOk : kFailed;
}

}  // namespace

void AddImport(cli::Command& app, Action& action) {
  auto options = std::make_shared<ImportOptions>();
  cli::Command command =
      app.AddCommand("import", "Take what can be taken of a dump of a real cloud, and say what cannot");
  command.AddOption("FILE", options->files, "Replies of Neutron's API, JSON or YAML; - for standard input")
      .Required();
  command.AddFlag("--dry-run", options->dry_run, "Say what would be taken; store nothing");
  command.AddFlag(
      "-v,--verbose", options->verbose,
      "List each resource that is taken in part or left out, and Neutron's fields that are not used");
  command.Footer(
      "Where `apply` refuses a file for one thing that it does not know, `import` takes each resource whole, "
      "in "
      "part\n(what is not enforced is named), or leaves it out with its reason; what depends on it goes with "
      "it. "
      "All of\nthem are counted, and stored in one transaction. Importing again updates what is there.\n\n"
      "Examples:\n"
      "  kasanectl import networks.json subnets.json ports.json routers.json --dry-run\n"
      "  kasanectl import cloud.json -o json | jq '.left_out_resources'\n\n"
      "Exit codes: 0 what could be taken is stored (see the counts), 1 nothing could be taken, read or stored, "
      "2 wrong\nusage.");
  RunWhenParsed(command, action, options, RunImport);
}

}  // namespace kasane::ctl
