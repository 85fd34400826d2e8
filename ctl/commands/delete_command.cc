// kasanectl delete
#include <fmt/format.h>

#include <set>

#include "base/status.h"
#include "ctl/clients.h"
#include "ctl/commands/commands.h"
#include "ctl/commands/run.h"
#include "ctl/output/apply_report.h"
#include "ctl/selection.h"
#include "kasane/v1/controller.pb.h"
#include "model/field.h"
#include "model/files/resource_file.h"

namespace kasane::ctl {
namespace {

struct DeleteOptions {
  std::string kind;
  std::vector<std::string> ids;
  std::vector<std::string> files;
  bool dry_run = false;
};

// The keys of all resources in the files. Everything else in them does not matter here.
absl::Status AddKeysOfFile(const std::string& name, v1::DeleteRequest& request) {
  ASSIGN_OR_RETURN(const files::ResourceFile file, files::ReadResourceFile(name));
  for (const v1::ApplyItem& item : file.items) {
    const auto key = model::DecodeKey(item.resource());
    if (!key) return Invalid("{}: {} has no id: which resource is to be deleted?", name, item.path());
    *request.add_items()->mutable_key() = model::EncodeKey(*key);
  }
  if (file.items.empty()) return Invalid("{}: has no resources", name);
  return absl::OkStatus();
}

// The keys of what the words name, as `get` takes them. A word that names nothing goes as it is: the controller
// says so.
absl::Status AddKeysOfWords(ControllerClient& client, model::Kind kind, const std::vector<std::string>& words,
                            v1::DeleteRequest& request) {
  v1::ListRequest list;
  list.mutable_filter()->add_kinds(model::EncodeKey({kind, "-"}).kind());
  ASSIGN_OR_RETURN(const v1::ListResponse reply, client.List(list));
  Resources all;
  for (const v1::ResourceWithStatus& resource : reply.resources()) all.push_back(&resource);
  std::set<std::string> ids;
  for (const std::string& word : words) {
    const Resources found = Matching(all, word);
    if (found.size() > 1) {
      std::vector<std::string> candidates;
      for (const auto* resource : found) candidates.push_back(model::DecodeKey(resource->resource())->id);
      return Error(absl::StatusCode::kFailedPrecondition,
                   "{} names {}: {}; give the id of the one that is meant", model::Quoted(word),
                   Count(found.size(), Label(kind)), Join(candidates));
    }
    const std::string id = found.empty() ? word : model::DecodeKey(found.front()->resource())->id;
    if (ids.insert(id).second) *request.add_items()->mutable_key() = model::EncodeKey({kind, id});
  }
  return absl::OkStatus();
}

int Send(const Globals& globals, ControllerClient& client, const v1::DeleteRequest& request) {
  const auto reply = client.Delete(request);
  if (!reply.ok()) return Failed(reply.status());
  const bool refused = !reply->faults().empty();
  const std::string table = refused
                                ? ""
                                : (request.dry_run() ? "Dry run: nothing was deleted. It would be:\n" : "") +
                                      ChangesTable({reply->changes().begin(), reply->changes().end()});
  Print(globals, table, *reply);
  if (!refused) return kOk;
  std::vector<model::Fault> faults;
  for (const v1::Fault& fault : reply->faults()) faults.push_back({fault.path(), fault.message()});
  return PrintFaults(faults, "nothing was deleted");
}

int RunDelete(const DeleteOptions& options, const Globals& globals) {
  if (options.files.empty() == options.kind.empty())
    return WrongUsage("name a KIND and its IDs, or files with -f");
  if (!options.kind.empty() && options.ids.empty()) {
    return WrongUsage(fmt::format("which {}? name the ids to delete", options.kind));
  }
  v1::DeleteRequest request;
  request.set_dry_run(options.dry_run);
  const auto kind = options.kind.empty() ? std::nullopt : KindArgument(options.kind);
  if (!options.kind.empty() && !kind) return kUsage;
  auto client = ControllerClient::Dial(globals);
  if (!client.ok()) return Failed(client.status());
  if (kind) {
    const absl::Status status = AddKeysOfWords(*client, *kind, options.ids, request);
    if (!status.ok()) return Failed(status);
  }
  for (const std::string& file : options.files) {
    const absl::Status status = AddKeysOfFile(file, request);
    if (!status.ok()) return Failed(status);
  }
  return Send(globals, *client, request);
}

}  // namespace

void AddDelete(cli::Command& app, Action& action) {
  auto options = std::make_shared<DeleteOptions>();
  cli::Command command = app.AddCommand("delete", "Delete resources, all of those named or none");
  command.AddOption("KIND", options->kind, "port, network, router, ...");
  command.AddOption("ID", options->ids, "Ids, names, or beginnings of ids that name one resource");
  command.AddOption("-f,--file", options->files, "Delete what these resource files have; - for standard input");
  command.AddFlag("--dry-run", options->dry_run, "Judge and say what would be deleted; delete nothing");
  command.Footer(
      "Nothing is deleted if something that stays would refer to it; give both.\n"
      "Examples:\n  kasanectl delete port shop-front1\n  kasanectl delete port "
      "23a5701f-a2e7-40a3-bc53-5c02e8983cc9\n"
      "  kasanectl delete -f topology.json --dry-run");
  RunWhenParsed(command, action, options, RunDelete);
}

}  // namespace kasane::ctl
