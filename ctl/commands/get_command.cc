// kasanectl get, kasanectl hosts
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/status.h"
#include "ctl/clients.h"
#include "ctl/commands/commands.h"
#include "ctl/commands/run.h"
#include "ctl/output/apply_report.h"
#include "ctl/output/kind_tables.h"
#include "ctl/selection.h"
#include "kasane/v1/controller.pb.h"
#include "model/decode.h"
#include "model/files/resource_yaml.h"
#include "model/resource_name.h"

namespace kasane::ctl {
namespace {

struct GetOptions {
  std::string kind;
  std::vector<std::string> ids;
};

Resources OfKind(const v1::ListResponse& reply, model::Kind kind) {
  Resources out;
  for (const auto& resource : reply.resources()) {
    const auto key = model::DecodeKey(resource.resource());
    if (key && key->kind == kind) out.push_back(&resource);
  }
  return out;
}

// Those that `ids` name, each once, in the order of the list; `missing` are the ids that name none.
Resources Select(const Resources& all, const std::vector<std::string>& ids, std::vector<std::string>& missing) {
  if (ids.empty()) return all;
  std::set<const v1::ResourceWithStatus*> wanted;
  for (const std::string& id : ids) {
    const Resources found = Matching(all, id);
    if (found.empty()) missing.push_back(id);
    wanted.insert(found.begin(), found.end());
  }
  Resources out;
  for (const auto* resource : all) {
    if (wanted.contains(resource)) out.push_back(resource);
  }
  return out;
}

absl::StatusOr<v1::ListResponse> ListKinds(ControllerClient& client, const std::vector<model::Kind>& kinds,
                                           bool with_referred) {
  std::set<model::Kind> wanted(kinds.begin(), kinds.end());
  for (const model::Kind kind : kinds) {
    if (!with_referred) break;
    for (const model::Kind referred : ReferredKinds(kind)) wanted.insert(referred);
  }
  v1::ListRequest request;
  for (const model::Kind kind : wanted)
    request.mutable_filter()->add_kinds(model::EncodeKey({kind, "-"}).kind());
  return client.List(request);
}

absl::StatusOr<Surroundings> Around(ControllerClient& client, const v1::ListResponse& reply, bool hosts) {
  Surroundings around;
  for (const auto& resource : reply.resources()) {
    if (const auto key = model::DecodeKey(resource.resource()))
      around.names[*key] = model::NameOf(resource.resource());
  }
  if (!hosts) return around;
  ASSIGN_OR_RETURN(v1::ControllerStatusResponse status, client.Status());
  around.status = std::make_shared<const v1::ControllerStatusResponse>(std::move(status));
  return around;
}

// What is not enforced of them: each resource if `verbose`, else a line for each feature.
void PrintNotEnforced(const Resources& resources, bool verbose) {
  std::vector<v1::NotEnforced> items;
  for (const auto* resource : resources) {
    items.insert(items.end(), resource->not_enforced().begin(), resource->not_enforced().end());
  }
  if (items.empty()) return;
  fmt::print("\nAsked for, and not enforced by this version{}:\n{}", verbose ? "" : " (name ids to list each)",
             NotEnforcedTable(items, verbose));
}

// With `verbose`, what is not enforced is told of each resource.
void PrintTables(const std::vector<model::Kind>& kinds, const std::map<model::Kind, Resources>& selected,
                 const Surroundings& around, bool verbose) {
  bool first = true;
  for (const model::Kind kind : kinds) {
    const Resources& resources = selected.at(kind);
    // Of one kind even an empty table is an answer; of all kinds it is noise.
    if (kinds.size() > 1 && resources.empty()) continue;
    if (!first) fmt::print("\n");
    first = false;
    if (kinds.size() > 1) fmt::print("{}:\n", model::Plural(kind));
    fmt::print("{}", KindTable(kind, resources, around));
    const std::string rejections = RejectionLines(resources);
    if (!rejections.empty()) fmt::print("\n{}", rejections);
    PrintNotEnforced(resources, verbose);
  }
}

int Show(const Globals& globals, const std::vector<model::Kind>& kinds, const std::vector<std::string>& ids) {
  auto client = ControllerClient::Dial(globals);
  if (!client.ok()) return Failed(client.status());
  const bool table = globals.format == Format::kTable;
  const auto reply = ListKinds(*client, kinds, table);
  if (!reply.ok()) return Failed(reply.status());
  std::map<model::Kind, Resources> selected;
  Resources all;
  std::vector<std::string> missing;
  for (const model::Kind kind : kinds) {
    selected[kind] = Select(OfKind(*reply, kind), ids, missing);
    all.insert(all.end(), selected[kind].begin(), selected[kind].end());
  }
  if (table && (!all.empty() || missing.empty())) {
    const auto around = Around(*client, *reply, selected.contains(model::Kind::kHost));
    if (!around.ok()) return Failed(around.status());
    PrintTables(kinds, selected, *around, !ids.empty());
  } else if (!table) {
    fmt::print("{}", Render(files::ResourcesToJson(all), globals.format));
  }
  for (const std::string& id : missing) {
    Failed(Error(absl::StatusCode::kNotFound, "there is no {} {}", Label(kinds.front()), id));
  }
  return missing.empty() ? kOk : kFailed;
}

// Without a kind: those that there are.
int ListKindNames(const Globals& globals) {
  static constexpr std::pair<model::Kind, const char*> kTexts[] = {
      {model::Kind::kHost, "hypervisors, with their tunnel addresses"},
      {model::Kind::kNetwork, "networks of tenants, and of providers"},
      {model::Kind::kSubnet, "address ranges on networks"},
      {model::Kind::kPort, "attachments to networks: of VMs, routers, DHCP servers"},
      {model::Kind::kRouter, "routers, with interfaces, routes and gateway"},
      {model::Kind::kFloatingIp, "addresses outside for ports"},
      {model::Kind::kSecurityGroup, "rules of what ports may send and receive"},
      {model::Kind::kAddressClaim, "which port was heard last to speak for an address"},
  };
  nlohmann::ordered_json kinds = nlohmann::ordered_json::array();
  Table table({{"KIND"}, {"WHAT"}});
  for (const auto& [kind, text] : kTexts) {
    table.Add({std::string(model::Plural(kind)), text});
    kinds.push_back(model::Plural(kind));
  }
  table.Add({"all", "everything"});
  const bool for_people = globals.format == Format::kTable;
  fmt::print("{}", for_people ? table.ToString() : Render({{"kinds", std::move(kinds)}}, globals.format));
  return kOk;
}

int RunGet(const GetOptions& options, const Globals& globals) {
  if (options.kind.empty()) return ListKindNames(globals);
  if (options.kind == "all") {
    if (!options.ids.empty()) return WrongUsage("`get all` takes no ids; name the kind instead of all");
    return Show(globals, {std::begin(model::kAllKinds), std::end(model::kAllKinds)}, {});
  }
  const auto kind = KindArgument(options.kind);
  return kind ? Show(globals, {*kind}, options.ids) : kUsage;
}

int RunHosts(const Globals& globals) {
  auto client = ControllerClient::Dial(globals);
  if (!client.ok()) return Failed(client.status());
  if (globals.format != Format::kTable) {
    const auto status = client->Status();
    if (!status.ok()) return Failed(status.status());
    Print(globals, "", *status);
    return kOk;
  }
  const auto reply = ListKinds(*client, {model::Kind::kHost}, true);
  if (!reply.ok()) return Failed(reply.status());
  const auto around = Around(*client, *reply, true);
  if (!around.ok()) return Failed(around.status());
  const Resources hosts = OfKind(*reply, model::Kind::kHost);
  fmt::print("controller at revision {}\n\n", around->status->current().counter());
  PrintTables({model::Kind::kHost}, {{model::Kind::kHost, hosts}}, *around, false);
  return kOk;
}

}  // namespace

void AddGet(cli::Command& app, Action& action) {
  auto options = std::make_shared<GetOptions>();
  cli::Command command = app.AddCommand("get", "Show the controller's resources of a kind, or all");
  command.AddOption("KIND", options->kind,
                    "ports, networks, routers, ..., or all; none: the kinds that there are");
  command.AddOption("ID", options->ids, "Ids, names, or beginnings of ids; all if none");
  command.Footer(
      "Shows status, which hosts refuse a resource and why, and what of it is not enforced (of each one if ids "
      "are "
      "given).\n"
      "Examples:\n  kasanectl get\n  kasanectl get ports\n  kasanectl get router shop-router -o yaml\n  "
      "kasanectl get all -o "
      "json");
  RunWhenParsed(command, action, options, RunGet);

  cli::Command hosts = app.AddCommand("hosts", "Show the hosts: connection, tunnel addresses, ports");
  hosts.Footer(
      "`get hosts -o yaml` prints a resource file; this command prints the controller's status.\n"
      "Examples:\n  kasanectl hosts\n  kasanectl hosts -o json\n"
      "Next: a host that is not connected, or lags: kasanectl status there; what it refuses: kasanectl get "
      "KIND ID.");
  hosts.OnParsed([&action] { action = [](const Globals& globals) { return RunHosts(globals); }; });
}

}  // namespace kasane::ctl
